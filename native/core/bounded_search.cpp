// The strongest extrema by bounds: most patches cannot be among them, and are never computed.
//
// Let a square's centre move down a column of pixels from y0 to y1 = y0 + g. On the way rows of the square's width
// enter below and leave above; let S be the sum of |Fx| + |Fy| over both strips of rows, M0, M1 the moments at the
// ends, X0, X1 the sums of Fx there, r half the side. A step of the centre changes the moment by that of the entering
// and leaving row, at most r times their mass, and by the sum of Fx over the rows that stay, which is at most (|X0 +
// X1| + S) / 2 anywhere on the way. All changes together are at most V = r S + g (|X0 + X1| + S) / 2, and a value
// between two others differs from their mean by at most half of what is passed on the way: all moments are within (|M0
// + M1| + V) / 2. For small squares the mass of all rows they can touch, times r, is the better bound.
//
// A tile takes blocks of kRows rows and, of each, computes the last row; intervals whose bound stays below the weakest
// strength wanted are done with, others are halved, and short ones computed. `strength_of_some` gives that strength to
// begin with, and what is found raises it. A place that strong is compared with its 26 neighbours one by one.
// Naive twin: naive.find_extrema.
#include "core/bounded_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 16;
constexpr int kShort = 4;           // rows of an interval that is not halved any more
constexpr int kDepth = 6;           // of halving, at most
constexpr float kHopeless = 3;      // changes of so many limits in a block are too large in a quarter of it, too
constexpr float kMargin = 1e-5f;    // relative: more than what is lost by computing bounds in floats
constexpr int kKnownWidth = 608;    // of a table row: a strip with the reach of sizes up to 97
constexpr double kBoundTime = 0.1;  // nanoseconds for each pixel and size, about

// The count-th strongest of the extrema found so far, by all threads: what is weaker is not wanted.
class Weakest {
  public:
    Weakest(long long count, float known) : count_(static_cast<size_t>(count)), value_(known) {}
    float value() const { return value_.load(std::memory_order_relaxed); }
    void add(const std::vector<Found>& found) {
        std::lock_guard<std::mutex> guard(lock_);
        for (const Found& f : found) {
            if (f.tied) continue;  // it may be one with its neighbour
            heap_.push_back(std::fabs(f.value));
            std::push_heap(heap_.begin(), heap_.end(), std::greater<float>());
            if (heap_.size() <= count_) continue;
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<float>());
            heap_.pop_back();
        }
        if (heap_.size() == count_) value_.store(std::max(value(), heap_.front()), std::memory_order_relaxed);
    }

  private:
    size_t count_;
    std::atomic<float> value_;
    std::mutex lock_;
    std::vector<float> heap_;  // the strongest, the weakest of them on top
};

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
using Columns = std::vector<int>;  // the first of eight, from the tile's left

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
    const auto force = [&](const Uint* corner) {
        Lanes<Uint> d1, d2;
        load(corner + x, d1);
        load(corner + x + w, d2);
        return d2 - d1;
    };
    Tables::Sum::to_floats(Tables::squares(c, static_cast<Uint>(2 * patch.rx + 1), w, x), sums.moment);
    Tables::Sum::to_floats(force(c.ah) - force(c.al) - force(c.bh) + force(c.bl), sums.force);
}

