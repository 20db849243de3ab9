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
// because every step is linear and the final sum fits (width_of_sums). So tables may start anywhere: each strip has its
// own, kept as a ring of rows. Naive twin: naive.torque_map in tests/naive.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/forces.hpp"
#include "core/parallel.hpp"

namespace imtorque {

template <class Number, int kWidth = 0>
class BoxTables;

// The tables that hold sums as these numbers; kWidth as for BoxTables.
template <class Number, int kWidth = 0>
using TablesOf = typename Number::template Tables<kWidth>;

template <class Unsigned, class Signed>
struct Converted {  // by the processor's own conversion
    using Uint = Unsigned;
    template <int kWidth>
    using Tables = BoxTables<Converted, kWidth>;
    static IMTORQUE_INLINE float to_float(Uint sum) { return static_cast<float>(static_cast<Signed>(sum)); }
    static IMTORQUE_INLINE void to_floats(const Lanes<Uint>& sums, Lanes<float>& out) {
        out = __builtin_convertvector((Lanes<Signed>)sums, Lanes<float>);
    }
};
using Narrow = Converted<uint32_t, int32_t>;
using WideLong = Converted<uint64_t, int64_t>;

struct Wide {  // sums below 2^51: adding 1.5 * 2^52 puts the integer into a double's mantissa, in any vector width
    using Uint = uint64_t;
    template <int kWidth>
    using Tables = BoxTables<Wide, kWidth>;
    static IMTORQUE_INLINE float to_float(Uint sum) {
        const Uint bits = sum + 0x4338000000000000ull;
        double shifted;
        std::memcpy(&shifted, &bits, sizeof shifted);
        return static_cast<float>(shifted - 6755399441055744.0);
    }
    static IMTORQUE_INLINE void to_floats(const Lanes<Uint>& sums, Lanes<float>& out) {
        const Lanes<Uint> bits = sums + 0x4338000000000000ull;
        out = __builtin_convertvector((Lanes<double>)bits - 6755399441055744.0, Lanes<float>);
    }
};

// The part of the image a task works on, and how far patches reach beyond it.
struct Tile {
    int top, bottom, left, right;  // half-open
    int reach_y, reach_x;
};

constexpr int kPad = 16;  // spare columns, so that rows may be computed in whole vectors

inline int table_width(const Tile& tile) {
    return (tile.right - tile.left + 2 * tile.reach_x + 1 + 2 * kPad) / kPad * kPad;
}

// The same, but never a power of two: tables side by side then do not meet in the same lines of the cache.
inline int odd_table_width(const Tile& tile) { return table_width(tile) | kPad; }

// Running sums of eight lanes, by pairs, fours and all, and the last lane everywhere.
template <class Uint>
IMTORQUE_INLINE Lanes<Uint> running(Lanes<Uint> t) {
    const Lanes<Uint> zero = {};
    t += pick<Uint, 8, 0, 10, 2, 12, 4, 14, 6>(t, zero);
    t += pick<Uint, 8, 9, 1, 1, 12, 13, 5, 5>(t, zero);
    t += pick<Uint, 8, 9, 10, 11, 3, 3, 3, 3>(t, zero);
    return t;
}
template <class Uint>
IMTORQUE_INLINE Lanes<Uint> last(const Lanes<Uint>& t) {
    return pick<Uint, 7, 7, 7, 7, 7, 7, 7, 7>(t, t);
}
template <class Uint>
IMTORQUE_INLINE Lanes<Uint> magnitude(const Lanes<Uint>& t) {  // of numbers that wrapped around
    const Lanes<Uint> negative = Uint{0} - (t >> (8 * sizeof(Uint) - 1));
    return (t ^ negative) - negative;
}
IMTORQUE_INLINE Lanes<int32_t> bits_of(const Lanes<float>& f) {
    Lanes<int32_t> bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
}
IMTORQUE_INLINE void load_bits(const float* p, Lanes<int32_t>& bits) { std::memcpy(&bits, p, sizeof bits); }
IMTORQUE_INLINE void store_bits(const Lanes<int32_t>& bits, float* p) { std::memcpy(p, &bits, sizeof bits); }
// Where |torque| > |best|, it is the best, and its label the chosen one.
IMTORQUE_INLINE void keep_stronger(const Lanes<float>& torque, int32_t label, Lanes<float>& best,
                                   Lanes<int32_t>& chosen) {
    // The bits of non-negative floats have the floats' order.
    const Lanes<int32_t> larger = (bits_of(torque) & 0x7FFFFFFF) > (bits_of(best) & 0x7FFFFFFF);
    best = larger ? torque : best;
    chosen = larger ? Lanes<int32_t>{} + label : chosen;
}
// The same where |sum| * norm, the magnitude of a torque, is larger; kept are its bits and the sum itself, whose sign
// and size are the label (size_of_sum): less to choose for each.
IMTORQUE_INLINE void keep_stronger_sum(const Lanes<uint32_t>& sum, float norm, Lanes<int32_t>& best,
                                       Lanes<int32_t>& chosen) {
    const Lanes<int32_t> whole = (Lanes<int32_t>)sum;
    const Lanes<int32_t> magnitude = bits_of(__builtin_convertvector(whole, Lanes<float>) * norm) & 0x7FFFFFFF;
    chosen = magnitude > best ? whole : chosen;
    best = magnitude > best ? magnitude : best;
}
// round_force and round_quickly, eight at a time.
template <class Uint, bool kFine>
IMTORQUE_INLINE Lanes<Uint> rounded(const float* forces, float steps) {
    Lanes<float> f;
    load(forces, f);
    f *= steps;
    if (kFine) {
        const Lanes<double> shifted = __builtin_convertvector(f, Lanes<double>) + 6755399441055744.0;
        Lanes<uint64_t> bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        return __builtin_convertvector(bits - 0x4338000000000000ull, Lanes<Uint>);
    }
    f += 12582912.0f;
    return __builtin_convertvector(bits_of(f) - 0x4B400000, Lanes<Uint>);
}

// Eight forces of a row from column x on: where they lie, or a copy, with zeros outside the image.
struct EightForces {
    const float *fx, *fy;
    float copies[2][kLanes];

