// Torque and closure of disk patches, exactly, from the pixels that have a force: few in most images.
//
// A force at column u of a row lies in the disks around the columns u - w to u + w of another row, w the half-width of
// the disk so many rows off. If it lies k rows below their centres, it adds S - x T to twice the moment, with
// S = 2 (u Fy - k Fx) and T = 2 Fy; to E it adds, as in free_disks.cpp, S - 2 x R + x^2 T. So these parts are added
// where those columns begin, subtracted where they end, and summed from left to right once for each disk. Counted from
// the disk's own ends, most of these places stay where they are from one disk to the next (disk_arcs.hpp): what is
// added there is kept. Most of those that move do so by one column, which changes the sum at that column alone: it is
// added there, after the sums from left to right. Integers wrap around, harmlessly: the final sums fit. Naive twins:
// naive.torque_map and naive.closure_map(..., patch="disk").
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/disk_arcs.hpp"
#include "core/force_statistics.hpp"
#include "core/free_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kMostTogether = 5;  // disks whose rows are made together

// What is summed for a row of a disk: from the image's first column on, what begins and ends in the disk's own cells,
// which begin `margin` before it, and what is kept from disk to disk, which begins up to `radius` before it. At the
// columns by which kept runs were widened they hold what is in `before` and `after`.
template <class Part>
struct Cells {
    Part* columns;
    int margin;
    const Part *begins, *ends, *before, *after;
    int radius;
};

// Sums may be made in steps that go on with so many columns to the right of those they end with: they end with columns
// from so many before the image's first on, and go on to whole vectors behind its last.
constexpr int kBehind = 2 * kLanes;
constexpr int columns_read(int width) { return whole_vectors(width) + kBehind; }

// Of so many cells: four sums, of which none waits for another.
template <class Part>
IMTORQUE_INLINE Part sum_of(const Part* cells, int count) {
    Part sums[4] = {};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; ++k) sums[k].sums += cells[i + k].sums;
    for (; i < count; ++i) sums[0].sums += cells[i].sums;
    return {(sums[0].sums + sums[1].sums) + (sums[2].sums + sums[3].sums)};
}

// What begins before the image's first column.
template <class Part>
IMTORQUE_INLINE Part sum_before(const Cells<Part>& cells) {
    return {sum_of(cells.columns - cells.margin, cells.margin).sums +
            sum_of(cells.begins - cells.radius, cells.radius).sums};
}

// Sets the disk's own cells from one column to before another to zero.
template <class Part>
IMTORQUE_INLINE void clear_cells(const Cells<Part>& cells, int from, int to) {
    if (from < to) std::memset(static_cast<void*>(cells.columns + from), 0, (to - from) * sizeof(Part));
}

// From left to right, in the disk's own cells.
template <class Part>
IMTORQUE_INLINE void sum_up(const Cells<Part>& cells, int width) {
    const auto [columns, margin, begins, ends, before, after, radius] = cells;
    Part sum = sum_before(cells);
    for (int x = 0; x < width; ++x) {
        sum.sums += columns[x].sums + (begins[x].sums - ends[x].sums);
        columns[x].sums = sum.sums + (before[x].sums + after[x].sums);
    }
}

// Forces with what they add to twice the moment, S and T. In the row of the centres that is `level`; S falls by
// `across` from row to row.
template <class Part>
struct TorqueList {
    using Uint = typename Part::Uint;
    std::vector<int> x;
    std::vector<Part> level;
    std::vector<Uint> across;

