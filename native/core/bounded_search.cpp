// The strongest extrema by bounds: most patches cannot be among them, and are never computed.
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

#include "core/bounded_rows.hpp"
#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 16;
constexpr int kDepth = 6;           // of halving, at most
constexpr float kMargin = 1e-5f;    // relative: more than what is lost by computing bounds in floats
constexpr int kBoundedStrip = 960;  // columns of a tile, at least: rows are read once, so they need not stay in a cache
// Of a table row, with the reach of sizes up to 97: half a strip, a strip.
constexpr int kNarrowWidth = 608, kKnownWidth = 1088;
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
          columns_(tile.right - tile.left),
          every_(columns_),
          some_(columns_),
          all_(columns_),
          light_(columns_),
          levels_(kDepth, Level(columns_)) {
        const int count = static_cast<int>(patches.size());
        Tile near = tile;
        near.reach_y = near.reach_x = reach_of(patches, 0, narrow).y + 1;
        if (narrow > 0) small_.reset(new Small(field, near, kRows + 1));
        if (narrow < count) large_.reset(new Large(field, tile, kRows + 1));
        stride_ = (columns_ + kLanes - 1) / kLanes * kLanes;
        sums_ = kept_array<float>(4 * static_cast<size_t>(count) * stride_);
        for (int x = 0; x < columns_; x += kLanes) every_.add_if(true, x);
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
        explicit Level(int columns)
            : sums(2 * (static_cast<size_t>(columns) + kLanes)), upper(columns), lower(columns) {}
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
        some_.clear();
        all_.clear();
        if (patch.rx <= kSmall) {
            if (top < bottom) keep_heavy(tables, size, top, bottom, every_, all_);
        } else {
            visited_ += columns_;
            if (top == bottom) return begin(tables, size, rows, columns_);
            scan(tables, size, rows, columns_, some_, all_);
        }
        if (patch.norm == 0 || (!request_.end_scales && (k == 0 || k + 1 == static_cast<int>(patches_.size())))) return;
        for (int y = top; y < bottom; y += kShort) look_at(tables, size, y, std::min(y + kShort, bottom), all_);
        descend(tables, size, rows, some_, 0);
    }

    template <class Tables>
    void look_at(const Tables& tables, const Size& size, int from, int to, const Columns& given) {
        light_.clear();
        if (size.patch.rx <= kLight) keep_heavy(tables, size, from, to - 1, given, light_);
        const Columns& kept = size.patch.rx <= kLight ? light_ : given;
        visited_ += static_cast<long long>(kept.size()) * kLanes * (to - from);
        compute(tables, size, from, to, columns_, kept, places_);
    }

    template <class Tables>
    void descend(const Tables& tables, const Size& size, const Rows& rows, const Columns& given, int depth) {
        if (given.size() == 0) return;
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
        // Of other sizes at the same place, one is stronger more often than not.
        for (const int k : {place.k - 1, place.k + 1})
            if (k >= 0 && k < static_cast<int>(patches_.size()) && beaten(v, torque(k, place.y, place.x))) return;
        bool strict = false, tied = false;
        const int left = -tile_.left, right = field_.width - tile_.left;
        for (int k = std::max(place.k - 1, 0); k <= std::min<int>(place.k + 1, static_cast<int>(patches_.size()) - 1);
             ++k)
            for (int y = std::max(place.y - 1, 0); y <= std::min(place.y + 1, field_.height - 1); ++y)
                for (int x = std::max(place.x - 1, left); x <= std::min(place.x + 1, right - 1); ++x) {
                    if (k == place.k && y == place.y && x == place.x) continue;
                    const float neighbour = torque(k, y, x);
                    ++visited_;
                    if (beaten(v, neighbour)) return;
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
    KeptArray<float> sums_;  // for each size those of two rows
    Columns every_, some_, all_, light_;
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
                                    useful_threads(work), kBoundedStrip);
    if (tiling.shared) return false;
    const float known =
        request.near ? request.least : std::max(request.least, strength_of_some(field, patches, request, visited));
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
        if (table_width(tile) <= kNarrowWidth)
            work_on(TileSearch<Number, kNarrowWidth>(field, patches, narrow, request, tile, weakest));
        else if (table_width(tile) <= kKnownWidth)
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
    const double pixels = static_cast<double>(field.height) * field.width / static_cast<double>(request.count);
    const double patches_of_each = static_cast<double>(patches.size()) * pixels;
    return request.near || always.load(std::memory_order_relaxed) ||
           (request.end_scales ? pixels >= 7e3 : patches_of_each >= 8e3);
}

}  // namespace

void always_bound(bool yes) { always.store(yes); }

bool search_bounded(const Field& field, const std::vector<Patch>& patches, const Request& request,
                    std::vector<Found>& found, long long& visited) {
    if (!worth_bounding(field, patches, request)) return false;
    const auto square = [](const Patch& patch) { return patch.rx == patch.ry; };
    if (field.free || request.count <= 0 || !std::all_of(patches.begin(), patches.end(), square)) return false;
    // Wide enough also for the mass of all rows that a patch passes in a block.
    std::vector<Patch> tall = patches;
    for (Patch& patch : tall) patch.ry += kRows / 2;
    const Widths widths = choose_widths(field, tall);
    if (widths.long_sums) return search_tiles<WideLong>(field, patches, widths.narrow, request, found, visited);
    return search_tiles<Wide>(field, patches, widths.narrow, request, found, visited);
}

}  // namespace imtorque
