// Summed-area tables of one strip of the image, and the torque of box patches from eight (squares) or twelve
// (rectangles) look-ups.
//
// With exclusive prefix sums KX, KY of Fx, Fy and IT of u Fy - v Fx, a table cell (v, n) stores
//     D1 = KY - KX,   D2 = KY + KX,   Q = (2n - 1) KY - (2v - 1) KX - 2 IT.
// For a box of height sy and width sx with corner cells (a: below, b: above; h: right, l: left), and
// p = (sx + sy) / 2, m = (sx - sy) / 2, twice the moment of its forces about its centre is
//     p [D1(a,h) + D2(a,l) - D2(b,h) - D1(b,l)] + m [D2(a,h) + D1(a,l) - D1(b,h) - D2(b,l)]
//         - [Q(a,h) - Q(a,l) - Q(b,h) + Q(b,l)].
// No product with x or y is left, so the loads are contiguous along a row. All integers wrap around; that is harmless,
// because every step is linear and the final sum fits (MomentBound). So tables may start anywhere: each strip has its
// own, kept as a ring of rows. Naive twin: naive.torque_map in tests/naive.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "forces.hpp"

namespace imtorque {

struct Narrow {
    using Uint = uint32_t;
    static IMTORQUE_INLINE float to_float(Uint sum) { return static_cast<float>(static_cast<int32_t>(sum)); }
};

struct Wide {  // sums below 2^51: adding 1.5 * 2^52 puts the integer into a double's mantissa, in any vector width
    using Uint = uint64_t;
    static IMTORQUE_INLINE float to_float(Uint sum) {
        const Uint bits = sum + 0x4338000000000000ull;
        double shifted;
        std::memcpy(&shifted, &bits, sizeof shifted);
        return static_cast<float>(shifted - 6755399441055744.0);
    }
};

struct WideLong {
    using Uint = uint64_t;
    static IMTORQUE_INLINE float to_float(Uint sum) { return static_cast<float>(static_cast<int64_t>(sum)); }
};

// The part of the image a task works on, and how far patches reach beyond it.
struct Tile {
    int top, bottom, left, right;  // half-open
    int reach_y, reach_x;
};

constexpr int kPad = 16;  // spare columns, so that rows may be computed in whole vectors

template <class Number>
class BoxTables {
  public:
    using Uint = typename Number::Uint;

    // `rows` is how many image rows are worked on together.
    BoxTables(const Field& field, double steps, const Tile& tile, int rows)
        : field_(field), steps_(static_cast<float>(steps)), tile_(tile), ring_(2 * tile.reach_y + 1 + rows),
          width_((tile.right - tile.left + 2 * tile.reach_x + 1 + 2 * kPad) / kPad * kPad), built_(0),
          cells_(new Uint[static_cast<size_t>(width_) * (3 * ring_ + 5)]) {
        std::fill_n(cells_.get(), static_cast<size_t>(width_) * 5, Uint{0});
        std::fill_n(row(0), static_cast<size_t>(width_) * 3, Uint{0});
    }

    int width() const { return width_; }

    // Twice the integer moment of `patch` at (y, tile.left + x), for x in [0, count): out[x] in float, times norm.
    IMTORQUE_INLINE void torque_row(const Patch& patch, int y, int x, int count, float* __restrict out) const {
        const Corners c = corners(patch, y);
        const Uint p = static_cast<Uint>(patch.rx + patch.ry + 1), m = static_cast<Uint>(patch.rx - patch.ry);
        const float norm = patch.norm;
        if (m == 0) {
#pragma GCC ivdep
            for (int i = x; i < x + count; ++i) out[i - x] = Number::to_float(square(c, p, i)) * norm;
        } else {
#pragma GCC ivdep
            for (int i = x; i < x + count; ++i) out[i - x] = Number::to_float(square(c, p, i) + skew(c, m, i)) * norm;
        }
    }

    // The same for several squares, keeping the value of largest magnitude and its index (first wins ties).
    template <int kGroup>
    IMTORQUE_INLINE void select_squares(const Patch* patches, int first, int y, int count, float* __restrict value,
                                        int32_t* __restrict index) const {
        Corners c[kGroup];
        Uint p[kGroup];
        float norm[kGroup];
        for (int g = 0; g < kGroup; ++g) {
            c[g] = corners(patches[g], y);
            p[g] = static_cast<Uint>(2 * patches[g].rx + 1);
            norm[g] = patches[g].norm;
        }
#pragma GCC ivdep
        for (int x = 0; x < count; ++x) {
            float best = value[x];
            int32_t chosen = index[x];
#pragma GCC unroll 4
            for (int g = 0; g < kGroup; ++g) {
                const float torque = Number::to_float(square(c[g], p[g], x)) * norm[g];
                const bool larger = std::fabs(torque) > std::fabs(best);
                best = larger ? torque : best;
                chosen = larger ? first + g : chosen;
            }
            value[x] = best;
            index[x] = chosen;
        }
    }