    void add(int column, float fx, float fy, float steps) {
        const Uint down = static_cast<Uint>(2 * round_force(fy, steps));
        x.push_back(column);
        level.push_back(Part::of(static_cast<Uint>(column) * down, down));
        across.push_back(static_cast<Uint>(2 * round_force(fx, steps)));
    }
    // The columns and parts of `count` forces from `from` on, which lie `rows` below the centres; in whole vectors.
    IMTORQUE_INLINE void set(size_t from, size_t count, int rows, int* columns, Part* parts) const {
        const int* own = x.data() + from;
        const Part* levels = level.data() + from;
        const Uint *acrosses = across.data() + from, k = static_cast<Uint>(rows);
        const size_t whole = whole_vectors(count);
        IMTORQUE_IVDEP
        for (size_t i = 0; i < whole; ++i) {
            columns[i] = own[i];
            parts[i].sums = levels[i].sums - Part::of(k * acrosses[i], 0).sums;
        }
    }
};

// Sums S and T of 64 bits each.
template <class Number>
struct WideTorque {
    struct Part {
        using Uint = uint64_t;
        typedef uint64_t Two __attribute__((vector_size(16), aligned(16)));
        Two sums;
        static IMTORQUE_INLINE Part of(Uint s, Uint t) { return {Two{s, t}}; }
    };
    using List = TorqueList<Part>;
    // Nanoseconds: for each force in a row of a disk, for each pixel, and for each look-up of prefixes at a pixel.
    static constexpr double kForceTime = 0.8, kPixelTime = 2, kLookUpTime = 0.12;
    static constexpr size_t kMostBytes = 56 << 10;  // most of these cells stay in the first-level cache

    // The torque of a row of a disk; its own cells are zero after it.
    static IMTORQUE_INLINE void sum(const Field&, const Patch& patch, const Cells<Part>& cells, int width, float* row) {
        const float norm = patch.norm;
        sum_up(cells, width);
        const uint64_t* sums = reinterpret_cast<const uint64_t*>(cells.columns);  // a vector's memory is its elements'
        IMTORQUE_IVDEP
        for (int x = 0; x < width; ++x)
            row[x] = Number::to_float(sums[2 * x] - static_cast<uint64_t>(x) * sums[2 * x + 1]) * norm;
        clear_cells(cells, -cells.margin, width + cells.margin + 1);
    }
};

// Sums S and T of 32 bits each, as one number, 2^32 S + T, which a processor adds to memory quicker than a vector. T
// fits in 32 bits with its sign (width_of_sums), so that S can be told from it.
struct NarrowTorque {
    struct Part {
        using Uint = uint32_t;
        uint64_t sums;
        static IMTORQUE_INLINE Part of(Uint s, Uint t) {
            return {(uint64_t{s} << 32) + static_cast<uint64_t>(int64_t{static_cast<int32_t>(t)})};
        }
    };
    using List = TorqueList<Part>;
    static constexpr double kForceTime = 0.6, kPixelTime = 0.8, kLookUpTime = 0.065;
    static constexpr size_t kMostBytes = 56 << 10;

    // Eight columns at a time, in three steps, each for eight columns further left than the step before: none waits for
    // what was begun just now.
    static IMTORQUE_INLINE void sum(const Field&, const Patch& patch, const Cells<Part>& cells, int width, float* row) {
        const auto [columns, margin, begins, ends, before, after, radius] = cells;  // in registers
        const float norm = patch.norm;
        // With 2^31 added T is not negative, and S is what lies above it. In odd columns 2^31 is added to S as well: it
        // goes out again when T is multiplied by the column and subtracted.
        constexpr uint64_t kShift = uint64_t{1} << 31;
        const uint64_t even = sum_before(cells).sums + kShift, odd = even + (kShift << 32);
        Four carry = {even, odd, even, odd}, begun[2] = {}, summed[2] = {};
        Lanes<uint32_t> column = {0, 1, 4, 5, 2, 3, 6, 7};
        column -= kBehind;
        for (int x = 0; x < columns_read(width); x += kLanes) {
            // What each four columns add up to, with what comes from the left.
            summed[1] += last_of(summed[0]);
            const Four all = carry + last_of(summed[1]);
            for (int k = 0; k < 2; ++k) {
                const int at = x - kBehind + 4 * k;
                summed[k] += carry + (load_four(before + at) + load_four(after + at));
            }
            carry = all;
            const Lanes<uint32_t> moments = halves<kHigh>(summed) - column * halves<!kHigh>(summed);
            column += kLanes;
            // Within four columns.
            for (int k = 0; k < 2; ++k) summed[k] = begun[k] + second_to_last(begun[k]);
            for (int k = 0; k < 2; ++k) {
                const int at = x + 4 * k;
                const Four zero = {}, own = load_four(columns + at) + (load_four(begins + at) - load_four(ends + at));
                std::memcpy(columns + at, &zero, sizeof zero);
                begun[k] = own + move_by_one(own);
            }
            Lanes<float> torque;
            Narrow::to_floats(pick<uint32_t, 0, 1, 4, 5, 2, 3, 6, 7>(moments, moments), torque);
            store(torque * norm, row + x - kBehind);
        }
        clear_cells(cells, -margin, 0);
        clear_cells(cells, columns_read(width), width + margin + 1);
    }

