// Torque of all box patches: the volume, and the fused value and scale maps that never store it.
//
// A task takes a strip of columns whose table rows fit the second-level cache, and works through blocks of rows with
// sizes outermost, so that the two table rows of a patch are used by several sizes while they are in the first-level
// cache. Naive twins: naive.torque_volume, naive.value_and_scale_maps.
#include <algorithm>
#include <cmath>

#include "core/ellipse_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kMapStrip = 320;    // columns of a strip of squares' maps: the rows of a pass stay nearly all in the
                                  // first-level cache
constexpr int kKnownWidth = 448;  // of a table row: such a strip with the reach of sizes up to 97
constexpr int kRows = 16;
constexpr int kGroup = 3;  // squares per pass over a row of the maps
// Nanoseconds per pixel, about: for the tables, and for a patch.
constexpr double kTableTime = 2, kPatchTime = 0.5;

struct Job {
    Field field;
    const Patch* patches;
    int first, count;  // the patches this job handles: patches[first], ...
    float* volume;     // either the volume,
    float* value;      // or the maps:
    int32_t* scale;    // label of the best patch so far, and after the last job signed; or null
    const int32_t* labels;
    bool opens, closes;  // whether this is the first, the last job over the maps
    float unit;          // of the norms, where sizes follow from them (unit_of_norms), else 0
};

// Whether patches[k] and those after it are so many, each a pixel wider on each side, that select_block takes them.
template <class Tables>
bool taken_together(const Job& job, int k) {
    const int last = k + Tables::kSizes - 1;
    return last < job.first + job.count && job.patches[last].rx == job.patches[k].rx + Tables::kSizes - 1;
}

// Of squares whose norms are `unit` / size^2 and whose labels are their sizes; 0 where there are others, or too few
// of them follow each other to make up for finding the labels in the end.
template <class Tables>
float unit_of_norms(const Job& job) {
    constexpr int kLeastTogether = 6;               // places where five begin: ten sizes in a row have as many
    constexpr float kLeast = 1e-15f, kMost = 1e3f;  // norms with which no step of size_of_sum leaves the floats
    const auto unit = [&](int k) { return static_cast<double>(job.patches[k].norm) * job.labels[k] * job.labels[k]; };
    int together = 0;
    for (int k = job.first; k < job.first + job.count; ++k) {
        const Patch& patch = job.patches[k];
        if (patch.rx != patch.ry || job.labels[k] != 2 * patch.rx + 1 ||
            !(patch.norm >= kLeast && patch.norm <= kMost) || std::fabs(unit(k) / unit(job.first) - 1) > 1e-6)
            return 0;
        together += taken_together<Tables>(job, k);
    }
    return together >= kLeastTogether ? static_cast<float>(unit(job.first)) : 0;
}

// The size of the square whose torque has this magnitude and this sum: magnitude = |sum| unit / size^2. Sizes are odd,
// and the rounding of floats is far from reaching the next. Where the sum is 0, there is none.
IMTORQUE_INLINE int32_t size_of_sum(float magnitude, int32_t sum, float unit) {
    const float square = sum != 0 ? std::fabs(static_cast<float>(sum)) * unit / magnitude : 0.0f;
    return sum != 0 ? 2 * static_cast<int32_t>(std::sqrt(square) * 0.5f) + 1 : 0;
}

IMTORQUE_INLINE void sign_labels(const float* value, int count, int32_t* __restrict scale) {
    for (int x = 0; x < count; ++x) scale[x] = value[x] < 0 ? -scale[x] : scale[x];
}

