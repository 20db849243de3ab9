// Closure, the torque that does not ask which side is brighter: summed-area tables of one strip of the image, and the
// closure of squares from twelve look-ups.
//
// With b = Fy^2 - Fx^2 and c = 2 Fx Fy, the sum of squared moments of a square less that of its squared radial parts is
//     E = sum (d x F)^2 - sum (d . F)^2 = sum (dx^2 - dy^2) b - 2 dx dy c,      d = q - p.
// A table cell (v, n) stores sums over the pixels (u, y) above and left of it, about its own corner, where i = 2u - 2n
// + 1 and j = 2y - 2v + 1 are twice the distances to it:
//     B = sum b,  C = sum c,  X = sum i b - j c,  Y = sum j b + i c,  Q = sum (i^2 - j^2) b - 2 i j c.
// The centre of a box of height sy and width sx lies (sx, sy) / 2 off each of its corners, so with D1 = X - Y,
// D2 = X + Y, p = (sx + sy) / 2, m = (sx - sy) / 2 and corners as in box_tables.hpp
//     4 E = Q(a,h) - Q(a,l) - Q(b,h) + Q(b,l) + 2 p [D1(a,h) + D2(a,l) - D2(b,h) - D1(b,l)]
//         - 2 sx sy [C(a,h) + C(a,l) + C(b,h) + C(b,l)]
//         + 2 m [D2(a,h) + D1(a,l) - D1(b,h) - D2(b,l)] + 4 p m [B(a,h) - B(a,l) - B(b,h) + B(b,l)].
// (m is not 0 where a square was clipped to the image; for rectangles see ellipse_tables.hpp.)
// From cell to cell and from row to row the levers i and j change by 2, so the tables are built by additions alone.
// Integers wrap around, harmlessly: the final sum fits. 64 bits hold it where `width_of_closure` shows so, 128 bits
// always: a sum of squares is at most the square of the sum, and sums of |moments| stay below 2^62. Naive twin:
// naive.closure_volume.
#pragma once

#include <memory>

#include "core/box_tables.hpp"

namespace imtorque {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <class Number>
class FreeTables;

struct FreeWide {  // sums below 2^51: see Wide
    using Uint = uint64_t;
    template <int>
    using Tables = FreeTables<FreeWide>;
    static IMTORQUE_INLINE double to_double(Uint sum) {
        const Uint bits = sum + 0x4338000000000000ull;
        double shifted;
        std::memcpy(&shifted, &bits, sizeof shifted);
        return shifted - 6755399441055744.0;
    }
};

struct FreeLong {
    using Uint = uint64_t;
    template <int>
    using Tables = FreeTables<FreeLong>;
    static IMTORQUE_INLINE double to_double(Uint sum) { return static_cast<double>(static_cast<int64_t>(sum)); }
};

struct FreeHuge {
    using Uint = Uint128;
    template <int>
    using Tables = FreeTables<FreeHuge>;
    static IMTORQUE_INLINE double to_double(Uint sum) { return static_cast<double>(static_cast<Int128>(sum)); }
};

// What turns the integer 4 E of a patch into closure.
inline double closure_factor(const Field& field, const Patch& patch) {
    return static_cast<double>(patch.norm) / (field.steps * field.steps);
}

// b and c of a pixel.
template <class Uint>
struct Doubled {
    Uint b, c;
};
template <class Uint>
IMTORQUE_INLINE Doubled<Uint> doubled(float force_x, float force_y, float steps) {
    const Uint fx = static_cast<Uint>(round_force(force_x, steps)), fy = static_cast<Uint>(round_force(force_y, steps));
    return {(fy + fx) * (fy - fx), 2 * fx * fy};
}

// How wide the integers of a closure must be.
enum class ClosureWidth { quick, bits64, bits128 };
ClosureWidth width_of_closure(const Field& field, const std::vector<Patch>& patches);

// Sums over the pixels of a row left of a corner: b, i b, i^2 b, c, i c.
template <class Uint>
struct RowSums {
    Uint b = 0, ib = 0, iib = 0, c = 0, ic = 0;
    // To the next corner: i falls by 2, and is -1 for the pixel between.
    IMTORQUE_INLINE void step(const Doubled<Uint>& pixel) {
        iib += 4 * (b - ib) + pixel.b;
        ib -= 2 * b + pixel.b;
        ic -= 2 * c + pixel.c;
        b += pixel.b;
        c += pixel.c;
    }
};

template <class Number>
class FreeTables {
  public:
    using Uint = typename Number::Uint;
    static constexpr bool kSelects = false, kSkewed = false;
    static constexpr size_t kCellBytes = 5 * sizeof(Uint);

    FreeTables(const Field& field, const Tile& tile, int rows)
        : field_(field),
          tile_(tile),
          ring_(2 * tile.reach_y + 1 + rows),
          width_(odd_table_width(tile)),
          built_(0),
          cells_(new Uint[static_cast<size_t>(width_) * (5 * ring_ + 7)]) {
        std::fill_n(cells_.get(), static_cast<size_t>(width_) * 7, Uint{0});
        std::fill_n(row(0), static_cast<size_t>(width_) * 5, Uint{0});
    }