  private:
    typedef uint64_t Four __attribute__((vector_size(32)));                  // columns
    static constexpr int kHigh = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;  // which half of a number in memory

    static IMTORQUE_INLINE Four load_four(const Part* parts) {
        Four four;
        std::memcpy(&four, parts, sizeof four);
        return four;
    }
    template <int... kPlaces>
    static IMTORQUE_INLINE Four pick_of(const Four& a, const Four& b) {
        return (Four)pick<uint32_t, kPlaces...>((Lanes<uint32_t>)a, (Lanes<uint32_t>)b);
    }
    // Columns 0 and 2 to 1 and 3; then column 1, now the sum of two, to 2 and 3; and the last, the sum of all, to all.
    static IMTORQUE_INLINE Four move_by_one(const Four& v) { return pick_of<8, 9, 0, 1, 12, 13, 4, 5>(v, Four{}); }
    static IMTORQUE_INLINE Four second_to_last(const Four& v) {
        const Four low = pick_of<8, 9, 10, 11, 0, 1, 2, 3>(v, Four{});
        return pick_of<2, 3, 2, 3, 6, 7, 6, 7>(low, low);
    }
    static IMTORQUE_INLINE Four last_of(const Four& v) { return pick_of<6, 7, 6, 7, 6, 7, 6, 7>(v, v); }
    // One half of each number, in the order of `column`: within halves of a vector, which is quicker.
    template <int k>
    static IMTORQUE_INLINE Lanes<uint32_t> halves(const Four (&v)[2]) {
        return pick<uint32_t, k, k + 2, k + 8, k + 10, k + 4, k + 6, k + 12, k + 14>((Lanes<uint32_t>)v[0],
                                                                                     (Lanes<uint32_t>)v[1]);
    }
};

// What a force adds to E: S, R, T and nothing.
template <class Number>
struct ClosureSums {
    struct alignas(32) Part {
        typedef uint64_t Four __attribute__((vector_size(32), aligned(32)));
        Four sums;
    };
    static constexpr double kForceTime = 1.15, kPixelTime = 3.2, kLookUpTime = 0.09;
    static constexpr size_t kMostBytes = SIZE_MAX;  // more disks at once are quicker, though they leave that cache

    struct List {
        std::vector<int> x;
        std::vector<uint64_t> b, c;

        void add(int column, float fx, float fy, float steps) {
            const auto [own_b, own_c] = doubled<uint64_t>(fx, fy, steps);
            x.push_back(column);
            b.push_back(own_b);
            c.push_back(own_c);
        }
        IMTORQUE_INLINE void set(size_t from, size_t count, int rows, int* columns, Part* parts) const {
            const uint64_t k = static_cast<uint64_t>(rows);
            for (size_t i = 0; i < count; ++i) {
                columns[i] = x[from + i];
                const uint64_t u = static_cast<uint64_t>(x[from + i]), own_b = b[from + i], own_c = c[from + i];
                parts[i].sums =
                    typename Part::Four{(u * u - k * k) * own_b - 2 * k * u * own_c, u * own_b - k * own_c, own_b, 0};
            }
        }
    };