IMTORQUE_INLINE void select_rows_impl(const float* tau, int sizes, long long stride, const int32_t* labels, int count,
                                      float* value, int32_t* label) {
    int x = 0;
    for (; x + kLanes <= count; x += kLanes) {
        Lanes<float> best, torque;
        Lanes<int32_t> chosen;
        load(value + x, best);
        load(label + x, chosen);
        for (int k = 0; k < sizes; ++k) {
            load(tau + k * stride + x, torque);
            const Lanes<int32_t> larger = magnitudes_of(torque) > magnitudes_of(best);
            best = larger ? torque : best;
            chosen = larger ? Lanes<int32_t>{} + labels[k] : chosen;
        }
        store(best, value + x);
        store(chosen, label + x);
    }
    for (; x < count; ++x)
        for (int k = 0; k < sizes; ++k) {
            const float torque = tau[k * stride + x];
            const bool larger = std::fabs(torque) > std::fabs(value[x]);
            value[x] = larger ? torque : value[x];
            label[x] = larger ? labels[k] : label[x];
        }
}
IMTORQUE_DISPATCH(static, select_rows,
                  (const float* tau, int sizes, long long stride, const int32_t* labels, int count, float* value,
                   int32_t* label),
                  (tau, sizes, stride, labels, count, value, label))

struct Block {  // of a tile: rows, and columns from the tile's left on
    int top, bottom, from, count;
};

// The maps of a block while sizes pass: close together, whatever the image's width, and in whole vectors.
struct BlockMaps {
    alignas(64) float value[kRows][kStrip];
    alignas(64) int32_t label[kRows][kStrip];
    static_assert(kStrip % kLanes == 0 && kKnownWidth <= kStrip);
};

// Squares whose corners are looked up in one pass, from patches[k] on.
IMTORQUE_INLINE int count_squares(const Job& job, int k) {
    int count = 0;
    while (count < kGroup && k + count < job.first + job.count &&
           job.patches[k + count].rx == job.patches[k + count].ry)
        ++count;
    return count;
}

struct RowOfSquares {  // pixels of row y from column `from` on
    const Patch* patches;
    const int32_t* labels;
    int y, from, count;
};

// One to three squares, which the compiler wants to know.
template <bool kSums, class Tables>
IMTORQUE_INLINE void select_some(const Tables& tables, int squares, const RowOfSquares& row, float* value,
                                 int32_t* label) {
    const auto [patches, labels, y, from, count] = row;
    static_assert(kGroup == 3);
    if (squares == 3) tables.template select_squares<3, kSums>(patches, labels, y, from, count, value, label);
    if (squares == 2) tables.template select_squares<2, kSums>(patches, labels, y, from, count, value, label);
    if (squares == 1) tables.template select_squares<1, kSums>(patches, labels, y, from, count, value, label);
}

template <class Tables>
IMTORQUE_INLINE void fuse_sizes(const Job& job, const Tables& tables, const Block& block, BlockMaps& maps) {
    const int from = block.from, count = block.count;
    for (int k = job.first; k < job.first + job.count;) {
        const Patch* patch = job.patches + k;
        const int32_t* labels = job.labels + k;
        const int squares = Tables::kSelects ? count_squares(job, k) : 0;
        for (int y = block.top; y < block.bottom; ++y) {
            float* value = maps.value[y - block.top];
            int32_t* label = maps.label[y - block.top];
            if constexpr (Tables::kSelects) {
                if (squares > 0) {
                    select_some<false>(tables, squares, {patch, labels, y, from, count}, value, label);
                    continue;
                }
            }
            float torque[kStrip];
            tables.torque_row(*patch, y, from, count, torque);
            select_rows_impl(torque, 1, 0, labels, count, value, label);
        }
        k += std::max(squares, 1);
    }
}

IMTORQUE_INLINE void open_maps(const Job& job, size_t at, int count, float* value, int32_t* label) {
    std::fill_n(value, kStrip, 0.0f);
    std::fill_n(label, kStrip, 0);
    if (job.opens) return;
    std::copy_n(job.value + at, count, value);
    if (job.scale) std::copy_n(job.scale + at, count, label);
}