// How moments may differ from the mean of those at two rows of centres, and where one between may reach the limit.
template <class Tables>
IMTORQUE_INLINE Lanes<int32_t> may_reach(const typename Tables::Corners& c0, const typename Tables::Corners& c1, int w,
                                         int x, const Sums& first, const Sums& last, int rows, const Size& size,
                                         Lanes<float>& change) {
    using Uint = typename Tables::Uint;
    const auto mass = [&](const Uint* corner) {
        Lanes<Uint> sum;
        load(corner + x + 3 * w, sum);
        return sum;
    };
    const Lanes<Uint> a1 = mass(c1.ah) - mass(c1.al), a0 = mass(c0.ah) - mass(c0.al);
    const Lanes<Uint> b1 = mass(c1.bh) - mass(c1.bl), b0 = mass(c0.bh) - mass(c0.bl);
    Lanes<float> passed, touched;
    Tables::Sum::to_floats(a1 - a0 + b1 - b0, passed);
    Tables::Sum::to_floats(a1 - b0, touched);
    const float lever = static_cast<float>(2 * size.patch.rx), g = static_cast<float>(rows);
    change = (lever + g) * passed + 0.5f * g * wanted(first.force + last.force, 0);
    return (wanted(first.moment + last.moment, size.sign) + change >= size.limit) & (2 * lever * touched >= size.limit);
}

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
        Lanes<float> change;
        load_sums(rows.first, rows.stride, x, first);
        sums_at<Tables>(c1, size.patch, w, x, last);
        store_sums(last, rows.stride, x, rows.last);
        if (!any(may_reach<Tables>(c0, c1, w, x, first, last, rows.to - rows.from, size, change))) continue;
        (any(change >= kHopeless * size.limit) ? all : some).push_back(x);
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
        Lanes<float> change;
        load_sums(rows.first, rows.stride, x, first);
        load_sums(rows.last, rows.stride, x, last);
        sums_at<Tables>(c, size.patch, w, x, between);
        store_sums(between, rows.stride, x, sums);
        if (any(may_reach<Tables>(c0, c, w, x, first, between, middle - rows.from, size, change))) upper.push_back(x);
        if (any(may_reach<Tables>(c, c1, w, x, between, last, rows.to - middle, size, change))) lower.push_back(x);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, halve,
                  (const Tables& tables, const Size& size, const Rows& rows, float* sums, const Columns& given,
                   Columns& upper, Columns& lower),
                  (tables, size, rows, sums, given, upper, lower))

// All torques of some columns in at most kShort rows.
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
        Lanes<int32_t> strong = {};
        for (int i = 0; i < kShort; ++i) {
            Tables::Sum::to_floats(Tables::squares(c[i], p, w, x), torque[i]);
            torque[i] = wanted(torque[i] * size.patch.norm, size.sign);
            strong |= torque[i] >= size.weakest;
        }
        if (!any(strong)) continue;
        for (int i = 0; i < to - from; ++i)
            for (int n = 0; n < std::min(kLanes, columns - x); ++n)
                if (torque[i][n] >= size.weakest) places.push_back({size.k, from + i, x + n});
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, compute,
                  (const Tables& tables, const Size& size, int from, int to, int columns, const Columns& given,
                   std::vector<Place>& places),
                  (tables, size, from, to, columns, given, places))

template <class Tables>
IMTORQUE_INLINE void build_rows_impl(Tables& tables, int bottom) {
    tables.build_to(bottom);
}
IMTORQUE_DISPATCH(template <class Tables> static, build_rows, (Tables & tables, int bottom), (tables, bottom))

// The search in one tile, with 32-bit tables for the first sizes and others for the rest; kWidth as for BoxTables.
template <class Number, int kWidth>
class TileSearch {
  public:
    TileSearch(const Field& field, const std::vector<Patch>& patches, int narrow, const Request& request,
               const Tile& tile, Weakest& weakest)
        : field_(field),
          patches_(patches),
          request_(request),
          tile_(tile),
          weakest_(weakest),
          narrow_(narrow),
          columns_(tile.right - tile.left) {
        const int count = static_cast<int>(patches.size());
        Tile near = tile;
        near.reach_y = near.reach_x = reach_of(patches, 0, narrow).y + 1;
        if (narrow > 0) small_.reset(new Small(field, near, kRows + 1));
        if (narrow < count) large_.reset(new Large(field, tile, kRows + 1));
        stride_ = (columns_ + kLanes - 1) / kLanes * kLanes;
        sums_.reset(new float[4 * static_cast<size_t>(count) * stride_]);
        levels_.resize(kDepth);
        for (Level& level : levels_) level.sums.resize(2 * static_cast<size_t>(stride_));
    }