    static IMTORQUE_INLINE void sum(const Field& field, const Patch& patch, const Cells<Part>& cells, int width,
                                    float* row) {
        Part* columns = cells.columns;
        const double factor = closure_factor(field, patch);
        sum_up(cells, width);
        const uint64_t* sums = reinterpret_cast<const uint64_t*>(columns);  // a vector's memory is that of its elements
        IMTORQUE_IVDEP
        for (int x = 0; x < width; ++x) {
            const uint64_t at = static_cast<uint64_t>(x), s = sums[4 * x], r = sums[4 * x + 1], t = sums[4 * x + 2];
            row[x] = static_cast<float>(Number::to_double(4 * (s - at * (2 * r - at * t))) * factor);
        }
        clear_cells(cells, -cells.margin, width + cells.margin + 1);
    }
};

template <class Sums>
struct Forces {  // those of rows first, first + 1, ..., row after row
    int first;
    std::vector<size_t> starts;
    typename Sums::List list;
};

// Those of rows [first, last); none where there are more than `most`.
template <class Sums>
std::optional<Forces<Sums>> list_forces(const Field& field, int first, int last, double most) {
    const float steps = static_cast<float>(field.steps);
    Forces<Sums> forces{first, {0}, {}};
    std::vector<int> places(static_cast<size_t>(field.width) + 1);
    for (int y = first; y < last; ++y) {
        const size_t at = static_cast<size_t>(y) * field.width;
        const float *fx = field.fx + at, *fy = field.fy + at;
        const int count = find_places(fx, fy, field.width, places.data());
        const int half = (count + 1) / 2;  // of the forces by turns: next to each other, one would wait for the other
        for (int i = 0; i < count; ++i) {
            const int x = places[i / 2 + (i % 2 ? half : 0)];
            forces.list.add(x, fx[x], fy[x], steps);
        }
        if (static_cast<double>(forces.list.x.size()) > most) return std::nullopt;
        forces.starts.push_back(forces.list.x.size());
    }
    for (int i = 0; i < kLanes; ++i) forces.list.add(0, 0, 0, steps);  // whole vectors are read
    return forces;
}

template <class Part>
struct Near {  // the forces around a row, by their distance in rows: those k rows off are starts[k] to ends[k]
    static constexpr size_t kAtOnce = 4;  // forces are taken; some of zero follow those of a row, to make so many
    std::vector<size_t> starts, ends;
    std::vector<int> x;  // as long as any row before needed, like the parts
    std::vector<Part> parts;
};

// Those of row y + k, put in from place `at` on; returns where they end.
template <class Sums>
IMTORQUE_INLINE size_t add_near(const Forces<Sums>& forces, int y, int k, size_t at, Near<typename Sums::Part>& near) {
    const int row = y + k - forces.first;
    if (row < 0 || row + 1 >= static_cast<int>(forces.starts.size())) return at;
    const size_t from = forces.starts[row], count = forces.starts[row + 1] - from;
    forces.list.set(from, count, k, near.x.data() + at, near.parts.data() + at);
    return at + count;
}

template <class Sums>
IMTORQUE_INLINE void fill_near_impl(const Forces<Sums>& forces, int y, int reach, Near<typename Sums::Part>& near) {
    constexpr size_t kAtOnce = Near<typename Sums::Part>::kAtOnce;
    for (int k = 0; k <= reach; ++k) {
        size_t at = add_near<Sums>(forces, y, k, near.starts[k], near);
        if (k > 0) at = add_near<Sums>(forces, y, -k, at, near);
        near.ends[k] = at;
        for (size_t i = 0; i < kAtOnce; ++i) {
            near.x[at + i] = 0;
            near.parts[at + i] = typename Sums::Part{};
        }
        near.starts[k + 1] = (at + kAtOnce - 1) / kAtOnce * kAtOnce;
    }
}
IMTORQUE_DISPATCH(template <class Sums> static, fill_near,
                  (const Forces<Sums>& forces, int y, int reach, Near<typename Sums::Part>& near),
                  (forces, y, reach, near))