IMTORQUE_INLINE void close_maps(const Job& job, size_t at, int count, const float* value, const int32_t* label) {
    float* __restrict out = job.value + at;
    if (!job.scale) {
        std::copy_n(value, count, out);
        return;
    }
    int32_t* __restrict scale = job.scale + at;
    const bool sign = job.closes;
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        out[x] = value[x];
        scale[x] = sign && value[x] < 0 ? -label[x] : label[x];
    }
}

// Magnitudes and sums of squares, blocks of rows and sizes at a time where sizes follow each other. Rows of the maps
// begin where those of select_block do.
template <class Tables>
IMTORQUE_INLINE void fuse_sums(const Job& job, const Tables& tables, const Block& block, BlockMaps& maps) {
    for (int k = job.first; k < job.first + job.count;) {
        const Patch* patch = job.patches + k;
        const bool together = taken_together<Tables>(job, k);
        int squares = together ? Tables::kSizes : 1;
        while (!together && squares < kGroup && k + squares < job.first + job.count &&
               !taken_together<Tables>(job, k + squares))
            ++squares;
        for (int y = block.top; y < block.bottom; y += Tables::kRows) {
            const int from = tables.begin(y), vectors = (block.count - from + kLanes - 1) / kLanes;
            float* value = maps.value[y - block.top];
            int32_t* sums = maps.label[y - block.top];
            if (together) tables.template select_block<kStrip>(patch, y, vectors, value, sums);
            for (int j = 0; j < Tables::kRows && !together; ++j, value += kStrip, sums += kStrip) {
                select_some<true>(tables, squares, {patch, nullptr, y + j, from + j, vectors * kLanes}, value, sums);
            }
        }
        k += squares;
    }
}

IMTORQUE_INLINE void close_sums(const Job& job, size_t at, int count, const float* value, const int32_t* sums) {
    float* __restrict out = job.value + at;
    if (!job.scale) {
        IMTORQUE_IVDEP
        for (int x = 0; x < count; ++x) out[x] = sums[x] < 0 ? -value[x] : value[x];
        return;
    }
    int32_t* __restrict scale = job.scale + at;
    const float unit = job.unit;
    const bool sign = job.closes;
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        const int32_t size = size_of_sum(value[x], sums[x], unit);
        out[x] = sums[x] < 0 ? -value[x] : value[x];
        scale[x] = sign && sums[x] < 0 ? -size : size;
    }
}

template <class Tables>
IMTORQUE_INLINE void fuse_block_of_sums(const Job& job, const Tables& tables, const Tile& tile, const Block& block) {
    BlockMaps maps;
    const int vectors = (block.count + Tables::kRows - 1 + 2 * kLanes - 1) / kLanes;
    for (int j = 0; j < kRows; ++j) {
        std::fill_n(maps.value[j], vectors * kLanes, 0.0f);
        std::fill_n(maps.label[j], vectors * kLanes, 0);
    }
    fuse_sums(job, tables, block, maps);
    for (int y = block.top; y < block.bottom; ++y) {
        const int j = y - block.top, first = tables.begin(y - j % Tables::kRows) + j % Tables::kRows;
        close_sums(job, static_cast<size_t>(y) * job.field.width + tile.left, block.count, maps.value[j] - first,
                   maps.label[j] - first);
    }
}

template <class Tables>
IMTORQUE_INLINE void fuse_block(const Job& job, const Tables& tables, const Tile& tile, const Block& block) {
    BlockMaps maps;
    const auto place = [&](int y) { return static_cast<size_t>(y) * job.field.width + tile.left + block.from; };
    for (int y = block.top; y < block.bottom; ++y)
        open_maps(job, place(y), block.count, maps.value[y - block.top], maps.label[y - block.top]);
    fuse_sizes(job, tables, block, maps);
    for (int y = block.top; y < block.bottom; ++y)
        close_maps(job, place(y), block.count, maps.value[y - block.top], maps.label[y - block.top]);
}