    IMTORQUE_INLINE EightForces(const float* row_x, const float* row_y, int x, int width) {
        if (x >= 0 && x + kLanes <= width) {
            fx = row_x + x;
            fy = row_y + x;
            return;
        }
        std::memset(copies, 0, sizeof copies);
        for (int i = std::max(0, -x); i < std::min(kLanes, width - x); ++i) {
            copies[0][i] = row_x[x + i];
            copies[1][i] = row_y[x + i];
        }
        fx = copies[0];
        fy = copies[1];
    }
};

// kWidth: the width of a table row where it is known to the compiler, else 0. Known, the three tables of a row are
// reached from one pointer, and the pointers of several patches fit the registers.
//
// Where the width is known and numbers have 32 bits, rows lie one cell less than whole vectors apart. The corners (a,h)
// and (b,l) of the squares around a pixel lie along a diagonal, which then is a column: all of them begin at one place
// of a vector, and pixels are taken so that it is the first (`begin`). In the pixel below to the right they are the
// same cells, those of other sizes; so two rows of pixels are taken together, and each cell is loaded once for both.
template <class Number, int kWidth>
class BoxTables {
  public:
    using Sum = Number;
    using Uint = typename Number::Uint;
    static constexpr bool kSelects = true;  // has select_squares
    static constexpr int kTables = 3;
    static constexpr size_t kCellBytes = kTables * sizeof(Uint);
    static constexpr bool kSkewed = kWidth > 0 && sizeof(Uint) == 4;
    static constexpr int kRows = 8, kSizes = 5;  // of pixels and of squares that select_block takes together
    struct Corners {                             // the D1 cells; D2 and Q lie one and two widths further
        const Uint *ah, *al, *bh, *bl;
    };

