// Local extrema of the torque volume in space and scale, from a stored volume or straight from the edges.
//
// A maximum is positive, not below any of its 26 neighbours and above at least one of them; neighbours outside the
// volume do not count; adjacent maxima (a plateau) are one, named by the lowest (k, y, x). Minima likewise. A cross
// (Request::cross) has other neighbours and no plateaus; it passes the same first tests, without the diagonals.
//
// Of a stored volume, each row is first tested in the plane and against itself at the two neighbouring sizes, where the
// loop vectorises; the few pixels that pass are compared with all neighbours. From edges, work goes by cells of kRows x
// kColumns pixels, in each of which a size is tested in the plane, then against the neighbouring sizes. When only the
// strongest `count` are wanted, the value map comes first: a pixel where |V| exceeds its eight neighbours' holds an
// extremum of just that strength, so the count-th best of them bounds the result from below, and what of the cells has
// |V| under that bound is left out. Where bounds can tell (bounded_search.cpp), most of the map is not computed at all.
// Naive twin: naive.find_extrema.
#include "core/extrema.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include "core/bit_words.hpp"
#include "core/bounded_search.hpp"
#include "core/ellipse_tables.hpp"
#include "core/parallel.hpp"
#include "core/peaks.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 16;
constexpr int kStride = 64;  // a cell's row with its neighbours on each side: whole vectors
constexpr int kSlice = (kRows + 2 * kCrossReach) * kStride;
constexpr double kSearchTime = 1;  // nanoseconds for each pixel and size, about

struct Cell {
    int top, bottom, left, right;
};

// How much of a slice's row a cell and its margin take, in whole vectors.
int used_columns(const Cell& cell, int margin) {
    return (cell.right - cell.left + 2 * margin + kLanes - 1) / kLanes * kLanes;
}

struct Search {
    std::vector<Reach> halves;
    int height, width;
    Request request;
    int count = static_cast<int>(halves.size());
    int margin = margin_of(request);
    float threshold = request.least;   // |value| of the weakest extremum wanted
    const float* value_map = nullptr;  // |V| for leaving out cells, or null

    // Whether an extremum there may be returned.
    bool allows(int k, int y, int x) const { return !request.inside || lies_inside(halves[k], y, x, height, width); }
};

// The largest |value| of some rows, as its bits: those of non-negative floats have the floats' order, and integer
// maxima vectorise.
IMTORQUE_INLINE void find_largest_impl(const float* values, int rows, int columns, ptrdiff_t stride, int32_t& largest) {
    int32_t found = 0;
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
            int32_t bits;
            std::memcpy(&bits, values + y * stride + x, sizeof bits);
            found = std::max(found, bits & 0x7FFFFFFF);
        }
    largest = found;
}
IMTORQUE_DISPATCH(static, find_largest,
                  (const float* values, int rows, int columns, ptrdiff_t stride, int32_t& largest),
                  (values, rows, columns, stride, largest))

// Whether one of these values may be an extremum that is wanted.
bool strong_enough(const Search& s, const float* values, int rows, int columns, ptrdiff_t stride) {
    int32_t bits;
    find_largest(values, rows, columns, stride, bits);
    float largest;
    std::memcpy(&largest, &bits, sizeof largest);
    return largest >= s.threshold && largest > 0;
}

bool worth_searching(const Search& s, const Cell& cell) {
    return !s.value_map || strong_enough(s, s.value_map + static_cast<size_t>(cell.top) * s.width + cell.left,
                                         cell.bottom - cell.top, cell.right - cell.left, s.width);
}

// The part of a cell that holds all of its pixels with |V| at or above the threshold: the others hold no extremum.
Cell where_strong(const Search& s, const Cell& cell) {
    if (!s.value_map) return cell;
    Cell part{cell.bottom, cell.top, cell.right, cell.left};
    for (int y = cell.top; y < cell.bottom; ++y) {
        const float* row = s.value_map + static_cast<size_t>(y) * s.width;
        int left = cell.right, right = cell.left;
        for (int x = cell.left; x < cell.right; ++x) {
            const bool strong = std::fabs(row[x]) >= s.threshold;
            left = strong && x < left ? x : left;
            right = strong ? x + 1 : right;
        }
        if (left >= right) continue;
        part = {std::min(part.top, y), y + 1, std::min(part.left, left), std::max(part.right, right)};
    }
    return part;
}

