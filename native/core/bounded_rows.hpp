// Bounds of the torque between two rows of places, and what they leave to be computed.
//
// Let a square's centre move down a column of pixels from y0 to y1 = y0 + g. On the way rows of the square's width
// enter below and leave above; let S be the sum of |Fx| + |Fy| over both strips of rows, M0, M1 the moments at the
// ends, X0, X1 the sums of Fx there, r half the side. A step of the centre changes the moment by that of the entering
// and leaving row, at most r times their mass, and by the sum of Fx over the rows that stay, which is at most (|X0 +
// X1| + S) / 2 anywhere on the way. All changes together are at most V = r S + g (|X0 + X1| + S) / 2, and a value
// between two others differs from their mean by at most half of what is passed on the way: all moments are within (|M0
// + M1| + V) / 2. For small squares the mass of all rows they can touch, times r, is the better bound, and the only one
// that is looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/torque.hpp"

namespace imtorque {

constexpr int kShort = 4;       // rows of an interval that is not halved any more
constexpr float kHopeless = 3;  // changes of so many limits in a block are too large in a quarter of it, too
// Half the sides up to which the mass that squares touch is the better bound: of a block, and of a short interval.
constexpr int kSmall = 7, kLight = 16;

struct Place {
    int k, y, x;  // x from the tile's left
};

struct Size {  // what is asked of one size in a block of rows
    Patch patch;
    int k, sign;
    float weakest;  // |torque| wanted
    float limit;    // four times the moment that makes, or a little less
};

struct Rows {  // of centres, from one to another, that one included; and the sums there
    int from, to;
    const float* first;
    float* last;  // twice the moments, and `stride` further twice the sums of Fx
    int stride;
};
// Some of a tile's columns, each the first of eight, counted from the tile's left.
class Columns {
  public:
    explicit Columns(int columns) : first_(static_cast<size_t>(columns) / kLanes + 2) {}
    void clear() { count_ = 0; }
    // Without a branch: which columns stay cannot be foreseen.
    IMTORQUE_INLINE void add_if(bool yes, int x) {
        first_[count_] = x;
        count_ += yes;
    }
    size_t size() const { return count_; }
    const int* begin() const { return first_.data(); }
    const int* end() const { return first_.data() + count_; }