    // `rows` is how many image rows are worked on together.
    BoxTables(const Field& field, const Tile& tile, int rows)
        : field_(field),
          tile_(tile),
          ring_(whole_vectors(2 * tile.reach_y + 1 + rows)),
          given_width_(table_width(tile)),
          used_(kSkewed ? whole_vectors(tile.right - tile.left + 2 * tile.reach_x + 1) : width()),
          built_(0),
          cells_(new Uint[static_cast<size_t>(width()) * (kTables * (ring_ + kRepeated) + 2) + 3 * kPad]) {
        sums_ = reinterpret_cast<Uint*>((reinterpret_cast<uintptr_t>(cells_.get()) + kLine - 1) / kLine * kLine);
        std::fill_n(sums_, static_cast<size_t>(width()) * 2, Uint{0});
        std::fill_n(row(0), static_cast<size_t>(width()) * kTables, Uint{0});
        repeat_past_ring(0);
    }

    int width() const { return kWidth ? kWidth : given_width_; }

    // Torque of `patch` at (y, tile.left + x), ..., count pixels.
    IMTORQUE_INLINE void torque_row(const Patch& patch, int y, int x, int count, float* __restrict out) const {
        const Corners c = corners(patch, y, 0);
        const int w = width();
        const Uint p = static_cast<Uint>(patch.rx + patch.ry + 1), m = static_cast<Uint>(patch.rx - patch.ry);
        const float norm = patch.norm;
        if (m == 0) {
            IMTORQUE_IVDEP
            for (int i = x; i < x + count; ++i) out[i - x] = Number::to_float(square(c, p, w, i)) * norm;
        } else {
            IMTORQUE_IVDEP
            for (int i = x; i < x + count; ++i)
                out[i - x] = Number::to_float(square(c, p, w, i) + skew(c, m, w, i)) * norm;
        }
    }

    // The same for squares and the pixels from `from` on, in whole vectors: keeps the value of largest magnitude and
    // its label, the first of equal ones.
    // With kSums, labels are left out: magnitudes and sums are kept instead, as keep_stronger_sum does.
    template <int kGroup, bool kSums = false>
    IMTORQUE_INLINE void select_squares(const Patch* patches, const int32_t* labels, int y, int from, int count,
                                        float* value, int32_t* label) const {
        const Corners first = corners(patches[0], y, from);
        if (kWidth > 0 && kGroup > 1 && one_by_one<kGroup>(patches, y)) {
            // The corners of all squares lie at known distances from those of the first.
            constexpr ptrdiff_t kRow = kTables * kWidth - kSkewed;
            select<kGroup, kSums>(patches, labels, count, value, label, [&](int g) {
                return Corners{first.ah + g * (kRow + 1), first.al + g * (kRow - 1), first.bh - g * (kRow - 1),
                               first.bl - g * (kRow + 1)};
            });
            return;
        }
        Corners own[kGroup] = {first};
        for (int g = 1; g < kGroup; ++g) own[g] = corners(patches[g], y, from);
        select<kGroup, kSums>(patches, labels, count, value, label, [&](int g) { return own[g]; });
    }

    // Where select_block begins in the first of its rows of pixels: in each further row a pixel later, in all of them
    // not after the tile's first.
    int begin(int y) const {
        const int place = y - tile_.top + tile_.reach_y - tile_.reach_x + kRows - 1;
        return 1 - kRows - (kLanes - place % kLanes) % kLanes;
    }