// Flags the pixels of a slice that are extrema in the plane. Zeros around the image are neutral: a maximum is above
// zero, a minimum below.
struct Slice {
    const float* tau;
    int first, last, used;  // rows with a neighbour on each side, and columns
    bool cross;
};
IMTORQUE_INLINE void test_plane_impl(const Slice& given, float threshold, float want_max, float want_min,
                                     float* highest, float* lowest, int32_t* flags, int32_t* any) {
    const auto [slice, first, last, used, cross] = given;
    for (int i = (first - 1) * kStride; i <= (last + 1) * kStride; i += kStride) {
        IMTORQUE_IVDEP
        for (int x = 1; x < used - 1; ++x) {
            const float a = slice[i + x - 1], b = slice[i + x], c = slice[i + x + 1];
            const float ac = a > c ? a : c, ca = a < c ? a : c;
            highest[i + x] = ac > b ? ac : b;
            lowest[i + x] = ca < b ? ca : b;
        }
    }
    const float *tops = cross ? slice : highest, *bottoms = cross ? slice : lowest;
    for (int y = first; y <= last; ++y) {
        const int i = y * kStride;
        int32_t found = 0;
        IMTORQUE_IVDEP
        for (int x = 1; x < used - 1; ++x) {
            const float v = slice[i + x];
            const float up = tops[i - kStride + x], down = tops[i + kStride + x];
            const float deep = bottoms[i - kStride + x], under = bottoms[i + kStride + x];
            const float top = up > down ? up : down, bottom = deep < under ? deep : under;
            const bool maximum = (v * want_max > 0) & (v >= threshold) & (v >= highest[i + x]) & (v >= top);
            const bool minimum = (v * want_min < 0) & (-v >= threshold) & (v <= lowest[i + x]) & (v <= bottom);
            const int32_t flag = maximum | minimum;
            flags[i + x] = flag;
            found |= flag;
        }
        any[y] = found;
    }
}

IMTORQUE_DISPATCH(static, test_plane,
                  (const Slice& given, float threshold, float want_max, float want_min, float* highest, float* lowest,
                   int32_t* flags, int32_t* any),
                  (given, threshold, want_max, want_min, highest, lowest, flags, any))

bool tops_cross(const Search& s, const float* const slices[3], ptrdiff_t stride, int y, int x, ptrdiff_t local) {
    const float v = slices[1][local];
    const auto tops = [v](float neighbour) { return v > 0 ? v > neighbour : v < neighbour; };
    for (const int j : {0, 2})
        if (slices[j] && !tops(slices[j][local])) return false;
    for (int d = 1; d <= kCrossReach; ++d) {
        const float* here = slices[1] + local;
        if ((y >= d && !tops(here[-d * stride])) || (y + d < s.height && !tops(here[d * stride])) ||
            (x >= d && !tops(here[-d])) || (x + d < s.width && !tops(here[d])))
            return false;
    }
    return true;
}

// Compare one pixel with its neighbours at three sizes (null where there is none), whose rows are a stride apart.
void test_scales(const Search& s, const float* const slices[3], ptrdiff_t stride, int k, int y, int x, ptrdiff_t local,
                 std::vector<UnmergedExtremum>& out) {
    if (!s.allows(k, y, x)) return;
    const float v = slices[1][local];
    if (s.request.cross) {
        if (tops_cross(s, slices, stride, y, x, local)) out.push_back({{v, k, y, x}, false});
        return;
    }
    bool strict = false, tied = false;
    for (int j = 0; j < 3; ++j) {
        if (!slices[j]) continue;
        for (int dy = -1; dy <= 1; ++dy) {
            if (y + dy < 0 || y + dy >= s.height) continue;
            for (int dx = -1; dx <= 1; ++dx) {
                if (x + dx < 0 || x + dx >= s.width || (j == 1 && dy == 0 && dx == 0)) continue;
                const float neighbour = slices[j][local + dy * stride + dx];
                if (v > 0 ? neighbour > v : neighbour < v) return;
                strict |= neighbour != v;
                tied |= neighbour == v;
            }
        }
    }
    if (strict) out.push_back({{v, k, y, x}, tied});
}

