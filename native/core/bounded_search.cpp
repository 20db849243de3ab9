// The strongest extrema by bounds: most patches cannot be among them, and are never computed.
//
// A guess says how strong they are (estimated_strength), and what is found raises it. A tile takes blocks of kRows
// rows; of every few rows the middle one is computed, and the others where it leaves room for a torque that strong
// (bounded_rows.hpp). A place that strong is compared with its neighbours one by one. Where fewer than wanted are as
// strong as the guess, it was wrong, and nothing is known. Naive twin: naive.find_extrema.
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

constexpr int kRows = 15;   // whole numbers of those that are bounded together
constexpr int kSmall = 16;  // half the side of squares of which kFewRows rows are
// Where more than this share of the cells is left to be computed, so many blocks are computed without asking for
// bounds.
constexpr double kUseless = 0.6;
constexpr int kBlocksWhole = 7;
constexpr float kMargin = 1e-5f;    // relative: more than what is lost by computing bounds in floats
constexpr int kBoundedStrip = 960;  // columns of a tile, at least: rows are read once, so they need not stay in a cache
// Of a table row, with the reach of sizes up to 97: half a strip, a strip.
constexpr int kNarrowWidth = 608, kKnownWidth = 1088;
constexpr float kSecondGuess = 0.8f;  // of the first, where that was wrong

double time_of(const Field& field, const std::vector<Patch>& patches) {  // nanoseconds, about
    return 0.2 * static_cast<double>(patches.size()) * field.height * field.width;
}

// The count-th strongest of the extrema found so far, by all threads: what is weaker is not wanted.
class Weakest {
  public:
    Weakest(long long count, float known) : count_(static_cast<size_t>(count)), value_(known) {}
    float value() const { return value_.load(std::memory_order_relaxed); }
    void add(const std::vector<UnmergedExtremum>& found) {
        std::lock_guard<std::mutex> guard(lock_);
        for (const UnmergedExtremum& f : found) {
            if (f.tied) continue;  // it may be one with its neighbour
            heap_.push_back(std::fabs(f.value));
            std::push_heap(heap_.begin(), heap_.end(), std::greater<float>());
            if (heap_.size() <= count_) continue;
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<float>());
            heap_.pop_back();
        }
        if (enough()) value_.store(std::max(value(), heap_.front()), std::memory_order_relaxed);
    }
    bool enough() const { return heap_.size() == count_; }

  private:
    size_t count_;
    std::atomic<float> value_;
    std::mutex lock_;
    std::vector<float> heap_;  // the strongest, the weakest of them on top
};

// What is asked of the sizes that share tables.
template <class Tables>
struct Layer {
    Tables tables;
    MassRows<typename Tables::Uint> masses;
    std::vector<Size> sizes;
    std::vector<int> whole;  // for each size, so many blocks are computed without asking for bounds
    int margin;              // how far away neighbours are

    Layer(const Field& field, const Tile& tile, int count, int margin)
        : tables(field, tile, kRows + margin), masses(field, tile, kRows), whole(count, 0), margin(margin) {}
};

template <class Tables>
IMTORQUE_INLINE void build_rows_impl(Layer<Tables>& layer, int bottom) {
    layer.tables.build_to(bottom + layer.margin);
    layer.masses.build_to(bottom);
}
IMTORQUE_DISPATCH(template <class Tables> static, build_rows, (Layer<Tables> & layer, int bottom), (layer, bottom))

// Rows of places in a tile of so many columns.
struct Block {
    int top, bottom, columns;
};

// What a block is searched with.
struct Notes {
    Cells every, kept;
    std::vector<Place> places;
    long long visited = 0;
    explicit Notes(int columns) : every(columns), kept(columns) {
        for (int x = 0; x < columns; x += kLanes) every.add(x);
    }
};