    // select_squares with kSums for kSizes squares that grow by a pixel on each side, in kRows rows of pixels from y
    // on, so many vectors from begin(y) on. Rows of the maps are kStride numbers long.
    template <int kStride>
    IMTORQUE_INLINE void select_block(const Patch* patches, int y, int vectors, float* value, int32_t* sums) const {
        constexpr ptrdiff_t w = kWidth, kRow = kTables * kWidth;  // along a diagonal
        const int v = y - tile_.top + tile_.reach_y, radius = patches[0].rx, most = kSizes - 1;
        const int x = tile_.reach_x + begin(y), h = x + radius + 1, l = x - radius;
        const Uint* below = row(v + radius + 1);
        const Uint* above = row(v - radius - most) + most * (kRow - 1);
        // Cells of the first row of pixels, of the smallest square. Those of `bh` and `al` begin anywhere in a vector.
        const Uint *ah = vectors_from(below + h), *bl = vectors_from(above + l), *bh = above + h, *al = below + l;
        Uint p[kSizes];
        float norm[kSizes];
        for (int g = 0; g < kSizes; ++g) {
            p[g] = static_cast<Uint>(2 * patches[g].rx + 1);
            norm[g] = patches[g].norm;
        }
        for (int i = 0; i < vectors * kLanes; i += kLanes) {
#pragma GCC unroll 4
            for (int j = 0; j < kRows; j += 2) {
                Lanes<int32_t> best[2], chosen[2];
                for (int k = 0; k < 2; ++k) {
                    load_bits(value + (j + k) * kStride + i, best[k]);
                    load(sums + (j + k) * kStride + i, chosen[k]);
                }
                Pair a = pair(ah + j * kRow + i), b = pair(bl + (j + 1) * kRow + i);
#pragma GCC unroll 8
                for (int g = 0; g < kSizes; ++g) {
                    const Pair next_a = pair(ah + (j + 1 + g) * kRow + i), next_b = pair(bl + (j - g) * kRow + i);
                    const Uint* right = bh + (j - g) * kRow + 2 * g + w + i;
                    const Uint* left = al + (j + g) * kRow - 2 * g + w + i;
                    keep_stronger_sum(square_of(a, next_b, right, left, p[g]), norm[g], best[0], chosen[0]);
                    keep_stronger_sum(square_of(next_a, b, right + kRow, left + kRow, p[g]), norm[g], best[1],
                                      chosen[1]);
                    a = next_a;
                    b = next_b;
                }
                for (int k = 0; k < 2; ++k) {
                    store_bits(best[k], value + (j + k) * kStride + i);
                    store(chosen[k], sums + (j + k) * kStride + i);
                }
            }
        }
    }

    // The torque of one square, for few of them.
    float torque_at(const Patch& patch, int y, int x) const {
        return Number::to_float(square(corners(patch, y, x), static_cast<Uint>(2 * patch.rx + 1), width(), 0)) *
               patch.norm;
    }

    // The corners of `patch` at (y, tile.left + from), and twice the moments of squares from such corners on.
    IMTORQUE_INLINE Corners corners(const Patch& patch, int y, int from) const {
        const int v = y - tile_.top + tile_.reach_y;
        const Uint* a = row(v + patch.ry + 1);
        const Uint* b = row(v - patch.ry);
        const int h = tile_.reach_x + patch.rx + 1 + from, l = tile_.reach_x - patch.rx + from;
        return {a + h, a + l, b + h, b + l};
    }
    static IMTORQUE_INLINE Lanes<Uint> squares(const Corners& c, Uint p, int w, ptrdiff_t i) {
        Lanes<Uint> d1_ah, d2_al, d2_bh, d1_bl, q_ah, q_al, q_bh, q_bl;
        load(c.ah + i, d1_ah);
        load(c.bh + i + w, d2_bh);
        load(c.al + i + w, d2_al);
        load(c.bl + i, d1_bl);
        load(c.ah + i + 2 * w, q_ah);
        load(c.bh + i + 2 * w, q_bh);
        load(c.al + i + 2 * w, q_al);
        load(c.bl + i + 2 * w, q_bl);
        return p * (d1_ah - d2_bh + d2_al - d1_bl) - (q_ah - q_bh - q_al + q_bl);
    }

    // Make the table rows for image rows up to (not including) `bottom` and their reach.
    IMTORQUE_INLINE void build_to(int bottom) {
        for (const int rows = bottom - tile_.top + 2 * tile_.reach_y; built_ < rows; ++built_) {
            poll_();
            if (built_ + 1 == turn_ + ring_) turn_ += ring_;
            const int y = tile_.top - tile_.reach_y + built_;
            if (y < 0 || y >= field_.height)
                repeat_row();
            else if (field_.fine)
                add_row<true>(y);
            else
                add_row<false>(y);
            repeat_past_ring(place(built_ + 1));
        }
    }