// `fill(k, cell, slice)` writes the torque of size k over the cell and its margin.
template <class Fill>
void search_cell(const Search& s, const Cell& cell, const Fill& fill, std::vector<UnmergedExtremum>& out) {
    float slices[3][kSlice];
    float highest[kSlice], lowest[kSlice];
    int32_t flags[kSlice], any[kRows + 2 * kCrossReach];
    const int m = s.margin, rows = cell.bottom - cell.top, columns = cell.right - cell.left;
    const int used = used_columns(cell, m);
    const float want_max = s.request.sign >= 0, want_min = s.request.sign <= 0;
    fill(0, cell, slices[0]);
    for (int k = 0; k < s.count; ++k) {
        if (k + 1 < s.count) fill(k + 1, cell, slices[(k + 1) % 3]);
        if (!s.request.end_scales && (k == 0 || k + 1 == s.count)) continue;
        const float* here[3] = {k > 0 ? slices[(k + 2) % 3] : nullptr, slices[k % 3],
                                k + 1 < s.count ? slices[(k + 1) % 3] : nullptr};
        if (s.value_map && !strong_enough(s, here[1] + m * kStride + m, rows, columns, kStride)) continue;
        test_plane({here[1], m, m + rows - 1, used, s.request.cross}, s.threshold, want_max, want_min, highest, lowest,
                   flags, any);
        for (int y = m; y < m + rows; ++y) {
            if (!any[y]) continue;
            for (int x = m; x < m + columns; ++x)
                if (flags[y * kStride + x])
                    test_scales(s, here, kStride, k, cell.top + y - m, cell.left + x - m, y * kStride + x, out);
        }
    }
}

// Set what lies outside the image to zero, in a slice whose inside has been written.
void clear_outside(const Search& s, const Cell& cell, float* slice) {
    const int m = s.margin, used = used_columns(cell, m);
    const int left = std::max(m - cell.left, 0), right = std::min(cell.right + m, s.width) - cell.left + m;
    for (int y = 0; y < cell.bottom - cell.top + 2 * m; ++y) {
        float* row = slice + y * kStride;
        const int at = cell.top + y - m;
        if (at < 0 || at >= s.height) {
            std::fill_n(row, used, 0.0f);
            continue;
        }
        std::fill_n(row, left, 0.0f);
        for (int x = right; x < used; ++x) row[x] = 0;
    }
}

std::vector<Cell> cut_row(const Search& s, int top, int bottom, int left, int right) {
    const int columns = kStride - 2 * s.margin;
    std::vector<Cell> cells;
    for (int x = left; x < right; x += columns) cells.push_back({top, bottom, x, std::min(x + columns, right)});
    return cells;
}

// The highest and the lowest of each pixel of a row, its neighbours in the row, and zero.
struct Ranges {
    const float *highest, *lowest;
};
IMTORQUE_INLINE void find_ranges_impl(const float* row, int width, float* __restrict highest,
                                      float* __restrict lowest) {
    IMTORQUE_IVDEP
    for (int x = 1; x < width - 1; ++x) {
        const float a = row[x - 1], b = row[x], c = row[x + 1];
        const float ac = a > c ? a : c, ca = a < c ? a : c;
        highest[x] = ac > b ? ac : b;
        lowest[x] = ca < b ? ca : b;
    }
    for (const int x : {0, width - 1}) {
        const int left = std::max(x - 1, 0), right = std::min(x + 1, width - 1);
        highest[x] = std::max({row[left], row[x], row[right], 0.0f});
        lowest[x] = std::min({row[left], row[x], row[right], 0.0f});
    }
}
IMTORQUE_DISPATCH(static, find_ranges, (const float* row, int width, float* highest, float* lowest),
                  (row, width, highest, lowest))