// The places of one size in a block that may be extrema.
template <int kBounded, class Tables>
IMTORQUE_INLINE void look_at_size(Layer<Tables>& layer, const Size& size, const Block& block, Notes& notes) {
    int kept = 0, all = 0;
    int& whole = layer.whole[size.k];
    for (int y = block.top; y < block.bottom; y += kBounded) {
        const Rows rows{y, std::min(y + kBounded, block.bottom)};
        const Cells& cells = whole > 0 ? notes.every : notes.kept;
        if (whole == 0) {
            notes.kept.clear();
            notes.visited += keep_cells(layer.tables, layer.masses, size, rows, block.columns, notes.kept);
        }
        compute_rows<kBounded>(layer.tables, size, rows, block.columns, cells, notes.places);
        notes.visited += static_cast<long long>(cells.size()) * kLanes * (rows.to - rows.from);
        kept += cells.size();
        all += notes.every.size();
    }
    // Where bounds leave most to be computed, they are not asked again soon.
    whole = whole > 0 ? whole - 1 : kept > kUseless * all ? kBlocksWhole : 0;
}

template <class Tables>
IMTORQUE_INLINE void look_at_impl(Layer<Tables>& layer, const Block& block, Notes& notes) {
    for (const Size& asked : layer.sizes) {
        const Size size = asked;  // a copy: what is stored below cannot change it
        if (size.patch.rx <= kSmall)
            look_at_size<kFewRows>(layer, size, block, notes);
        else
            look_at_size<kMostRows>(layer, size, block, notes);
    }
}
IMTORQUE_DISPATCH(template <class Tables> static, look_at, (Layer<Tables> & layer, const Block& block, Notes& notes),
                  (layer, block, notes))

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
          notes_(tile.right - tile.left) {
        const int count = static_cast<int>(patches.size());
        Tile near = tile;
        const int margin = margin_of(request);
        near.reach_y = near.reach_x = reach_of(patches, 0, narrow).y + margin;
        if (narrow > 0) small_.reset(new Small(field, near, count, margin));
        if (narrow < count) large_.reset(new Large(field, tile, count, margin));
    }

    void run(std::vector<UnmergedExtremum>& found) {
        for (int top = tile_.top; top < tile_.bottom; top += kRows) {
            check_interrupt();
            const Block block{top, std::min(top + kRows, tile_.bottom), tile_.right - tile_.left};
            if (small_) search(*small_, 0, narrow_, block);
            if (large_) search(*large_, narrow_, static_cast<int>(patches_.size()), block);
            std::vector<UnmergedExtremum> fresh;
            for (const Place& place : notes_.places) test(place, fresh);
            notes_.places.clear();
            if (fresh.empty()) continue;
            weakest_.add(fresh);
            found.insert(found.end(), fresh.begin(), fresh.end());
        }
    }
    long long visited() const { return notes_.visited; }

  private:
    using Small = Layer<BoxTables<Narrow, kWidth>>;
    using Large = Layer<BoxTables<Number>>;

    // Sizes from `first` to before `last`.
    template <class Tables>
    void search(Layer<Tables>& layer, int first, int last, const Block& block) {
        build_rows(layer, block.bottom);
        const float weakest = weakest_.value();
        const int end = static_cast<int>(patches_.size()) - 1;
        layer.sizes.clear();
        for (int k = first; k < last; ++k)
            if (patches_[k].norm != 0 && (request_.end_scales || (k > 0 && k < end)))
                layer.sizes.push_back({patches_[k], k, Wanted(request_.sign), weakest,
                                       (1 - kMargin) * weakest / patches_[k].norm, request_.cross});
        look_at(layer, block, notes_);
    }

    float torque(int k, int y, int x) const {
        return k < narrow_ ? small_->tables.torque_at(patches_[k], y, x) : large_->tables.torque_at(patches_[k], y, x);
    }

    bool tops_cross(const Place& place, float v) {
        const auto tops = [&](int k, int y, int x) {
            const int column = x + tile_.left;
            if (k < 0 || k >= static_cast<int>(patches_.size()) || y < 0 || y >= field_.height || column < 0 ||
                column >= field_.width)
                return true;
            ++notes_.visited;
            const float neighbour = torque(k, y, x);
            return v > 0 ? v > neighbour : v < neighbour;
        };
        const auto [k, y, x] = place;
        if (!tops(k - 1, y, x) || !tops(k + 1, y, x)) return false;
        for (int d = 1; d <= kCrossReach; ++d)
            if (!tops(k, y - d, x) || !tops(k, y + d, x) || !tops(k, y, x - d) || !tops(k, y, x + d)) return false;
        return true;
    }

    // Compare a place with its neighbours; extrema.cpp says what an extremum is.
    void test(const Place& place, std::vector<UnmergedExtremum>& out) {
        const Patch& patch = patches_[place.k];
        const int column = place.x + tile_.left;
        if (request_.inside && !lies_inside({patch.ry, patch.rx}, place.y, column, field_.height, field_.width)) return;
        const float v = torque(place.k, place.y, place.x);
        if (request_.cross) {
            if (tops_cross(place, v)) out.push_back({{v, place.k, place.y, column}, false});
            return;
        }
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
                    ++notes_.visited;
                    if (beaten(v, neighbour)) return;
                    strict |= neighbour != v;
                    tied |= neighbour == v;
                }
        if (strict) out.push_back({{v, place.k, place.y, column}, tied});
    }

    const Field& field_;
    const std::vector<Patch>& patches_;
    const Request& request_;
    Tile tile_;
    Weakest& weakest_;
    int narrow_;
    std::unique_ptr<Small> small_;
    std::unique_ptr<Large> large_;
    Notes notes_;
};

