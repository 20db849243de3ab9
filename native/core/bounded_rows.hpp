// Bounds of the torque around a row of places where it is computed, and what they leave to be computed.
//
// Let a square of half the side r have the moment M around (y, x), let A be the sum of |Fx| over it, and let its centre
// move by d rows. Rows of the square's width enter at one end, about the new centre, and leave at the other, about the
// old one: if S is the sum of |Fx| + |Fy| over them, they change the moment by at most r S. What stays changes it by d
// times the sum of its Fx. So all moments within d rows are within
//     |M| + r S + d A,
// with S for the direction in which it is more. None exceeds r times the mass of all rows that are touched, either. S,
// A and that mass are taken for cells of kLanes columns together, from MassRows, eight cells at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/mass_rows.hpp"
#include "core/torque.hpp"

namespace imtorque {

// Rows that are bounded by the middle one of them: for small squares, and for others.
constexpr int kFewRows = 3, kMostRows = 5;
constexpr int kCells = 8, kCellColumns = kCells * kLanes;  // that are bounded at a time

struct Place {
    int k, y, x;  // x from the tile's left
};

// Lanes, two in a word, joined by "or".
IMTORQUE_INLINE uint64_t joined(const Lanes<int32_t>& flags) {
    uint64_t words[sizeof flags / sizeof(uint64_t)], all = 0;
    std::memcpy(words, &flags, sizeof words);
    for (const uint64_t word : words) all |= word;
    return all;
}
IMTORQUE_INLINE bool any(const Lanes<int32_t>& flags) { return joined(flags) != 0; }
// A bit for each lane.
IMTORQUE_INLINE unsigned flags_of(const Lanes<int32_t>& flags) {
    const uint64_t all = joined(flags & Lanes<int32_t>{1, 2, 4, 8, 16, 32, 64, 128});
    return static_cast<unsigned>(all | all >> 32);
}

// Values as they count: their magnitudes where both signs are wanted, reversed where minima are.
struct Wanted {
    int32_t kept, turned;  // bits of a float
    explicit Wanted(int sign) : kept(sign == 0 ? INT32_MAX : -1), turned(sign < 0 ? INT32_MIN : 0) {}
    IMTORQUE_INLINE Lanes<float> operator()(const Lanes<float>& values) const {
        return (Lanes<float>)((bits_of(values) & kept) ^ turned);
    }
};

struct Size {  // what is asked of one size in a block of rows
    Patch patch;
    int k;
    Wanted wanted;
    float weakest;  // |torque| wanted
    float limit;    // twice the moment that makes, or a little less
    bool cross;     // Request::cross
};

IMTORQUE_INLINE Lanes<float> larger(const Lanes<float>& a, const Lanes<float>& b) { return a > b ? a : b; }

// The largest of each of eight vectors.
IMTORQUE_INLINE Lanes<float> largest_of(const Lanes<float> (&v)[kLanes]) {
    Lanes<float> twos[4], fours[2];
    for (int i = 0; i < 4; ++i)
        twos[i] = larger(pick<float, 0, 8, 1, 9, 4, 12, 5, 13>(v[2 * i], v[2 * i + 1]),
                         pick<float, 2, 10, 3, 11, 6, 14, 7, 15>(v[2 * i], v[2 * i + 1]));
    for (int i = 0; i < 2; ++i)
        fours[i] = larger(pick<float, 0, 1, 8, 9, 4, 5, 12, 13>(twos[2 * i], twos[2 * i + 1]),
                          pick<float, 2, 3, 10, 11, 6, 7, 14, 15>(twos[2 * i], twos[2 * i + 1]));
    return larger(pick<float, 0, 1, 2, 3, 8, 9, 10, 11>(fours[0], fours[1]),
                  pick<float, 4, 5, 6, 7, 12, 13, 14, 15>(fours[0], fours[1]));
}

// Rows [from, to) of places, and the one that bounds them.
struct Rows {
    int from, to;
    int middle() const { return from + (to - from) / 2; }
};

// How strong moments in the middle of some rows must be that one of these rows may be wanted, for eight cells at a
// time.
template <class Tables>
class Room {
  public:
    using Uint = typename Tables::Uint;
    using Masses = MassRows<Uint>;