    void run(std::vector<Found>& found) {
        step(tile_.top, tile_.top);
        for (int top = tile_.top; top < tile_.bottom; top += kRows) {
            check_interrupt();
            step(top, std::min(top + kRows, tile_.bottom));
            std::vector<Found> fresh;
            for (const Place& place : places_) test(place, fresh);
            places_.clear();
            if (fresh.empty()) continue;
            weakest_.add(fresh);
            found.insert(found.end(), fresh.begin(), fresh.end());
        }
    }
    long long visited() const { return visited_; }

  private:
    using Small = BoxTables<Narrow, kWidth, true>;
    using Large = BoxTables<Number, 0, true>;

    struct Level {  // of halving: the sums of the middle row, and the columns that stay
        std::vector<float> sums;
        Columns upper, lower;
    };

    void step(int top, int bottom) {
        if (small_) build_rows(*small_, bottom + 1);
        if (large_) build_rows(*large_, bottom + 1);
        const int count = static_cast<int>(patches_.size());
        for (int k = 0; k < count; ++k)
            if (k < narrow_)
                search(*small_, k, top, bottom);
            else
                search(*large_, k, top, bottom);
        odd_ = !odd_;
    }

    template <class Tables>
    void search(const Tables& tables, int k, int top, int bottom) {
        float* sums = sums_.get() + 4 * static_cast<size_t>(k) * stride_;
        const Rows rows{top, bottom, sums + (odd_ ? 2 * stride_ : 0), sums + (odd_ ? 0 : 2 * stride_), stride_};
        const Patch& patch = patches_[k];
        const float weakest = weakest_.value();
        const Size size{patch, k, request_.sign, weakest, (1 - kMargin) * 2 * weakest / patch.norm};
        visited_ += columns_;
        if (top == bottom) return begin(tables, size, rows, columns_);
        some_.clear();
        all_.clear();
        scan(tables, size, rows, columns_, some_, all_);
        if (patch.norm == 0 || (!request_.end_scales && (k == 0 || k + 1 == static_cast<int>(patches_.size())))) return;
        for (int y = top; y < bottom; y += kShort) look_at(tables, size, y, std::min(y + kShort, bottom), all_);
        descend(tables, size, rows, some_, 0);
    }

    template <class Tables>
    void look_at(const Tables& tables, const Size& size, int from, int to, const Columns& given) {
        visited_ += static_cast<long long>(given.size()) * kLanes * (to - from);
        compute(tables, size, from, to, columns_, given, places_);
    }

    template <class Tables>
    void descend(const Tables& tables, const Size& size, const Rows& rows, const Columns& given, int depth) {
        if (given.empty()) return;
        if (rows.to - rows.from <= kShort) return look_at(tables, size, rows.from, rows.to, given);
        Level& level = levels_[depth];
        float* sums = level.sums.data();
        level.upper.clear();
        level.lower.clear();
        visited_ += static_cast<long long>(given.size()) * kLanes;
        halve(tables, size, rows, sums, given, level.upper, level.lower);
        const int middle = (rows.from + rows.to) / 2;
        descend(tables, size, {rows.from, middle, rows.first, sums, stride_}, level.upper, depth + 1);
        descend(tables, size, {middle, rows.to, sums, rows.last, stride_}, level.lower, depth + 1);
    }

    float torque(int k, int y, int x) const {
        return k < narrow_ ? small_->torque_at(patches_[k], y, x) : large_->torque_at(patches_[k], y, x);
    }