template <class Sums>
void list_near(const Forces<Sums>& forces, int y, int reach, Near<typename Sums::Part>& near) {
    const int rows = static_cast<int>(forces.starts.size()) - 1, middle = y - forces.first;
    const size_t count = forces.starts[std::min(middle + reach + 1, rows)] -
                         forces.starts[std::max(middle - reach, 0)] + near.kAtOnce * (reach + 1) + kLanes;
    if (count > near.x.size()) {
        near.x.resize(count);
        near.parts.resize(count);
    }
    near.starts.resize(reach + 2);
    near.ends.resize(reach + 1);
    fill_near<Sums>(forces, y, reach, near);
}

// Some disks of increasing radius whose rows are made together. What changes between the columns of a disk's row, but
// for what is kept, lies in cells, with so many on either side of the image that no run begins or ends beyond.
struct Group {
    int first, count;
    size_t cells;
    std::vector<int> margins;        // of the disks
    std::vector<ptrdiff_t> columns;  // the cells of the image's first column
    std::vector<size_t> starts;      // of the runs of each row, counted from the middle
    std::vector<ptrdiff_t> runs;     // [run][2]: the cells where the run of a force in column 0 begins and ends
};

// Where a line of the cache begins, at or after so many cells.
constexpr size_t whole_lines(size_t cells) { return (cells + 7) / 8 * 8; }

Group make_group(const ArcPlan& plan, int first, int width, size_t most_cells) {
    Group group{first, 0, 0, {}, {}, {0}, {}};
    int rows = 0;
    for (size_t k = first; k < plan.disks.size() && group.count < kMostTogether; ++k) {
        const ArcPlan::Disk& disk = plan.disks[k];
        const int margin = std::min(disk.radius, width);
        const size_t at = whole_lines(group.cells + margin),
                     cells = at + std::max(width + margin + 1, columns_read(width));
        if (group.count > 0 && cells > most_cells) break;
        group.margins.push_back(margin);
        group.columns.push_back(static_cast<ptrdiff_t>(at));
        group.cells = cells;
        ++group.count;
        if (!disk.rows.empty()) rows = std::max(rows, disk.rows.back() + 1);
    }
    std::vector<size_t> next(group.count, 0);  // row of each disk
    for (int dy = 0; dy < rows; ++dy) {
        for (int k = 0; k < group.count; ++k) {
            const ArcPlan::Disk& disk = plan.disks[first + k];
            if (next[k] == disk.rows.size() || disk.rows[next[k]] != dy) continue;
            const int half = disk.half_widths[next[k]++];
            group.runs.push_back(group.columns[k] - half);
            group.runs.push_back(group.columns[k] + half + 1);
        }
        group.starts.push_back(group.runs.size() / 2);
    }
    return group;
}

// Adds the forces from `from` to `to`, which lie in one row, to the cells of so many disks: each is read once for all.
template <int kDisks, class Part>
IMTORQUE_INLINE void add_row(const Near<Part>& near, size_t from, size_t to, const ptrdiff_t* runs, Part* cells) {
    ptrdiff_t own[2 * kDisks];
    std::copy_n(runs, 2 * kDisks, own);
    const Part* parts = near.parts.data();
    const int* x = near.x.data();
    for (size_t i = from; i < to; ++i) {
        const Part part = parts[i];
        Part* at = cells + x[i];
        for (int k = 0; k < 2 * kDisks; k += 2) {
            at[own[k]].sums += part.sums;
            at[own[k + 1]].sums -= part.sums;
        }
    }
}