template <class Tables>
IMTORQUE_INLINE void run_block(const Job& job, const Tables& tables, const Tile& tile, const Block& block) {
    const int width = job.field.width;
    const size_t pixels = static_cast<size_t>(job.field.height) * width;
    if (job.volume) {
        for (int k = job.first; k < job.first + job.count; ++k)
            for (int y = block.top; y < block.bottom; ++y)
                tables.torque_row(job.patches[k], y, block.from, block.count,
                                  job.volume + k * pixels + static_cast<size_t>(y) * width + tile.left + block.from);
        return;
    }
    if constexpr (Tables::kSkewed)
        if (job.unit > 0) return fuse_block_of_sums(job, tables, tile, block);
    for (int x = 0; x < block.count; x += kStrip)
        fuse_block(job, tables, tile, {block.top, block.bottom, block.from + x, std::min(kStrip, block.count - x)});
}

template <class Tables>
IMTORQUE_INLINE void run_tables(const Job& job, const Tile& tile) {
    Tables tables(job.field, tile, kRows);
    for (int top = tile.top; top < tile.bottom; top += kRows) {
        const int bottom = std::min(top + kRows, tile.bottom);
        check_interrupt();
        tables.build_to(Tables::kSkewed ? top + kRows : bottom);  // whole blocks, also where rows end
        run_block(job, tables, tile, {top, bottom, 0, tile.right - tile.left});
    }
}

template <class Number>
IMTORQUE_INLINE void run_tile_impl(Number, const Job& job, const Tile& tile) {
    // Not where most of the known width would be padding of many rows.
    if (table_width(tile) <= kKnownWidth && (2 * table_width(tile) > kKnownWidth || tile.reach_y < 512))
        run_tables<TablesOf<Number, kKnownWidth>>(job, tile);
    else
        run_tables<TablesOf<Number>>(job, tile);
}
IMTORQUE_DISPATCH_REGISTERS(template <class Number> static, run_tile, (Number number, const Job& job, const Tile& tile),
                            (number, job, tile))

template <class Tables>
IMTORQUE_INLINE void build_impl(Tables& tables, int bottom) {
    tables.build_to(bottom);
}
IMTORQUE_DISPATCH(template <class Tables> static, build, (Tables & tables, int bottom), (tables, bottom))

template <class Tables>
IMTORQUE_INLINE void use_impl(const Tables& tables, const Job& job, const Tile& tile, const Block& block) {
    run_block(job, tables, tile, block);
}
IMTORQUE_DISPATCH(template <class Tables> static, use,
                  (const Tables& tables, const Job& job, const Tile& tile, const Block& block),
                  (tables, job, tile, block))

// One table, many threads: they wait while it is built, a block of rows at a time, and share the columns.
template <class Number>
void run_shared(const Job& job, const Tile& tile) {
    TablesOf<Number> tables(job.field, tile, kRows);
    const int count = tile.right - tile.left, parts = (count + kStrip - 1) / kStrip;
    for (int top = tile.top; top < tile.bottom; top += kRows) {
        const int bottom = std::min(top + kRows, tile.bottom);
        check_interrupt();
        build(tables, bottom);
        parallel_for(parts, kPatchTime * job.count * kRows * kStrip, [&](int i) {
            use(tables, job, tile, Block{top, bottom, i * kStrip, std::min(kStrip, count - i * kStrip)});
        });
    }
}

template <class Number>
void run(Number number, const Job& job, const std::vector<Patch>& patches) {
    const Reach reach = reach_of(patches, job.first, job.count);
    const double work = static_cast<double>(job.field.height) * job.field.width * (kTableTime + kPatchTime * job.count);
    const Tiling tiling =
        cut_tiles(job.field.height, job.field.width, reach.y, reach.x, TablesOf<Number>::kCellBytes,
                  useful_threads(work), job.volume || !TablesOf<Number>::kSelects ? kStrip : kMapStrip);
    if (tiling.shared)
        for (const Tile& tile : tiling.tiles) run_shared<Number>(job, tile);
    else
        parallel_for(static_cast<int>(tiling.tiles.size()), work / static_cast<double>(tiling.tiles.size()),
                     [&](int i) { run_tile(number, job, tiling.tiles[i]); });
}