// Adds all that are as strong as `known`, and as the request.count-th strongest of those; returns whether there are so
// many.
template <class Number>
bool search_tiles(const Field& field, const std::vector<Patch>& patches, int narrow, const Request& request,
                  const Tiling& tiling, float known, std::vector<UnmergedExtremum>& found, long long& visited) {
    Weakest weakest(request.count, known);
    std::mutex lock;
    const int tiles = static_cast<int>(tiling.tiles.size());
    parallel_for(tiles, time_of(field, patches) / tiles, [&](int i) {
        const auto work_on = [&](auto&& search) {
            std::vector<UnmergedExtremum> out;
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
    return weakest.enough();
}

// The same for one guess after the other of how strong they are.
template <class Number>
bool search_by_guess(const Field& field, const std::vector<Patch>& patches, int narrow, const Request& request,
                     std::vector<UnmergedExtremum>& found, long long& visited) {
    const int reach = reach_of(patches, 0, static_cast<int>(patches.size())).y + margin_of(request);
    const Tiling tiling = cut_tiles(field.height, field.width, reach, reach, BoxTables<Number>::kCellBytes,
                                    useful_threads(time_of(field, patches)), kBoundedStrip);
    if (tiling.shared) return false;
    const float guess = request.near ? 0 : estimated_strength(field, patches, request);
    for (const float share : {1.0f, kSecondGuess}) {
        const float known = std::max(request.least, share * guess);
        if (known == 0) return false;
        const bool enough = search_tiles<Number>(field, patches, narrow, request, tiling, known, found, visited);
        if (enough || known == request.least) return true;
        found.clear();
    }
    return false;
}

std::atomic<bool> always{false};

// Bounds are of use where few are wanted. Where the value map is no bound, the other search goes through the whole
// volume.
bool worth_bounding(const Field& field, const std::vector<Patch>& patches, const Request& request) {
    const double pixels = static_cast<double>(field.height) * field.width / static_cast<double>(request.count);
    const double patches_of_each = static_cast<double>(patches.size()) * pixels;
    return request.near || always.load(std::memory_order_relaxed) ||
           (peaks_count(request) ? pixels >= 1e3 : patches_of_each >= 8e3);
}

}  // namespace

void force_bounded_search(bool yes) { always.store(yes); }

bool search_bounded(const Field& field, const std::vector<Patch>& patches, const Request& request,
                    std::vector<UnmergedExtremum>& found, long long& visited) {
    if (!worth_bounding(field, patches, request)) return false;
    const auto square = [](const Patch& patch) { return patch.rx == patch.ry; };
    if (field.free || request.count <= 0 || !std::all_of(patches.begin(), patches.end(), square)) return false;
    // Wide enough also for the mass that is touched by patches around the pixels of a cell.
    std::vector<Patch> around = patches;
    for (Patch& patch : around) {
        patch.ry += kMostRows;
        patch.rx += kLanes;
    }
    const Widths widths = choose_widths(field, around);
    if (widths.long_sums) return search_by_guess<WideLong>(field, patches, widths.narrow, request, found, visited);
    return search_by_guess<Wide>(field, patches, widths.narrow, request, found, visited);
}

}  // namespace imtorque