  private:
    static constexpr uintptr_t kLine = 64;                              // bytes of a line of the cache
    static constexpr int kRepeated = kSkewed ? kRows + kSizes - 2 : 0;  // first rows of the ring, again past its end
    static const Uint* vectors_from(const Uint* cells) {
        return static_cast<const Uint*>(__builtin_assume_aligned(cells, kLanes * sizeof(Uint)));
    }

    // Where row v lies in the ring; it is one of the last that were made, or the next.
    int place(int v) const { return v - turn_ + (v < turn_ ? ring_ : 0); }
    Uint* row_at(int place) const {  // what is left of the first cell is never used, but loaded
        return sums_ + 2 * width() + (kSkewed ? kPad : 0) +
               place * (static_cast<ptrdiff_t>(kTables) * width() - kSkewed);
    }
    Uint* row(int v) const { return row_at(place(v)); }
    void repeat_past_ring(int place) {  // so that rows one after the other lie side by side
        if (place < kRepeated) std::copy_n(row_at(place), kTables * width() - kSkewed, row_at(place + ring_));
    }

    struct Pair {  // D1 and Q
        Lanes<Uint> d, q;
    };
    static IMTORQUE_INLINE Pair pair(const Uint* cells) {
        Pair loaded;
        load(cells, loaded.d);
        load(cells + 2 * kWidth, loaded.q);
        return loaded;
    }
    // `squares` from cells that are loaded already, and from the D2 cells of (b,h) and (a,l).
    static IMTORQUE_INLINE Lanes<Uint> square_of(const Pair& ah, const Pair& bl, const Uint* bh, const Uint* al,
                                                 Uint p) {
        Lanes<Uint> d2_bh, d2_al, q_bh, q_al;
        load(bh, d2_bh);
        load(al, d2_al);
        load(bh + kWidth, q_bh);
        load(al + kWidth, q_al);
        return p * (ah.d - bl.d + d2_al - d2_bh) + (q_al + q_bh - ah.q - bl.q);
    }

    // Whether these squares grow by a pixel on each side and their rows lie side by side in the ring.
    template <int kGroup>
    bool one_by_one(const Patch* patches, int y) const {
        const int v = y - tile_.top + tile_.reach_y, radius = patches[0].ry;
        for (int g = 1; g < kGroup; ++g)
            if (patches[g].ry != radius + g) return false;
        return place(v + radius + 1) + kGroup <= ring_ && place(v - radius) + 1 >= kGroup;
    }

    template <int kGroup, bool kSums, class CornersOf>
    IMTORQUE_INLINE void select(const Patch* patches, const int32_t* labels, int count, float* value, int32_t* label,
                                const CornersOf& corners_of) const {
        Uint p[kGroup];
        float norm[kGroup];
        int32_t own[kGroup];
        for (int g = 0; g < kGroup; ++g) {
            p[g] = static_cast<Uint>(2 * patches[g].rx + 1);
            norm[g] = patches[g].norm;
            own[g] = kSums ? 0 : labels[g];
        }
        const int w = width();
        for (int x = 0; x < count; x += kLanes) {
            Lanes<float> best, torque;
            Lanes<int32_t> chosen;
            load(value + x, best);
            load(label + x, chosen);
#pragma GCC unroll 4
            for (int g = 0; g < kGroup; ++g) {
                const Lanes<Uint> sum = squares(corners_of(g), p[g], w, x);
                if constexpr (kSums) {
                    Lanes<int32_t> bits = bits_of(best);
                    keep_stronger_sum(sum, norm[g], bits, chosen);
                    std::memcpy(&best, &bits, sizeof best);
                } else {
                    Number::to_floats(sum, torque);
                    torque *= norm[g];
                    keep_stronger(torque, own[g], best, chosen);
                }
            }
            store(best, value + x);
            store(chosen, label + x);
        }
    }