template <class Part>
IMTORQUE_INLINE void add_forces_impl(const Near<Part>& near, const Group& group, Part* cells) {
    for (size_t dy = 0; dy + 1 < group.starts.size(); ++dy) {
        const size_t some = group.starts[dy + 1] - group.starts[dy], from = near.starts[dy], to = near.ends[dy];
        const ptrdiff_t* runs = group.runs.data() + 2 * group.starts[dy];
        if (some == 5) add_row<5>(near, from, to, runs, cells);
        if (some == 4) add_row<4>(near, from, to, runs, cells);
        if (some == 3) add_row<3>(near, from, to, runs, cells);
        if (some == 2) add_row<2>(near, from, to, runs, cells);
        if (some == 1) add_row<1>(near, from, to, runs, cells);
    }
}
IMTORQUE_DISPATCH(template <class Part> static, add_forces, (const Near<Part>& near, const Group& group, Part* cells),
                  (near, group, cells))

// What is kept from disk to disk lies in cells: where runs begin, counted from the disk's left end, and where they end,
// counted from its right end; and what those of them that were widened hold at the columns before and after.
struct KeptLayout {
    int reach;  // the radius of the largest disk, 0 where nothing is kept
    ptrdiff_t stride;

    KeptLayout(int width, int radius) : reach(radius), stride(kBehind + columns_read(width) + 2 * radius + 1) {}
    size_t cells() const { return 4 * static_cast<size_t>(stride); }
    // For a force in column 0, where a run begins and ends that ends at `end`, counted from the disk's right end; and
    // the columns before and after it.
    ptrdiff_t begin(int end) const { return kBehind - end; }
    ptrdiff_t end(int end) const { return stride + kBehind + reach + 1 + end; }
    ptrdiff_t before(int end) const { return 2 * stride + begin(end) - 1; }
    ptrdiff_t after(int end) const { return 2 * stride + this->end(end); }
    template <class Part>
    Cells<Part> of_disk(const Part* kept, int of_disk, Part* columns, int margin) const {
        const int radius = std::min(of_disk, reach);
        const Part *begins = kept + kBehind + radius, *ends = kept + stride + kBehind + reach - radius;
        return {columns, margin, begins, ends, begins + 2 * stride, ends + 2 * stride, radius};
    }
};

// The forces of a row are added to two kept cells each, which lie there for a force in column 0, or taken away.
struct Step {
    int dy;
    bool add;
    ptrdiff_t left, right;
};

std::vector<Step> list_steps(const std::vector<ArcPlan::Move>& moves, const KeptLayout& layout) {
    std::vector<Step> steps;
    for (const auto [dy, from, to] : moves) {
        const bool take = from != ArcPlan::kNowhere, give = to != ArcPlan::kNowhere;
        if (take && give && to == from + 1) {  // as most do: half-widths grow by no less than the radius
            steps.push_back({dy, true, layout.before(from), layout.after(from)});
            continue;
        }
        if (take) steps.push_back({dy, false, layout.begin(from), layout.end(from)});
        if (give) steps.push_back({dy, true, layout.begin(to), layout.end(to)});
    }
    return steps;
}

template <bool kAdd, class Part>
IMTORQUE_INLINE void take_step(const Near<Part>& near, int dy, Part* left, Part* right) {
    // As they are; but gcc no longer adds up their parts again for every force.
    left = static_cast<Part*>(__builtin_assume_aligned(left, sizeof(Part)));
    right = static_cast<Part*>(__builtin_assume_aligned(right, sizeof(Part)));
    const Part* parts = near.parts.data();
    const int* x = near.x.data();
    for (size_t i = near.starts[dy], last = near.ends[dy]; i < last; i += near.kAtOnce)
        for (size_t k = i; k < i + near.kAtOnce; ++k) {
            const auto sums = kAdd ? parts[k].sums : -parts[k].sums;
            left[x[k]].sums += sums;
            right[x[k]].sums += sums;
        }
}