    int width() const { return width_; }

    // Closure of `patch` at (y, tile.left + x), ..., count pixels.
    IMTORQUE_INLINE void torque_row(const Patch& patch, int y, int x, int count, float* __restrict out) const {
        const int v = y - tile_.top + tile_.reach_y, w = width_;
        const int h = tile_.reach_x + patch.rx + 1 + x, l = tile_.reach_x - patch.rx + x;
        const Uint *ah = row(v + patch.ry + 1) + h, *al = ah - h + l, *bh = row(v - patch.ry) + h, *bl = bh - h + l;
        const Uint p = 2 * static_cast<Uint>(patch.rx + patch.ry + 1);
        const Uint area = 2 * static_cast<Uint>(2 * patch.rx + 1) * static_cast<Uint>(2 * patch.ry + 1);
        const double factor = closure_factor(field_, patch);
        const auto square = [&](int i) {
            return p * (ah[i] + al[i + w] - bh[i + w] - bl[i]) +
                   (ah[i + 2 * w] - al[i + 2 * w] - bh[i + 2 * w] + bl[i + 2 * w]) -
                   area * (ah[i + 3 * w] + al[i + 3 * w] + bh[i + 3 * w] + bl[i + 3 * w]);
        };
        if (patch.rx == patch.ry) {
            IMTORQUE_IVDEP
            for (int i = 0; i < count; ++i) out[i] = static_cast<float>(Number::to_double(square(i)) * factor);
            return;
        }
        const Uint m = 2 * static_cast<Uint>(patch.rx - patch.ry);
        IMTORQUE_IVDEP
        for (int i = 0; i < count; ++i) {
            const Uint skew = m * (ah[i + w] + al[i] - bh[i] - bl[i + w]) +
                              p * m * (ah[i + 4 * w] - al[i + 4 * w] - bh[i + 4 * w] + bl[i + 4 * w]);
            out[i] = static_cast<float>(Number::to_double(square(i) + skew) * factor);
        }
    }

    // Make the table rows for image rows up to (not including) `bottom` and their reach.
    IMTORQUE_INLINE void build_to(int bottom) {
        for (const int rows = bottom - tile_.top + 2 * tile_.reach_y; built_ < rows; ++built_) {
            poll_();
            const int y = tile_.top - tile_.reach_y + built_;
            if (y < 0 || y >= field_.height)
                std::fill_n(sums(), static_cast<size_t>(width_) * 5, Uint{0});
            else
                sum_row(y);
            add_row();
        }
    }

  private:
    Uint* sums() const { return cells_.get() + static_cast<size_t>(width_) * 2; }
    Uint* row(int v) const { return cells_.get() + static_cast<size_t>(width_) * (7 + 5 * (v % ring_)); }

    IMTORQUE_INLINE void sum_row(int y) {
        const int left = tile_.left - tile_.reach_x, w = width_;
        const int from = std::max(0, -left), to = std::min(w, field_.width - left);
        const ptrdiff_t at = static_cast<ptrdiff_t>(y) * field_.width + left;
        const float steps = static_cast<float>(field_.steps);
        Uint *b = sums(), *ib = b + w, *iib = ib + w, *c = iib + w, *ic = c + w;
        RowSums<Uint> sum;
        for (int n = 0; n < w; ++n) {
            b[n] = sum.b;
            ib[n] = sum.ib;
            iib[n] = sum.iib;
            c[n] = sum.c;
            ic[n] = sum.ic;
            sum.step(n >= from && n < to ? doubled<Uint>(field_.fx[at + n], field_.fy[at + n], steps)
                                         : Doubled<Uint>{0, 0});
        }
    }

    // The rows above get one row further away, j falls by 2; the new row has j = -1.
    IMTORQUE_INLINE void add_row() {
        const int w = width_;
        Uint *x = cells_.get(), *y = x + w;
        const Uint *b = sums(), *ib = b + w, *iib = ib + w, *c = iib + w, *ic = c + w;
        const Uint* above = row(built_);
        Uint* __restrict below = row(built_ + 1);
        IMTORQUE_IVDEP
        for (int n = 0; n < w; ++n) {
            const Uint all_b = above[n + 4 * w], all_c = above[n + 3 * w];
            below[n + 2 * w] = above[n + 2 * w] + 4 * (y[n] - all_b) + iib[n] - b[n] + 2 * ic[n];
            x[n] += 2 * all_c + ib[n] + c[n];
            y[n] += ic[n] - b[n] - 2 * all_b;
            below[n] = x[n] - y[n];
            below[n + w] = x[n] + y[n];
            below[n + 3 * w] = all_c + c[n];
            below[n + 4 * w] = all_b + b[n];
        }
    }

    Field field_;
    Tile tile_;
    int ring_, width_, built_;
    Poll poll_{16};
    std::unique_ptr<Uint[]> cells_;  // running X and Y, the sums of a row, then the ring of rows D1 | D2 | Q | C | B
};

}  // namespace imtorque