    // Make the table rows for image rows up to (not including) `bottom` and their reach.
    IMTORQUE_INLINE void build_to(int bottom) {
        for (const int rows = bottom - tile_.top + 2 * tile_.reach_y; built_ < rows; ++built_) {
            const int y = tile_.top - tile_.reach_y + built_;
            if (y >= 0 && y < field_.height)
                add_row(y);
            else
                repeat_row();
        }
    }

  private:
    struct Corners {
        const Uint *d1_ah, *d2_al, *d2_bh, *d1_bl, *d2_ah, *d1_al, *d1_bh, *d2_bl, *q_ah, *q_al, *q_bh, *q_bl;
    };

    Uint* row(int v) const { return cells_.get() + static_cast<size_t>(width_) * (5 + 3 * (v % ring_)); }

    IMTORQUE_INLINE Corners corners(const Patch& patch, int y) const {
        const int v = y - tile_.top + tile_.reach_y;
        const Uint* a = row(v + patch.ry + 1);
        const Uint* b = row(v - patch.ry);
        const int h = tile_.reach_x + patch.rx + 1, l = tile_.reach_x - patch.rx;
        const int d2 = width_, q = 2 * width_;
        return {a + h,      a + d2 + l, b + d2 + h, b + l,     a + d2 + h, a + l,
                b + h,      b + d2 + l, a + q + h,  a + q + l, b + q + h,  b + q + l};
    }

    static IMTORQUE_INLINE Uint square(const Corners& c, Uint p, int i) {
        return p * (c.d1_ah[i] - c.d2_bh[i] + c.d2_al[i] - c.d1_bl[i]) -
               (c.q_ah[i] - c.q_bh[i] - c.q_al[i] + c.q_bl[i]);
    }
    static IMTORQUE_INLINE Uint skew(const Corners& c, Uint m, int i) {
        return m * (c.d2_ah[i] - c.d1_bh[i] + c.d1_al[i] - c.d2_bl[i]);
    }

    // Row recurrence: with row prefixes RX, RY and G(n) = (2n - 1) RY(n) - 2 RuY(n) = G(n - 1) + RY(n - 1) + RY(n),
    // Q(v + 1) = Q(v) + G - KX(v) - KX(v + 1).
    IMTORQUE_INLINE void add_row(int y) {
        Uint *kx = cells_.get(), *ky = kx + width_, *rx = ky + width_, *ry = rx + width_, *g = ry + width_;
        const int from = std::max(0, tile_.left - tile_.reach_x);
        const int to = std::min(field_.width, tile_.right + tile_.reach_x);
        const int start = from - (tile_.left - tile_.reach_x), stop = start + to - from;
        const float* fx = field_.fx + static_cast<size_t>(y) * field_.width + from - start;
        const float* fy = field_.fy + static_cast<size_t>(y) * field_.width + from - start;
        for (int n = start; n < stop; ++n) {
            rx[n] = static_cast<Uint>(static_cast<int64_t>(round_force(fx[n], steps_)));
            ry[n] = static_cast<Uint>(static_cast<int64_t>(round_force(fy[n], steps_)));
        }
        Uint sum_x = 0, sum_y = 0, sum_g = 0;
        for (int n = start; n < stop; ++n) {
            const Uint force_x = rx[n], force_y = ry[n];
            rx[n] = sum_x;
            ry[n] = sum_y;
            g[n] = sum_g;
            sum_x += force_x;
            sum_g += 2 * sum_y + force_y;
            sum_y += force_y;
        }
        for (int n = stop; n < width_; ++n) {
            rx[n] = sum_x;
            ry[n] = sum_y;
            g[n] = sum_g;
            sum_g += 2 * sum_y;
        }
        const Uint* q_above = row(built_) + 2 * width_;
        Uint *d1 = row(built_ + 1), *d2 = d1 + width_, *q = d2 + width_;
#pragma GCC ivdep
        for (int n = 0; n < width_; ++n) {
            const Uint x_above = kx[n], x = x_above + rx[n], yy = ky[n] + ry[n];
            kx[n] = x;
            ky[n] = yy;
            d1[n] = yy - x;
            d2[n] = yy + x;
            q[n] = q_above[n] + g[n] - x_above - x;
        }
    }

    IMTORQUE_INLINE void repeat_row() {  // a row outside the image: no forces
        const Uint *kx = cells_.get(), *above = row(built_);
        Uint* below = row(built_ + 1);
#pragma GCC ivdep
        for (int n = 0; n < width_; ++n) {
            below[n] = above[n];
            below[width_ + n] = above[width_ + n];
            below[2 * width_ + n] = above[2 * width_ + n] - 2 * kx[n];
        }
    }

    Field field_;
    float steps_;
    Tile tile_;
    int ring_, width_, built_;
    std::unique_ptr<Uint[]> cells_;
};

}  // namespace imtorque