template <class Part>
IMTORQUE_INLINE void take_steps_impl(const Near<Part>& near, const std::vector<Step>& steps, Part* kept) {
    for (const Step& step : steps)
        if (step.add)
            take_step<true>(near, step.dy, kept + step.left, kept + step.right);
        else
            take_step<false>(near, step.dy, kept + step.left, kept + step.right);
}
IMTORQUE_DISPATCH(template <class Part> static, take_steps,
                  (const Near<Part>& near, const std::vector<Step>& steps, Part* kept), (near, steps, kept))

template <class Sums>
IMTORQUE_INLINE void sum_row_impl(Sums, const Field& field, const Patch& patch, const Cells<typename Sums::Part>& cells,
                                  float* row) {
    Sums::sum(field, patch, cells, field.width, row);
}
IMTORQUE_DISPATCH(template <class Sums> static, sum_row,
                  (Sums sums, const Field& field, const Patch& patch, const Cells<typename Sums::Part>& cells,
                   float* row),
                  (sums, field, patch, cells, row))

// Of disks that reach beyond the image: all of their runs are their own.
ArcPlan plan_runs(const Field& field, const std::vector<Patch>& patches) {
    ArcPlan plan;
    for (const Patch& patch : patches) {
        ArcPlan::Disk disk{patch.rx, {}, {}, {}};
        for (int dy = 0; dy <= std::min(patch.rx, field.height - 1); ++dy) {
            disk.rows.push_back(dy);
            disk.half_widths.push_back(std::min(disk_half_width(patch.rx, dy), field.width));
        }
        plan.disks.push_back(std::move(disk));
    }
    return plan;
}

// How often a force of each row is added to two cells, for all disks.
double count_additions(const ArcPlan& plan) {
    size_t additions = 0;
    for (const ArcPlan::Disk& disk : plan.disks) {
        additions += disk.rows.size();
        for (const ArcPlan::Move& move : disk.moves)
            additions += (move.from != ArcPlan::kNowhere) + (move.to != ArcPlan::kNowhere);
    }
    return static_cast<double>(additions);
}

// The disks in the order in which they are made, some at a time.
struct Groups {
    std::vector<Group> groups;
    size_t most_cells = 0;
    KeptLayout layout;
    std::vector<std::vector<Step>> steps;  // of the disks

    Groups(const ArcPlan& plan, int width, size_t most, int reach) : layout(width, reach) {
        const int count = static_cast<int>(plan.disks.size());
        for (int k = 0; k < count; k += groups.back().count) {
            groups.push_back(make_group(plan, k, width, most));
            most_cells = std::max(most_cells, groups.back().cells);
        }
        for (const ArcPlan::Disk& disk : plan.disks) steps.push_back(list_steps(disk.moves, layout));
    }
};

// Begins with a line of the cache: vectors that lie in two lines take longer.
template <class T>
class Aligned {
  public:
    explicit Aligned(size_t count) : lines_(count / kItems + 1) {}
    T* data() { return lines_.data()->items; }

  private:
    static constexpr size_t kItems = 64 / sizeof(T);
    struct alignas(64) Line {
        T items[kItems];
    };
    std::vector<Line> lines_;
};

// What the rows of a task are made in, one after the other; cells are zero between disks.
template <class Part>
struct Workspace {
    Near<Part> near;
    Aligned<Part> cells, kept;
    int stride;
    Aligned<float> torque;  // of the disks of a group

    Workspace(int width, const Groups& groups)
        : cells(groups.most_cells),
          kept(groups.layout.cells()),
          stride(columns_read(width)),
          torque(static_cast<size_t>(kMostTogether) * stride) {}
    float* row(int k) { return torque.data() + kBehind + k * stride; }
};