// Flags the pixels of a row that are extrema in the plane and not below (or above) themselves at the sizes before and
// after, which are the row itself where there is none.
struct Around {
    const float *row, *before, *after;
    Ranges above, here, below;
};
IMTORQUE_INLINE void flag_row_impl(const Around& a, int width, float threshold, float want_max, float want_min,
                                   uint8_t* __restrict flags) {
    const Around own = a;
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) {
        const float v = own.row[x], past = own.before[x], next = own.after[x];
        const bool maximum = (v * want_max > 0) & (v >= threshold) & (v >= past) & (v >= next) &
                             (v >= own.above.highest[x]) & (v >= own.here.highest[x]) & (v >= own.below.highest[x]);
        const bool minimum = (v * want_min < 0) & (-v >= threshold) & (v <= past) & (v <= next) &
                             (v <= own.above.lowest[x]) & (v <= own.here.lowest[x]) & (v <= own.below.lowest[x]);
        flags[x] = maximum | minimum;
    }
}
IMTORQUE_DISPATCH(static, flag_row,
                  (const Around& a, int width, float threshold, float want_max, float want_min, uint8_t* flags),
                  (a, width, threshold, want_max, want_min, flags))

// Rows [top, bottom) of the image are in tau[k][y - first_row][x] with `rows` stored rows, and so are those around
// them.
void search_rows(const Search& s, const float* tau, int first_row, int rows, int top, int bottom,
                 std::vector<UnmergedExtremum>& out) {
    const ptrdiff_t width = s.width, slice = rows * width;
    std::vector<float> kept(6 * width);
    std::vector<uint8_t> flags(width + 8, 0);
    const float want_max = s.request.sign >= 0, want_min = s.request.sign <= 0;
    Poll poll(16);
    for (int k = s.request.end_scales ? 0 : 1; k < s.count - (s.request.end_scales ? 0 : 1); ++k) {
        const float* here = tau + k * slice;
        const float* const slices[3] = {k > 0 ? here - slice : nullptr, here, k + 1 < s.count ? here + slice : nullptr};
        // What pixels of row y are compared with in it: their neighbours there too, or (of a cross) those above and
        // below.
        const auto ranges = [&](int y, bool alone) -> Ranges {
            float* highest = kept.data() + (y + 3) % 3 * 2 * width;
            const float* row = here + (y - first_row) * width;
            if (y < 0 || y >= s.height)
                std::fill_n(highest, 2 * width, 0.0f);
            else if (alone)
                return {row, row};
            else
                find_ranges(row, s.width, highest, highest + width);
            return {highest, highest + width};
        };
        const bool cross = s.request.cross;
        Around around{nullptr, nullptr, nullptr, ranges(top - 1, cross), ranges(top, false), {}};
        for (int y = top; y < bottom; ++y) {
            poll();
            const ptrdiff_t at = (y - first_row) * width;
            around.row = here + at;
            around.before = (slices[0] ? slices[0] : here) + at;
            around.after = (slices[2] ? slices[2] : here) + at;
            around.below = ranges(y + 1, cross);
            flag_row(around, s.width, s.threshold, want_max, want_min, flags.data());
            for_each_flag(flags.data(), s.width, [&](int x) { test_scales(s, slices, width, k, y, x, at + x, out); });
            around.above = cross ? ranges(y, true) : around.here;
            around.here = cross ? ranges(y + 1, false) : around.below;
        }
    }
}

template <class Tables>
IMTORQUE_INLINE void fill_slice_impl(const Tables& tables, const Patch& patch, const Tile& tile, const Cell& cell,
                                     int height, int margin, float* slice) {
    const int used = used_columns(cell, margin);
    for (int y = std::max(cell.top - margin, 0); y < std::min(cell.bottom + margin, height); ++y)
        tables.torque_row(patch, y, cell.left - margin - tile.left, used, slice + (y - cell.top + margin) * kStride);
}