    static IMTORQUE_INLINE Uint square(const Corners& c, Uint p, int w, int i) {
        return p * (c.ah[i] - c.bh[i + w] + c.al[i + w] - c.bl[i]) -
               (c.ah[i + 2 * w] - c.bh[i + 2 * w] - c.al[i + 2 * w] + c.bl[i + 2 * w]);
    }
    static IMTORQUE_INLINE Uint skew(const Corners& c, Uint m, int w, int i) {
        return m * (c.ah[i + w] - c.bh[i] + c.al[i] - c.bl[i + w]);
    }
    // Row recurrence: with row prefixes RX, RY and G(n) = (2n - 1) RY(n) - 2 RuY(n) = G(n - 1) + RY(n - 1) + RY(n),
    // Q(v + 1) = Q(v) + G - KX(v) - KX(v + 1).
    template <bool kFine>
    IMTORQUE_INLINE void add_row(int y) {
        const int w = width(), left = tile_.left - tile_.reach_x;
        const float *fx = field_.fx + static_cast<size_t>(y) * field_.width,
                    *fy = field_.fy + static_cast<size_t>(y) * field_.width;
        if (y + 2 < field_.height)  // the row after next: the processor does not foresee where it begins
            for (int x = std::max(0, left); x < std::min(field_.width, tile_.right + tile_.reach_x); x += kPad) {
                __builtin_prefetch(fx + 2 * static_cast<size_t>(field_.width) + x);
                __builtin_prefetch(fy + 2 * static_cast<size_t>(field_.width) + x);
            }
        Uint *kx = sums_, *ky = kx + w;
        const Uint* q_above = row(built_) + 2 * w;
        Uint* below = row(built_ + 1);
        const float steps = static_cast<float>(field_.steps);
        Lanes<Uint> sum_x = {}, sum_y = {}, sum_g = {}, k, q;
        for (int n = 0; n < used_; n += kLanes) {
            const EightForces forces(fx, fy, left + n, field_.width);
            const Lanes<Uint> force_x = rounded<Uint, kFine>(forces.fx, steps),
                              force_y = rounded<Uint, kFine>(forces.fy, steps);
            const Lanes<Uint> run_x = running<Uint>(force_x), run_y = running<Uint>(force_y);
            const Lanes<Uint> rx = sum_x + run_x - force_x, ry = sum_y + run_y - force_y;
            const Lanes<Uint> step_g = ry + ry + force_y, run_g = running<Uint>(step_g);
            const Lanes<Uint> g = sum_g + run_g - step_g;
            sum_x += last<Uint>(run_x);
            sum_y += last<Uint>(run_y);
            sum_g += last<Uint>(run_g);
            load(kx + n, k);
            const Lanes<Uint> x = k + rx;
            load(q_above + n, q);
            store<Uint>(q + g - k - x, below + 2 * w + n);
            store<Uint>(x, kx + n);
            load(ky + n, k);
            const Lanes<Uint> yy = k + ry;
            store<Uint>(yy, ky + n);
            store<Uint>(yy - x, below + n);
            store<Uint>(yy + x, below + w + n);
        }
    }

    IMTORQUE_INLINE void repeat_row() {  // a row outside the image: no forces
        const int w = width();
        const Uint *kx = sums_, *above = row(built_);
        Uint* below = row(built_ + 1);
        std::copy_n(above, used_, below);
        std::copy_n(above + w, used_, below + w);
        IMTORQUE_IVDEP
        for (int n = 0; n < used_; ++n) below[2 * w + n] = above[2 * w + n] - 2 * kx[n];
    }

    Field field_;
    Tile tile_;
    int ring_, given_width_;
    int used_;  // cells of a row that are written: where rows are skewed, not the last, which lies in the next row
    int built_;
    int turn_ = 0;  // the row that lies first in the ring
    Poll poll_{16};
    std::unique_ptr<Uint[]> cells_;
    Uint* sums_;  // running KX and KY, then the ring of rows D1 | D2 | Q
};

}  // namespace imtorque