void run_free(Job job, const std::vector<Patch>& patches) {
    job.count = static_cast<int>(patches.size());
    job.opens = job.closes = true;
    with_width_of_closure(job.field, patches, [&](auto number) { run(number, job, patches); });
}

// Narrow patches first, then the wide ones; sizes increase, so ties still go to the first.
void run_by_width(Job job, const std::vector<Patch>& patches) {
    if (job.field.free) return run_free(job, patches);
    const int count = static_cast<int>(patches.size());
    const Widths widths = choose_widths(job.field, patches);
    if (widths.narrow > 0) {
        job.first = 0;
        job.count = widths.narrow;
        job.opens = true;
        job.closes = widths.narrow == count;
        if (!job.volume) job.unit = unit_of_norms<TablesOf<Narrow>>(job);
        run(Narrow{}, job, patches);
    }
    if (widths.narrow < count) {
        job.first = widths.narrow;
        job.count = count - widths.narrow;
        job.unit = 0;
        job.opens = widths.narrow == 0;
        job.closes = true;
        if (widths.long_sums)
            run(WideLong{}, job, patches);
        else
            run(Wide{}, job, patches);
    }
}

}  // namespace

std::vector<Patch> clip_patches(std::vector<Patch> patches, Shape shape, const Field& field) {
    const int diagonal = static_cast<int>(std::ceil(std::hypot(field.height - 1, field.width - 1)));
    for (Patch& patch : patches) {
        patch.ry = std::min(patch.ry, shape == Shape::box ? field.height - 1 : diagonal);
        patch.rx = std::min(patch.rx, shape == Shape::box ? field.width - 1 : diagonal);
    }
    return patches;
}

Widths choose_widths(const Field& field, const std::vector<Patch>& patches) {
    // What covers a patch and all before it; so widths grow along the list, and the first wide one can be bisected.
    std::vector<Patch> covers = patches;
    for (size_t k = 1; k < covers.size(); ++k) {
        covers[k].ry = std::max(covers[k].ry, covers[k - 1].ry);
        covers[k].rx = std::max(covers[k].rx, covers[k - 1].rx);
    }
    const auto narrow = [&](const Patch& cover) { return width_of_sums(field, cover) == Width::bits32; };
    const auto first_wide = std::partition_point(covers.begin(), covers.end(), narrow);
    return {static_cast<int>(first_wide - covers.begin()), width_of_sums(field, covers.back()) == Width::bits64_long};
}

Reach reach_of(const std::vector<Patch>& patches, int first, int count) {
    Reach reach{0, 0};
    for (int k = first; k < first + count; ++k) {
        reach.y = std::max(reach.y, patches[k].ry);
        reach.x = std::max(reach.x, patches[k].rx);
    }
    return reach;
}

Tiling cut_tiles(int height, int width, int reach_y, int reach_x, size_t cell_bytes, int threads, int least) {
    constexpr double kPrivate = 32 << 20, kPrivateShare = 4;  // bytes of private tables: in all, and per pixel
    // Wide strips where patches reach far, so that the margins a strip shares with its neighbours stay a small part.
    int strip = std::max(least, 2 * reach_x), bands = 1;
    if (threads > 1) {
        const int strips = (width + strip - 1) / strip;
        const int wanted = (2 * threads + strips - 1) / strips;
        bands = std::max(1, std::min(wanted, height / std::max(4 * kRows, 2 * reach_y)));
    }
    const double table = static_cast<double>(cell_bytes) * (2.0 * reach_y + kRows) * (strip + 2.0 * reach_x);
    const int tasks = std::min(threads, (width + strip - 1) / strip * bands);
    const bool shared = table * tasks > std::max(kPrivate, kPrivateShare * height * width);
    if (shared) {
        strip = std::max(least, reach_x);
        bands = 1;
    }
    const int strips = (width + strip - 1) / strip;
    std::vector<Tile> tiles;
    for (int s = 0; s < strips; ++s)
        for (int b = 0; b < bands; ++b) {
            const auto cut = [](int length, int i, int n) {
                return static_cast<int>(static_cast<long long>(length) * i / n);
            };
            tiles.push_back({cut(height, b, bands), cut(height, b + 1, bands), cut(width, s, strips),
                             cut(width, s + 1, strips), reach_y, reach_x});
        }
    return {std::move(tiles), shared};
}