    IMTORQUE_INLINE Room(const Masses& masses, const Size& size, const Rows& rows) {
        const int r = size.patch.rx, y = rows.middle(), up = y - rows.from, down = rows.to - 1 - y;
        const auto mass = [&](int row) { return masses.spans(Masses::kMass, row, r); };
        below_ = mass(y + r + 1);
        below_up_ = mass(y + r + 1 - up);
        below_down_ = mass(y + r + 1 + down);
        above_ = mass(y - r);
        above_up_ = mass(y - r - up);
        above_down_ = mass(y - r + down);
        across_below_ = masses.spans(Masses::kAcross, y + r + 1, r);
        across_above_ = masses.spans(Masses::kAcross, y - r, r);
        // Twice the moment counts, and a little more: where one sign is wanted, a strong moment of the other may be
        // made up for by masses far above the limit, and each is rounded to a float.
        constexpr float kRounding = 1 + 2e-6f;
        lever_ = kRounding * static_cast<float>(2 * r);
        moves_ = kRounding * static_cast<float>(2 * std::max(up, down));
        limit_ = size.limit;
    }

    // For the cells from cell j on; heavy: those whose mass lets a moment reach the limit at all.
    IMTORQUE_INLINE Lanes<float> at(ptrdiff_t j, Lanes<int32_t>& heavy) const {
        const Lanes<Uint> below = below_.at(j), above = above_.at(j), bottom = below_down_.at(j), top = above_up_.at(j);
        Lanes<float> upwards, downwards, touched, across;
        Tables::Sum::to_floats(bottom - below + above_down_.at(j) - above, downwards);
        Tables::Sum::to_floats(below - below_up_.at(j) + above - top, upwards);
        Tables::Sum::to_floats(bottom - top, touched);
        Tables::Sum::to_floats(across_below_.at(j) - across_above_.at(j), across);
        heavy = lever_ * touched >= limit_;
        return limit_ - (lever_ * larger(upwards, downwards) + moves_ * across);
    }

  private:
    typename Masses::Spans below_, below_up_, below_down_, above_, above_up_, above_down_, across_below_, across_above_;
    float lever_, moves_, limit_;
};

// Of eight cells those that a byte of flags names, by their first columns, and how many they are.
struct CellsOfFlags {
    uint8_t columns[256][kCells] = {}, counts[256] = {};
    constexpr CellsOfFlags() {
        for (int flags = 0; flags < 256; ++flags)
            for (int i = 0; i < kCells; ++i)
                if (flags >> i & 1) columns[flags][counts[flags]++] = static_cast<uint8_t>(i * kLanes);
    }
};
inline constexpr CellsOfFlags kCellsOfFlags;

// Some cells of a tile, by their first columns from the tile's left on.
class Cells {
  public:
    explicit Cells(int columns) : first_(static_cast<size_t>(columns) / kLanes + kCells + 1) {}
    void clear() { count_ = 0; }
    // For loops: gcc 12 mixes up vectors that are stored over each other in one.
    void add(int x) { first_[count_++] = x; }
    // Of eight cells from column x on those that are flagged. Without a branch: which cannot be foreseen.
    IMTORQUE_INLINE void add_flagged(unsigned flags, int x) {
        typedef uint8_t Bytes __attribute__((vector_size(kCells)));
        Bytes columns;
        std::memcpy(&columns, kCellsOfFlags.columns[flags], sizeof columns);
        store<int32_t>(__builtin_convertvector(columns, Lanes<int32_t>) + x, first_.data() + count_);
        count_ += kCellsOfFlags.counts[flags];
    }
    int size() const { return count_; }
    const int32_t* begin() const { return first_.data(); }
    const int32_t* end() const { return first_.data() + count_; }