  private:
    std::vector<int> first_;  // with room for one more than there are
    size_t count_ = 0;
};

struct Sums {
    Lanes<float> moment, force;
};

IMTORQUE_INLINE bool any(const Lanes<int32_t>& flags) {
    uint64_t words[sizeof flags / sizeof(uint64_t)];
    std::memcpy(words, &flags, sizeof words);
    uint64_t all = 0;
    for (const uint64_t word : words) all |= word;
    return all != 0;
}

// As it counts: the magnitude where both signs are wanted.
IMTORQUE_INLINE Lanes<float> wanted(const Lanes<float>& values, int sign) {
    const Lanes<int32_t> bits = sign == 0 ? bits_of(values) & 0x7FFFFFFF : bits_of(values) ^ (sign < 0 ? INT32_MIN : 0);
    Lanes<float> result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

template <class Tables>
IMTORQUE_INLINE void sums_at(const typename Tables::Corners& c, const Patch& patch, int w, int x, Sums& sums) {
    using Uint = typename Tables::Uint;
    const auto cells = [&](const Uint* corner, int table) {
        Lanes<Uint> sum;
        load(corner + x + table * w, sum);
        return sum;
    };
    const Lanes<Uint> d1_ah = cells(c.ah, 0), d1_bl = cells(c.bl, 0), d2_al = cells(c.al, 1), d2_bh = cells(c.bh, 1);
    const Lanes<Uint> turn = cells(c.ah, 2) - cells(c.bh, 2) - cells(c.al, 2) + cells(c.bl, 2);
    const Lanes<Uint> push = cells(c.ah, 1) + cells(c.al, 0) + cells(c.bh, 0) + cells(c.bl, 1);
    const auto p = static_cast<Uint>(2 * patch.rx + 1);
    Tables::Sum::to_floats(p * (d1_ah - d2_bh + d2_al - d1_bl) - turn, sums.moment);
    Tables::Sum::to_floats(push - (d1_ah + d2_al + d2_bh + d1_bl), sums.force);
}

template <class Uint>
struct Masses {  // above the lower edges of squares, and above their upper edges
    Lanes<Uint> below, above;
};
template <class Tables>
IMTORQUE_INLINE void masses_at(const typename Tables::Corners& c, int w, int x, Masses<typename Tables::Uint>& masses) {
    using Uint = typename Tables::Uint;
    const auto mass = [&](const Uint* corner) {
        Lanes<Uint> sum;
        load(corner + x + 3 * w, sum);
        return sum;
    };
    masses.below = mass(c.ah) - mass(c.al);
    masses.above = mass(c.bh) - mass(c.bl);
}

// Where the mass that squares touch lets them reach the limit.
template <class Tables>
IMTORQUE_INLINE Lanes<int32_t> heavy(const Lanes<typename Tables::Uint>& mass, const Size& size) {
    Lanes<float> touched;
    Tables::Sum::to_floats(mass, touched);
    return 4 * static_cast<float>(size.patch.rx) * touched >= size.limit;
}

// How moments may differ from the mean of those at two rows of centres, and where one between may reach the limit.
template <class Tables>
IMTORQUE_INLINE Lanes<int32_t> may_reach(const Masses<typename Tables::Uint>& m0,
                                         const Masses<typename Tables::Uint>& m1, const Sums& first, const Sums& last,
                                         int rows, const Size& size, Lanes<float>& change) {
    Lanes<float> passed;
    Tables::Sum::to_floats(m1.below - m0.below + m1.above - m0.above, passed);
    const float lever = static_cast<float>(2 * size.patch.rx), g = static_cast<float>(rows);
    change = (lever + g) * passed + 0.5f * g * wanted(first.force + last.force, 0);
    return (wanted(first.moment + last.moment, size.sign) + change >= size.limit) &
           heavy<Tables>(m1.below - m0.above, size);
}

// Of some columns those that the mass does not rule out, for centres from one row to another, that one included.
template <class Tables>
IMTORQUE_INLINE void keep_heavy_impl(const Tables& tables, const Size& asked, int from, int to, const Columns& given,
                                     Columns& kept) {
    const Size size = asked;
    const auto c0 = tables.corners(size.patch, from, 0), c1 = tables.corners(size.patch, to, 0);
    const int w = tables.width();
    for (const int x : given) {
        Masses<typename Tables::Uint> m0, m1;
        masses_at<Tables>(c0, w, x, m0);
        masses_at<Tables>(c1, w, x, m1);
        kept.add_if(any(heavy<Tables>(m1.below - m0.above, size)), x);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, keep_heavy,
                  (const Tables& tables, const Size& size, int from, int to, const Columns& given, Columns& kept),
                  (tables, size, from, to, given, kept))

IMTORQUE_INLINE void load_sums(const float* row, int stride, int x, Sums& sums) {
    load(row + x, sums.moment);
    load(row + stride + x, sums.force);
}
IMTORQUE_INLINE void store_sums(const Sums& sums, int stride, int x, float* row) {
    store<float>(sums.moment, row + x);
    store<float>(sums.force, row + stride + x);
}

// The sums of a block's last row; which eight columns may hold a torque that is wanted; and for which of these halving
// the rows would not help.
template <class Tables>
IMTORQUE_INLINE void scan_impl(const Tables& tables, const Size& asked, const Rows& given, int columns, Columns& some,
                               Columns& all) {
    const Size size = asked;  // a copy: what is stored below cannot change it
    const Rows rows = given;
    const auto c0 = tables.corners(size.patch, rows.from, 0), c1 = tables.corners(size.patch, rows.to, 0);
    const int w = tables.width();
    for (int x = 0; x < columns; x += kLanes) {
        Sums first, last;
        Masses<typename Tables::Uint> m0, m1;
        Lanes<float> change;
        load_sums(rows.first, rows.stride, x, first);
        sums_at<Tables>(c1, size.patch, w, x, last);
        masses_at<Tables>(c0, w, x, m0);
        masses_at<Tables>(c1, w, x, m1);
        store_sums(last, rows.stride, x, rows.last);
        const bool reaches = any(may_reach<Tables>(m0, m1, first, last, rows.to - rows.from, size, change));
        const bool hopeless = any(change >= kHopeless * size.limit);
        all.add_if(reaches & hopeless, x);
        some.add_if(reaches & !hopeless, x);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, scan,
                  (const Tables& tables, const Size& size, const Rows& rows, int columns, Columns& some, Columns& all),
                  (tables, size, rows, columns, some, all))

template <class Tables>
IMTORQUE_INLINE void begin_impl(const Tables& tables, const Size& size, const Rows& rows, int columns) {
    const auto c = tables.corners(size.patch, rows.to, 0);
    for (int x = 0; x < columns; x += kLanes) {
        Sums sums;
        sums_at<Tables>(c, size.patch, tables.width(), x, sums);
        store_sums(sums, rows.stride, x, rows.last);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, begin,
                  (const Tables& tables, const Size& size, const Rows& rows, int columns),
                  (tables, size, rows, columns))

// The sums of the middle row, and which columns stay in either half.
template <class Tables>
IMTORQUE_INLINE void halve_impl(const Tables& tables, const Size& asked, const Rows& all, float* sums,
                                const Columns& given, Columns& upper, Columns& lower) {
    const Size size = asked;  // copies, as above
    const Rows rows = all;
    const int middle = (rows.from + rows.to) / 2, w = tables.width();
    const auto c0 = tables.corners(size.patch, rows.from, 0), c = tables.corners(size.patch, middle, 0),
               c1 = tables.corners(size.patch, rows.to, 0);
    for (const int x : given) {
        Sums first, between, last;
        Masses<typename Tables::Uint> m0, m, m1;
        Lanes<float> change;
        load_sums(rows.first, rows.stride, x, first);
        load_sums(rows.last, rows.stride, x, last);
        sums_at<Tables>(c, size.patch, w, x, between);
        masses_at<Tables>(c0, w, x, m0);
        masses_at<Tables>(c, w, x, m);
        masses_at<Tables>(c1, w, x, m1);
        store_sums(between, rows.stride, x, sums);
        upper.add_if(any(may_reach<Tables>(m0, m, first, between, middle - rows.from, size, change)), x);
        lower.add_if(any(may_reach<Tables>(m, m1, between, last, rows.to - middle, size, change)), x);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, halve,
                  (const Tables& tables, const Size& size, const Rows& rows, float* sums, const Columns& given,
                   Columns& upper, Columns& lower),
                  (tables, size, rows, sums, given, upper, lower))

IMTORQUE_INLINE bool beaten(float value, float neighbour) { return value > 0 ? neighbour > value : neighbour < value; }

// Whether one of a few torques has a neighbour among them that is above it, or of a minimum below: it is no extremum.
IMTORQUE_INLINE bool beaten_among(const float (&torque)[kShort][kLanes], int rows, int lanes, int i, int n) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j)
        for (int m = std::max(n - 1, 0); m <= std::min(n + 1, lanes - 1); ++m)
            if (beaten(torque[i][n], torque[j][m])) return true;
    return false;
}

// All torques of some columns in at most kShort rows, and which of them may be extrema.
template <class Tables>
IMTORQUE_INLINE void compute_impl(const Tables& tables, const Size& asked, int from, int to, int columns,
                                  const Columns& given, std::vector<Place>& places) {
    const Size size = asked;
    const auto p = static_cast<typename Tables::Uint>(2 * size.patch.rx + 1);
    const int w = tables.width();
    typename Tables::Corners c[kShort];
    for (int i = 0; i < kShort; ++i) c[i] = tables.corners(size.patch, std::min(from + i, to - 1), 0);
    for (const int x : given) {
        Lanes<float> torque[kShort];
        Lanes<int32_t> strong[kShort], some = {};
        for (int i = 0; i < kShort; ++i) {
            Tables::Sum::to_floats(Tables::squares(c[i], p, w, x), torque[i]);
            torque[i] *= size.patch.norm;
            strong[i] = wanted(torque[i], size.sign) >= size.weakest;
            some |= strong[i];
        }
        if (!any(some)) continue;
        float values[kShort][kLanes];
        int32_t flags[kShort][kLanes];
        std::memcpy(values, torque, sizeof values);
        std::memcpy(flags, strong, sizeof flags);
        const int rows = to - from, lanes = std::min(kLanes, columns - x);
        for (int i = 0; i < rows; ++i)
            for (int n = 0; n < lanes; ++n)
                if (flags[i][n] && !beaten_among(values, rows, lanes, i, n))
                    places.push_back({size.k, from + i, x + n});
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, compute,
                  (const Tables& tables, const Size& size, int from, int to, int columns, const Columns& given,
                   std::vector<Place>& places),
                  (tables, size, from, to, columns, given, places))

}  // namespace imtorque