// Row y of all disks.
template <class Sums>
void run_row(const Field& field, const std::vector<Patch>& patches, const Forces<Sums>& forces, const Groups& groups,
             int y, const DiskRows& out, Workspace<typename Sums::Part>& place) {
    using Part = typename Sums::Part;
    const size_t at = static_cast<size_t>(y - out.top) * field.width;
    const size_t slice = static_cast<size_t>(out.bottom - out.top) * field.width;
    list_near<Sums>(forces, y, std::min(patches.back().ry, field.height - 1), place.near);
    Part *cells = place.cells.data(), *kept = place.kept.data();
    std::memset(static_cast<void*>(kept), 0, groups.layout.cells() * sizeof(Part));
    Poll poll(4);
    for (const Group& group : groups.groups) {
        poll();
        add_forces(place.near, group, cells);
        for (int k = 0; k < group.count; ++k) {
            const int number = group.first + k;
            const Patch& patch = patches[number];
            take_steps(place.near, groups.steps[number], kept);
            sum_row(Sums{}, field, patch,
                    groups.layout.of_disk(kept, patch.rx, cells + group.columns[k], group.margins[k]), place.row(k));
            if (out.tau) std::copy_n(place.row(k), field.width, out.tau + number * slice + at);
        }
        if (!out.tau)
            keep_stronger_rows(place.row(0), group.count, place.stride, out.labels + group.first, field.width,
                               out.value + at, out.scale + at);
    }
}

// All disks for the rows [top, bottom), where that is quicker than so many look-ups for each pixel; returns whether it
// is.
template <class Sums>
bool run_sparse(Sums, const Field& field, const std::vector<Patch>& patches, double look_ups, const DiskRows& out) {
    using Part = typename Sums::Part;
    constexpr int kRows = 16;  // of a task: asking for memory is then a small part
    const int reach = std::min(patches.back().ry, field.height - 1), rows = out.bottom - out.top;
    const int first = std::max(0, out.top - reach), last = std::min(field.height, out.bottom + reach);
    // Of a row: what look-ups would take, less what the pixels take anyway, is left for the forces.
    const double row_time = Sums::kLookUpTime * look_ups * field.width;
    const double left = row_time - Sums::kPixelTime * static_cast<double>(patches.size()) * field.width;
    const bool whole = patches.back().rx < std::min(field.height, field.width);
    const ArcPlan plan = whole ? plan_arcs(patches, 1.5) : plan_runs(field, patches);
    const double most = left / (2 * Sums::kForceTime * count_additions(plan)) * (last - first);
    if (most < 0) return false;
    const auto forces = list_forces<Sums>(field, first, last, most);
    if (!forces) return false;
    const Groups groups(plan, field.width, Sums::kMostBytes / sizeof(Part), whole ? patches.back().rx : 0);
    parallel_for((rows + kRows - 1) / kRows, kRows * row_time, [&](int task) {
        Workspace<Part> place(field.width, groups);
        const int end = std::min((task + 1) * kRows, rows);
        for (int i = task * kRows; i < end; ++i) run_row(field, patches, *forces, groups, out.top + i, out, place);
    });
    return true;
}

}  // namespace

bool sparse_disk_torque(const Field& field, const std::vector<Patch>& patches, Width width, double look_ups,
                        const DiskRows& out) {
    switch (width) {
        case Width::bits32:
            return run_sparse(NarrowTorque{}, field, patches, look_ups, out);
        case Width::bits64:
            return run_sparse(WideTorque<Wide>{}, field, patches, look_ups, out);
        case Width::bits64_long:
            return run_sparse(WideTorque<WideLong>{}, field, patches, look_ups, out);
    }
    return false;
}

bool sparse_disk_closure(const Field& field, const std::vector<Patch>& patches, const DiskRows& out) {
    const double look_ups = 6 * pairs_of_rows(field, patches);
    if (width_of_closure(field, patches) == ClosureWidth::quick)
        return run_sparse(ClosureSums<FreeWide>{}, field, patches, look_ups, out);
    return run_sparse(ClosureSums<FreeLong>{}, field, patches, look_ups, out);
}

}  // namespace imtorque