void torque_volume(const Field& field, const std::vector<Patch>& patches, Shape shape, float* tau) {
    if (shape == Shape::disk) return disk_torque(field, patches, into_volume(0, field.height, tau));
    run_by_width({field, patches.data(), 0, 0, tau, nullptr, nullptr, nullptr, false, false, 0}, patches);
}

void value_and_scale(const Field& field, const std::vector<Patch>& patches, Shape shape, const int32_t* labels,
                     float* value, int32_t* scale) {
    if (shape == Shape::box) {
        run_by_width({field, patches.data(), 0, 0, nullptr, value, scale, labels, false, false, 0}, patches);
        return;
    }
    const size_t pixels = static_cast<size_t>(field.height) * field.width;
    std::fill_n(value, pixels, 0.0f);
    std::fill_n(scale, pixels, 0);
    // So many rows at a time that listing the forces around them is a small part, and the list beside the image too.
    constexpr int kLeastRows = 512;
    const int rows = std::max(kLeastRows, 4 * std::min(patches.back().ry, field.height));
    for (int top = 0; top < field.height; top += rows) {
        const size_t at = static_cast<size_t>(top) * field.width;
        disk_torque(field, patches, {top, std::min(top + rows, field.height), nullptr, labels, value + at, scale + at});
    }
    for (size_t at = 0; at < pixels; at += field.width) sign_labels(value + at, field.width, scale + at);
}

void value_and_scale_of_volume(const float* tau, int count, long long pixels, const int32_t* labels, float* value,
                               int32_t* scale) {
    constexpr long long kChunk = 4096;  // of the maps, stays in the first-level cache while all sizes pass
    const int chunks = static_cast<int>((pixels + kChunk - 1) / kChunk);
    parallel_for(chunks, 0.5 * count * kChunk, [&](int c) {
        const long long at = c * kChunk;
        const int n = static_cast<int>(std::min(kChunk, pixels - at));
        std::fill_n(value + at, n, 0.0f);
        std::fill_n(scale + at, n, 0);
        select_rows(tau + at, count, pixels, labels, n, value + at, scale + at);
        sign_labels(value + at, n, scale + at);
    });
}

void keep_stronger_rows(const float* tau, int sizes, long long stride, const int32_t* labels, int count, float* value,
                        int32_t* label) {
    select_rows(tau, sizes, stride, labels, count, value, label);
}

void run_in_bands(const Field& field, int count, const DiskRows& out,
                  const std::function<void(const DiskRows&)>& work) {
    const int rows = std::min(kDiskRows, out.bottom - out.top), width = field.width;
    std::unique_ptr<float[]> tau(new float[static_cast<size_t>(count) * rows * width]);
    for (int top = out.top; top < out.bottom; top += rows) {
        const int bottom = std::min(top + rows, out.bottom);
        work(into_volume(top, bottom, tau.get()));
        parallel_for(bottom - top, 0.5 * count * width, [&](int i) {
            const size_t at = static_cast<size_t>(top - out.top + i) * width;
            select_rows(tau.get() + static_cast<size_t>(i) * width, count, static_cast<long long>(bottom - top) * width,
                        out.labels, width, out.value + at, out.scale + at);
        });
    }
}

}  // namespace imtorque