    // Compare a place with its neighbours; extrema.cpp says what an extremum is.
    void test(const Place& place, std::vector<Found>& out) {
        const float v = torque(place.k, place.y, place.x);
        bool strict = false, tied = false;
        const int left = -tile_.left, right = field_.width - tile_.left;
        for (int k = std::max(place.k - 1, 0); k <= std::min<int>(place.k + 1, static_cast<int>(patches_.size()) - 1);
             ++k)
            for (int y = std::max(place.y - 1, 0); y <= std::min(place.y + 1, field_.height - 1); ++y)
                for (int x = std::max(place.x - 1, left); x <= std::min(place.x + 1, right - 1); ++x) {
                    if (k == place.k && y == place.y && x == place.x) continue;
                    const float neighbour = torque(k, y, x);
                    ++visited_;
                    if (v > 0 ? neighbour > v : neighbour < v) return;
                    strict |= neighbour != v;
                    tied |= neighbour == v;
                }
        if (strict) out.push_back({{v, place.k, place.y, place.x + tile_.left}, tied});
    }

    const Field& field_;
    const std::vector<Patch>& patches_;
    const Request& request_;
    Tile tile_;
    Weakest& weakest_;
    int narrow_, columns_, stride_;
    bool odd_ = false;
    std::unique_ptr<Small> small_;
    std::unique_ptr<Large> large_;
    std::unique_ptr<float[]> sums_;  // for each size those of two rows
    Columns some_, all_;
    std::vector<Level> levels_;
    std::vector<Place> places_;
    long long visited_ = 0;
};

template <class Number>
bool search_tiles(const Field& field, const std::vector<Patch>& patches, int narrow, const Request& request,
                  std::vector<Found>& found, long long& visited) {
    const int reach = reach_of(patches, 0, static_cast<int>(patches.size())).y + 1;
    const double work = kBoundTime * static_cast<double>(patches.size()) * field.height * field.width;
    const Tiling tiling = cut_tiles(field.height, field.width, reach, reach, BoxTables<Number, 0, true>::kCellBytes,
                                    useful_threads(work));
    if (tiling.shared) return false;
    const float known = std::max(request.least, strength_of_some(field, patches, request, visited));
    if (known == 0) return false;
    Weakest weakest(request.count, known);
    std::mutex lock;
    parallel_for(static_cast<int>(tiling.tiles.size()), work / static_cast<double>(tiling.tiles.size()), [&](int i) {
        const auto work_on = [&](auto&& search) {
            std::vector<Found> out;
            search.run(out);
            std::lock_guard<std::mutex> guard(lock);
            found.insert(found.end(), out.begin(), out.end());
            visited += search.visited();
        };
        const Tile& tile = tiling.tiles[i];
        if (table_width(tile) <= kKnownWidth)
            work_on(TileSearch<Number, kKnownWidth>(field, patches, narrow, request, tile, weakest));
        else
            work_on(TileSearch<Number, 0>(field, patches, narrow, request, tile, weakest));
    });
    return true;
}

std::atomic<bool> always{false};

// To begin with, about count extrema are looked for one by one; that must be little beside what bounds save. Without
// the ends of the scale the value map is no bound, and the other search goes through the whole volume.
bool worth_bounding(const Field& field, const std::vector<Patch>& patches, const Request& request) {
    const double volume = static_cast<double>(patches.size()) * field.height * field.width;
    const double least = request.end_scales ? 64e3 : 8e3;  // patches for each extremum
    return always.load(std::memory_order_relaxed) || volume >= least * static_cast<double>(request.count);
}

}  // namespace

void always_bound(bool yes) { always.store(yes); }

bool search_bounded(const Field& field, const std::vector<Patch>& patches, const Request& request,
                    std::vector<Found>& found, long long& visited) {
    if (!worth_bounding(field, patches, request)) return false;
    const auto square = [](const Patch& patch) { return patch.rx == patch.ry; };
    if (field.free || request.count <= 0 || !std::all_of(patches.begin(), patches.end(), square)) return false;
    const Widths widths = choose_widths(field, patches);
    if (widths.long_sums) return search_tiles<WideLong>(field, patches, widths.narrow, request, found, visited);
    return search_tiles<Wide>(field, patches, widths.narrow, request, found, visited);
}

}  // namespace imtorque