IMTORQUE_DISPATCH(template <class Tables> static, fill_slice,
                  (const Tables& tables, const Patch& patch, const Tile& tile, const Cell& cell, int height, int margin,
                   float* slice),
                  (tables, patch, tile, cell, height, margin, slice))

template <class Tables>
IMTORQUE_INLINE void build_tables_impl(Tables& tables, int bottom) {
    tables.build_to(bottom);
}
IMTORQUE_DISPATCH(template <class Tables> static, build_tables, (Tables & tables, int bottom), (tables, bottom))

// The tables of a tile: narrow ones for the first patches, which reach less far, and others for the rest.
template <class Number>
class CellTables {
  public:
    CellTables(const Field& field, const std::vector<Patch>& patches, int narrow, const Tile& tile, int margin)
        : patches_(patches), height_(field.height), narrow_(narrow), margin_(margin), near_(tile), far_(tile) {
        const Reach near = reach_of(patches, 0, narrow);
        near_.reach_y = near.y + margin;  // serves the cells' margins
        near_.reach_x = near.x + kPad;
        const int rows = kRows + 2 * margin;
        if (narrow > 0) small_.reset(new BoxTables<Narrow>(field, near_, rows));
        if (narrow < static_cast<int>(patches.size())) large_.reset(new TablesOf<Number>(field, far_, rows));
    }
    void build_to(int bottom) {
        if (small_) build_tables(*small_, bottom);
        if (large_) build_tables(*large_, bottom);
    }
    void fill(int k, const Cell& cell, float* slice) const {
        if (k < narrow_)
            fill_slice(*small_, patches_[k], near_, cell, height_, margin_, slice);
        else
            fill_slice(*large_, patches_[k], far_, cell, height_, margin_, slice);
    }

  private:
    const std::vector<Patch>& patches_;
    int height_, narrow_, margin_;
    Tile near_, far_;
    std::unique_ptr<BoxTables<Narrow>> small_;
    std::unique_ptr<TablesOf<Number>> large_;
};

// Cells of the rows [top, bottom) of a tile that may hold an extremum.
std::vector<Cell> cells_of(const Search& s, const Tile& tile, int top, int bottom) {
    std::vector<Cell> cells;
    for (int y = top; y < bottom; y += kRows) {
        check_interrupt();
        for (const Cell& cell : cut_row(s, y, std::min(y + kRows, bottom), tile.left, tile.right))
            if (worth_searching(s, cell)) cells.push_back(cell);
    }
    return cells;
}

template <class Number>
void search_boxes(const Search& s, const Field& field, const std::vector<Patch>& patches, int narrow,
                  std::vector<UnmergedExtremum>& all) {
    std::mutex lock;
    const auto search = [&](const CellTables<Number>& tables, const Cell& cell, std::vector<UnmergedExtremum>& out) {
        search_cell(
            s, where_strong(s, cell),
            [&](int k, const Cell& c, float* slice) {
                tables.fill(k, c, slice);
                clear_outside(s, c, slice);
            },
            out);
    };
    const auto keep = [&](const std::vector<UnmergedExtremum>& out) {
        std::lock_guard<std::mutex> guard(lock);
        all.insert(all.end(), out.begin(), out.end());
    };
    const Reach reach = reach_of(patches, 0, s.count);
    const double work = (s.value_map ? 0.2 : 1) * kSearchTime * s.count * field.height * field.width;
    const Tiling tiling = cut_tiles(field.height, field.width, reach.y + s.margin, reach.x + kPad,
                                    TablesOf<Number>::kCellBytes, useful_threads(work));
    const auto search_tile = [&](Tile tile) {
        const std::vector<Cell> cells = cells_of(s, tile, tile.top, tile.bottom);
        if (cells.empty()) return;
        tile.top = cells.front().top;
        CellTables<Number> tables(field, patches, narrow, tile, s.margin);
        std::vector<UnmergedExtremum> out;
        for (const Cell& cell : cells) {
            check_interrupt();
            tables.build_to(cell.bottom);
            search(tables, cell, out);
        }
        keep(out);
    };
    const auto search_shared = [&](const Tile& tile) {
        CellTables<Number> tables(field, patches, narrow, tile, s.margin);
        for (int top = tile.top; top < tile.bottom; top += kRows) {
            const int bottom = std::min(top + kRows, tile.bottom);
            tables.build_to(bottom);
            const std::vector<Cell> cells = cells_of(s, tile, top, bottom);
            parallel_for(static_cast<int>(cells.size()), kSearchTime * s.count * kRows * kStride, [&](int i) {
                std::vector<UnmergedExtremum> out;
                search(tables, cells[i], out);
                keep(out);
            });
        }
    };
    if (tiling.shared)
        for (const Tile& tile : tiling.tiles) search_shared(tile);
    else
        parallel_for(static_cast<int>(tiling.tiles.size()), work / static_cast<double>(tiling.tiles.size()),
                     [&](int i) { search_tile(tiling.tiles[i]); });
}