  private:
    std::vector<int32_t> first_;  // with room for some more than there are
    int count_ = 0;
};

// The largest moment of each of eight cells from column x on, twice and as it counts; cell `last` stands for those
// after.
template <class Tables>
IMTORQUE_INLINE Lanes<float> strengths_at(const typename Tables::Corners& c, const Size& size, int w, int x, int last) {
    const auto p = static_cast<typename Tables::Uint>(2 * size.patch.rx + 1);
    Lanes<float> strengths[kCells];
    for (int i = 0; i < kCells; ++i) {
        Lanes<float> moments;
        Tables::Sum::to_floats(Tables::squares(c, p, w, x + std::min(i, last) * kLanes), moments);
        strengths[i] = size.wanted(moments);
    }
    return largest_of(strengths);
}

// Adds the cells where a torque in these rows may be wanted; returns how many patches were computed for that.
template <class Tables>
IMTORQUE_INLINE int keep_cells(const Tables& tables, const MassRows<typename Tables::Uint>& masses, const Size& size,
                               const Rows& rows, int columns, Cells& kept) {
    const Room<Tables> room(masses, size, rows);
    const auto c = tables.corners(size.patch, rows.middle(), 0);
    const int w = tables.width();
    int computed = 0;
    for (int x = 0; x < columns; x += kCellColumns) {
        Lanes<int32_t> heavy;
        const Lanes<float> least = room.at(x / kLanes, heavy);
        if (!any(heavy)) continue;
        const int last = (columns - x - 1) / kLanes;  // cell inside the tile
        const bool all = last >= kCells - 1;          // so that the compiler knows where they are
        const Lanes<float> strengths =
            all ? strengths_at<Tables>(c, size, w, x, kCells) : strengths_at<Tables>(c, size, w, x, last);
        kept.add_flagged(flags_of((strengths >= least) & heavy) & (all ? 255u : (2u << last) - 1), x);
        computed += kCellColumns;
    }
    return computed;
}

IMTORQUE_INLINE bool beaten(float value, float neighbour) { return value > 0 ? neighbour > value : neighbour < value; }

// Whether one of a few torques has a neighbour among them that is above it, or of a minimum below: it is no extremum.
// Of a cross, diagonal ones do not count.
IMTORQUE_INLINE bool beaten_among(const float (&torque)[kMostRows][kLanes], int rows, int lanes, int i, int n,
                                  bool cross) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j)
        for (int m = std::max(n - 1, 0); m <= std::min(n + 1, lanes - 1); ++m)
            if (!(cross && i != j && n != m) && beaten(torque[i][n], torque[j][m])) return true;
    return false;
}

// All torques of some cells in kRows rows, or fewer where those end before, and which of them may be extrema.
template <int kRows, class Tables>
IMTORQUE_INLINE void compute_rows(const Tables& tables, const Size& size, const Rows& rows, int columns,
                                  const Cells& given, std::vector<Place>& places) {
    const auto p = static_cast<typename Tables::Uint>(2 * size.patch.rx + 1);
    const int w = tables.width(), count = rows.to - rows.from;
    typename Tables::Corners c[kRows];
    for (int i = 0; i < kRows; ++i) c[i] = tables.corners(size.patch, rows.from + std::min(i, count - 1), 0);
    for (const int x : given) {
        Lanes<float> moments[kRows], most = {};
        for (int i = 0; i < kRows; ++i) {
            Tables::Sum::to_floats(Tables::squares(c[i], p, w, x), moments[i]);
            most = larger(most, size.wanted(moments[i]));
        }
        if (!any(most >= size.limit)) continue;
        float values[kMostRows][kLanes];
        int32_t flags[kRows][kLanes];
        for (int i = 0; i < kRows; ++i) {
            const Lanes<float> torque = moments[i] * size.patch.norm;
            store<float>(torque, values[i]);
            store<int32_t>(size.wanted(torque) >= size.weakest, flags[i]);
        }
        const int lanes = std::min(kLanes, columns - x);
        for (int i = 0; i < count; ++i)
            for (int n = 0; n < lanes; ++n)
                if (flags[i][n] && !beaten_among(values, count, lanes, i, n, size.cross))
                    places.push_back({size.k, rows.from + i, x + n});
    }
}

}  // namespace imtorque