void search_disks(const Search& s, const Field& field, const std::vector<Patch>& patches,
                  std::vector<UnmergedExtremum>& all) {
    const int rows = std::min(kDiskRows, field.height);
    std::vector<float> tau(static_cast<size_t>(s.count) * (rows + 2 * s.margin) * field.width);
    for (int top = 0; top < field.height; top += rows) {
        const int bottom = std::min(top + rows, field.height);
        const int from = std::max(top - s.margin, 0), to = std::min(bottom + s.margin, field.height);
        disk_torque(field, patches, into_volume(from, to, tau.data()));
        for (int y = top; y < bottom; y += kRows)
            search_rows(s, tau.data(), from, to - from, y, std::min(y + kRows, bottom), all);
    }
}

bool stronger(const UnmergedExtremum& a, const UnmergedExtremum& b) {
    const float va = std::fabs(a.value), vb = std::fabs(b.value);
    if (va != vb) return va > vb;
    if (a.k != b.k) return a.k < b.k;
    return a.y != b.y ? a.y < b.y : a.x < b.x;
}

// Keep one of each set of adjacent tied extrema. `found` is sorted, so equal values are neighbours in it and the first
// of a set is its lowest (k, y, x).
void merge_plateaus(std::vector<UnmergedExtremum>& found) {
    std::vector<size_t> tied;
    for (size_t i = 0; i < found.size(); ++i)
        if (found[i].tied) tied.push_back(i);
    std::vector<size_t> parent(tied.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    const auto root = [&](size_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    const auto position = [](const UnmergedExtremum& f) { return std::make_pair(f.k, std::make_pair(f.y, f.x)); };
    Poll poll(256);
    for (size_t i = 0; i < tied.size(); ++i) {
        poll();
        const UnmergedExtremum& a = found[tied[i]];
        // The 13 neighbours that come before (k, y, x); of equal value, so in the same sorted run.
        for (int dk = -1; dk <= 0; ++dk)
            for (int dy = -1; dy <= (dk < 0 ? 1 : 0); ++dy)
                for (int dx = -1; dx <= (dk < 0 || dy < 0 ? 1 : -1); ++dx) {
                    UnmergedExtremum wanted = a;
                    wanted.k += dk;
                    wanted.y += dy;
                    wanted.x += dx;
                    const auto before = tied.begin() + static_cast<ptrdiff_t>(i);
                    const auto it =
                        std::lower_bound(tied.begin(), before, wanted,
                                         [&](size_t j, const UnmergedExtremum& f) { return stronger(found[j], f); });
                    if (it == before || found[*it].value != a.value || position(found[*it]) != position(wanted))
                        continue;
                    const size_t u = root(i), w = root(static_cast<size_t>(it - tied.begin()));
                    parent[std::max(u, w)] = std::min(u, w);
                }
    }
    std::vector<bool> dropped(found.size(), false);
    for (size_t i = 0; i < tied.size(); ++i)
        if (root(i) != i) dropped[tied[i]] = true;
    size_t kept = 0;
    for (size_t i = 0; i < found.size(); ++i)
        if (!dropped[i]) found[kept++] = found[i];
    found.resize(kept);
}

void search_squares(const Search& s, const Field& field, const std::vector<Patch>& patches,
                    std::vector<UnmergedExtremum>& found) {
    if (field.free) {
        with_width_of_closure(field, patches,
                              [&](auto number) { search_boxes<decltype(number)>(s, field, patches, 0, found); });
        return;
    }
    const Widths widths = choose_widths(field, patches);
    if (widths.long_sums)
        search_boxes<WideLong>(s, field, patches, widths.narrow, found);
    else
        search_boxes<Wide>(s, field, patches, widths.narrow, found);
}

}  // namespace

void sort_and_merge(std::vector<UnmergedExtremum>& found) {
    std::sort(found.begin(), found.end(), stronger);
    merge_plateaus(found);
}

namespace {

std::vector<Reach> halves_of(const std::vector<Patch>& patches) {
    std::vector<Reach> halves;
    for (const Patch& patch : patches) halves.push_back({patch.ry, patch.rx});
    return halves;
}

std::vector<Extremum> strongest(std::vector<UnmergedExtremum>& found, const Request& request) {
    sort_and_merge(found);
    if (request.count >= 0 && static_cast<long long>(found.size()) > request.count) found.resize(request.count);
    return std::vector<Extremum>(found.begin(), found.end());
}

}  // namespace

std::vector<UnmergedExtremum> unmerged_extrema(const Field& field, const std::vector<Patch>& patches, Shape shape,
                                               const Request& request) {
    const Search s{halves_of(patches), field.height, field.width, request};
    std::vector<UnmergedExtremum> found;
    if (shape == Shape::disk)
        search_disks(s, field, patches, found);
    else
        search_squares(s, field, patches, found);
    return found;
}

std::vector<Extremum> extrema_of_volume(const float* tau, const std::vector<Reach>& halves, int height, int width,
                                        const Request& request) {
    const Search s{halves, height, width, request};
    std::vector<UnmergedExtremum> found;
    std::mutex lock;
    parallel_for((height + kRows - 1) / kRows, kSearchTime * kRows * width * s.count, [&](int i) {
        std::vector<UnmergedExtremum> out;
        search_rows(s, tau, 0, height, i * kRows, std::min((i + 1) * kRows, height), out);
        std::lock_guard<std::mutex> guard(lock);
        found.insert(found.end(), out.begin(), out.end());
    });
    return strongest(found, request);
}

std::vector<Extremum> extrema_of_field(const Field& field, const std::vector<Patch>& patches, Shape shape,
                                       const Request& request, long long* visited) {
    Search s{halves_of(patches), field.height, field.width, request};
    *visited = 0;
    if (request.count == 0) return {};
    std::vector<UnmergedExtremum> found;
    if (shape == Shape::box && search_bounded(field, patches, request, found, *visited))
        return strongest(found, request);
    *visited = static_cast<long long>(s.count) * field.height * field.width;
    if (shape == Shape::disk) {
        search_disks(s, field, patches, found);
        return strongest(found, request);
    }
    std::unique_ptr<float[]> value;
    // Where a peak's extremum may be left out by request, the value map does not bound the others.
    if (request.count > 0 && peaks_count(request)) {
        const size_t pixels = static_cast<size_t>(field.height) * field.width;
        value.reset(new float[pixels]);
        std::vector<int32_t> sizes;
        for (const Patch& patch : patches) sizes.push_back(2 * patch.rx + 1);
        value_and_scale(field, patches, shape, sizes.data(), value.get(), nullptr);
        // Each peak holds an extremum of its strength.
        s.threshold = std::max(s.threshold,
                               strength_of_peak(value.get(), field.height, field.width, request.sign, request.count));
        s.value_map = value.get();
    }
    search_squares(s, field, patches, found);
    return strongest(found, request);
}

}  // namespace imtorque
