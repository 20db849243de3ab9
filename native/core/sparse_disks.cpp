// Torque and closure of disk patches, exactly, from the pixels that have a force: few in most pictures.
//
// A force at column u of a row lies in the disks around the columns u - w to u + w of another row, w the half-width of
// the disk so many rows off. If it lies k rows below their centres, it adds S - x T to twice the moment, with
// S = 2 (u Fy - k Fx) and T = 2 Fy; to E it adds, as in free_disks.cpp, S - 2 x R + x^2 T. So these parts are added
// where those columns begin, subtracted where they end, and summed from left to right once for each disk. Counted from
// the disk's own ends, most of these places stay where they are from one disk to the next (disk_arcs.hpp): what is
// added there is kept, and only what moves is moved. Integers wrap around, harmlessly: the final sums fit. Naive twins:
// naive.torque_map and naive.closure_map(..., patch="disk").
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/disk_arcs.hpp"
#include "core/free_tables.hpp"
#include "core/parallel.hpp"
#include "core/survey.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kMostTogether = 4;  // disks whose rows are made together

// What is summed for a row of a disk: from the image's first column on, what begins and ends in the disk's own cells,
// which begin `margin` before it, and what is kept from disk to disk, which begins up to `radius` before it.
template <class Part>
struct Cells {
    Part* columns;
    int margin;
    const Part *begins, *ends;
    int radius;
};

// Where the torque of a row of a disk goes: into a row of the volume,
struct IntoRow {
    float* row;
    IMTORQUE_INLINE void put(int x, float torque) const { row[x] = torque; }
    IMTORQUE_INLINE void put(int x, const Lanes<float>& torque) const { store(torque, row + x); }
};
// or into maps, where it is stronger than what they hold.
struct IntoMaps {
    float* value;
    int32_t *scale, label;
    IMTORQUE_INLINE void put(int x, float torque) const {
        const bool larger = std::fabs(torque) > std::fabs(value[x]);
        value[x] = larger ? torque : value[x];
        scale[x] = larger ? label : scale[x];
    }
    IMTORQUE_INLINE void put(int x, const Lanes<float>& torque) const {
        Lanes<float> best;
        Lanes<int32_t> chosen;
        load(value + x, best);
        load(scale + x, chosen);
        keep_stronger(torque, label, best, chosen);
        store(best, value + x);
        store(chosen, scale + x);
    }
};

// A part, and beside it what takes it away again.
template <class Part>
IMTORQUE_INLINE auto give_and_take(const Part& part) {
    using Uint = std::decay_t<decltype(part.sums[0])>;
    constexpr Uint kAll = ~Uint{0};
    if constexpr (Part::kNumbers == 2) {
        const auto twice = __builtin_shufflevector(part.sums, part.sums, 0, 1, 0, 1);
        const decltype(twice + twice) turn = {0, 0, kAll, kAll};
        return (twice ^ turn) - turn;
    } else {
        const auto twice = __builtin_shufflevector(part.sums, part.sums, 0, 1, 2, 3, 0, 1, 2, 3);
        const decltype(twice + twice) turn = {0, 0, 0, 0, kAll, kAll, kAll, kAll};
        return (twice ^ turn) - turn;
    }
}

// Two cells side by side.
template <class Part, class Two>
IMTORQUE_INLINE void add_to_two(Part* cells, const Two& change) {
    static_assert(sizeof change == 2 * sizeof(Part));
    Two sums;
    std::memcpy(&sums, cells, sizeof sums);
    sums += change;
    std::memcpy(static_cast<void*>(cells), &sums, sizeof sums);
}

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

// From left to right, in the disk's own cells.
template <class Part>
IMTORQUE_INLINE void sum_up(const Cells<Part>& cells, int width) {
    const auto [columns, margin, begins, ends, radius] = cells;
    Part sum = sum_before(cells);
    for (int x = 0; x < width; ++x) {
        sum.sums += columns[x].sums + (begins[x].sums - ends[x].sums);
        columns[x] = sum;
    }
}

// What a force adds to twice the moment: S and T.
template <class Number>
struct TorqueSums {
    using Uint = typename Number::Uint;
    struct alignas(2 * sizeof(Uint)) Part {
        static constexpr int kNumbers = 2;
        typedef Uint Two __attribute__((vector_size(2 * sizeof(Uint)), aligned(2 * sizeof(Uint))));
        Two sums;
    };
    // Nanoseconds: for each force in a row of a disk, for each pixel, and for each look-up of prefixes at a pixel.
    static constexpr double kForceTime = 0.9, kPixelTime = 1.5, kLookUpTime = sizeof(Uint) == 4 ? 0.08 : 0.15;
    static constexpr size_t kMostBytes = 56 << 10;  // most of these cells stay in the first-level cache

    struct List {  // in the row of the centres S is `lever`, and it falls by `across` from row to row; T is `down`
        std::vector<int> x;
        std::vector<Uint> lever, across, down;

        void add(int column, float fx, float fy, float steps) {
            x.push_back(column);
            down.push_back(static_cast<Uint>(2 * round_force(fy, steps)));
            lever.push_back(static_cast<Uint>(column) * down.back());
            across.push_back(static_cast<Uint>(2 * round_force(fx, steps)));
        }
        // The columns and parts of `count` forces from `from` on, which lie `rows` below the centres.
        IMTORQUE_INLINE void set(size_t from, size_t count, int rows, int* columns, Part* parts) const {
            Uint* sums = reinterpret_cast<Uint*>(parts);  // a vector's memory is that of its elements
            const Uint *levers = lever.data() + from, *acrosses = across.data() + from, *downs = down.data() + from;
            const int* own = x.data() + from;
            const Uint k = static_cast<Uint>(rows);
            IMTORQUE_IVDEP
            for (size_t i = 0; i < count; ++i) {
                columns[i] = own[i];
                sums[2 * i] = levers[i] - k * acrosses[i];
                sums[2 * i + 1] = downs[i];
            }
        }
    };

    // The torque of a row of a disk, eight columns at a time; its own cells are zero after it.
    template <class Into>
    static IMTORQUE_INLINE void sum(const Field&, const Patch& patch, const Cells<Part>& cells, int width,
                                    const Into& into) {
        const auto [columns, margin, begins, ends, radius] = cells;
        const Into own = into;  // in registers
        Part before = sum_before(cells);
        Lanes<Uint> carry = {}, at = {0, 1, 4, 5, 2, 3, 6, 7};
        for (int i = 0; i < kLanes; ++i) carry[i] = before.sums[i % 2];
        const float norm = patch.norm;
        int x = 0;
        for (; x + kLanes <= width; x += kLanes) {
            Lanes<Uint> first, second;
            sum_four(columns + x, begins + x, ends + x, carry, first);
            sum_four(columns + x + 4, begins + x + 4, ends + x + 4, carry, second);
            // Within halves of a vector first, which is quicker: columns come as in `at`.
            const Lanes<Uint> s = pick<Uint, 0, 2, 8, 10, 4, 6, 12, 14>(first, second),
                              t = pick<Uint, 1, 3, 9, 11, 5, 7, 13, 15>(first, second);
            const Lanes<Uint> moments = s - at * t;
            at += kLanes;
            Lanes<float> torque;
            Number::to_floats(pick<Uint, 0, 1, 4, 5, 2, 3, 6, 7>(moments, moments), torque);
            torque *= norm;
            own.put(x, torque);
        }
        before.sums = typename Part::Two{carry[0], carry[1]};
        for (; x < width; ++x) {
            before.sums += columns[x].sums + (begins[x].sums - ends[x].sums);
            own.put(x, Number::to_float(before.sums[0] - static_cast<Uint>(x) * before.sums[1]) * norm);
            columns[x] = Part{};
        }
        std::fill(columns - margin, columns, Part{});
        std::fill(columns + width, columns + width + margin + 1, Part{});
    }

    // S and T of four columns, side by side; their cells are zero after it, and carry is what the next four begin with.
    static IMTORQUE_INLINE void sum_four(Part* columns, const Part* begins, const Part* ends, Lanes<Uint>& carry,
                                         Lanes<Uint>& sums) {
        const Lanes<Uint> zero = {};
        Uint* cells = reinterpret_cast<Uint*>(columns);  // a vector's memory is that of its elements
        Lanes<Uint> begin, end;
        load(cells, sums);
        load(reinterpret_cast<const Uint*>(begins), begin);
        load(reinterpret_cast<const Uint*>(ends), end);
        store(zero, cells);
        sums += begin - end;
        sums += pick<Uint, 8, 9, 0, 1, 12, 13, 4, 5>(sums, zero);
        sums += pick<Uint, 8, 9, 10, 11, 2, 3, 2, 3>(sums, zero);
        const Lanes<Uint> all = pick<Uint, 6, 7, 6, 7, 6, 7, 6, 7>(sums, sums);  // does not wait for the carry
        sums += carry;
        carry += all;
    }
};

// What a force adds to E: S, R, T and nothing.
template <class Number>
struct ClosureSums {
    struct alignas(32) Part {
        static constexpr int kNumbers = 4;
        typedef uint64_t Four __attribute__((vector_size(32), aligned(32)));
        Four sums;
    };
    static constexpr double kForceTime = 0.9, kPixelTime = 1.5, kLookUpTime = 0.1;
    static constexpr size_t kMostBytes = SIZE_MAX;  // four disks are quicker, though their cells leave that cache

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

    template <class Into>
    static IMTORQUE_INLINE void sum(const Field& field, const Patch& patch, const Cells<Part>& cells, int width,
                                    const Into& into) {
        Part* columns = cells.columns;
        const double factor = closure_factor(field, patch);
        sum_up(cells, width);
        const uint64_t* sums = reinterpret_cast<const uint64_t*>(columns);  // a vector's memory is that of its elements
        IMTORQUE_IVDEP
        for (int x = 0; x < width; ++x) {
            const uint64_t at = static_cast<uint64_t>(x), s = sums[4 * x], r = sums[4 * x + 1], t = sums[4 * x + 2];
            into.put(x, static_cast<float>(Number::to_double(4 * (s - at * (2 * r - at * t))) * factor));
        }
        std::fill(columns - cells.margin, columns + width + cells.margin + 1, Part{});
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
        for (int i = 0; i < count; ++i) forces.list.add(places[i], fx[places[i]], fy[places[i]], steps);
        if (static_cast<double>(forces.list.x.size()) > most) return std::nullopt;
        forces.starts.push_back(forces.list.x.size());
    }
    return forces;
}

template <class Part>
struct Near {  // the forces around a row, by their distance in rows: those k rows off begin at starts[k]
    std::vector<size_t> starts;
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
    for (int k = 0; k <= reach; ++k) {
        const size_t below = add_near<Sums>(forces, y, k, near.starts.back(), near);
        near.starts.push_back(k > 0 ? add_near<Sums>(forces, y, -k, below, near) : below);
    }
}
IMTORQUE_DISPATCH(template <class Sums> static, fill_near,
                  (const Forces<Sums>& forces, int y, int reach, Near<typename Sums::Part>& near),
                  (forces, y, reach, near))

template <class Sums>
void list_near(const Forces<Sums>& forces, int y, int reach, Near<typename Sums::Part>& near) {
    const int rows = static_cast<int>(forces.starts.size()) - 1, middle = y - forces.first;
    const size_t count = forces.starts[std::min(middle + reach + 1, rows)] - forces.starts[std::max(middle - reach, 0)];
    if (count > near.x.size()) {
        near.x.resize(count);
        near.parts.resize(count);
    }
    near.starts.assign(1, 0);
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
        const size_t at = whole_lines(group.cells + margin), cells = at + width + margin + 1;
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
        const size_t some = group.starts[dy + 1] - group.starts[dy], from = near.starts[dy], to = near.starts[dy + 1];
        const ptrdiff_t* runs = group.runs.data() + 2 * group.starts[dy];
        if (some == 4) add_row<4>(near, from, to, runs, cells);
        if (some == 3) add_row<3>(near, from, to, runs, cells);
        if (some == 2) add_row<2>(near, from, to, runs, cells);
        if (some == 1) add_row<1>(near, from, to, runs, cells);
    }
}
IMTORQUE_DISPATCH(template <class Part> static, add_forces, (const Near<Part>& near, const Group& group, Part* cells),
                  (near, group, cells))

// What is kept from disk to disk: where runs begin, counted from the disk's left end, and where they end, counted from
// its right end.
template <class Part>
struct Kept {
    int reach;  // the radius of the largest disk, 0 where nothing is kept
    std::vector<Part> begins, ends;

    Kept(int width, int radius) : reach(radius), begins(width + 2 * radius + 1), ends(begins.size()) {}
    void clear() {
        std::fill(begins.begin(), begins.end(), Part{});
        std::fill(ends.begin(), ends.end(), Part{});
    }
    Cells<Part> cells(Part* columns, int margin, int of_disk) const {
        const int radius = std::min(of_disk, reach);
        return {columns, margin, begins.data() + radius, ends.data() + reach - radius, radius};
    }
};

// Where what is kept of a run begins and ends for a force in column 0, if the run ends at `end`, counted from the
// disk's right end: it begins as far after its left one.
template <class Part>
struct KeptRun {
    Part *begin, *end;
    KeptRun(Kept<Part>& kept, int end_of_run)
        : begin(summed(kept.begins.data() - end_of_run)), end(summed(kept.ends.data() + kept.reach + 1 + end_of_run)) {}

  private:
    // As it is; but gcc no longer adds up its parts again for every force.
    static Part* summed(Part* cells) { return static_cast<Part*>(__builtin_assume_aligned(cells, sizeof(Part))); }
};

// Gives the forces of a row to a run, or takes them from it.
template <bool kGive, class Part>
IMTORQUE_INLINE void give_row(const Near<Part>& near, int dy, const KeptRun<Part>& run) {
    const Part* parts = near.parts.data();
    const int* x = near.x.data();
    for (size_t i = near.starts[dy], last = near.starts[dy + 1]; i < last; ++i) {
        const auto sums = kGive ? parts[i].sums : -parts[i].sums;
        run.begin[x[i]].sums += sums;
        run.end[x[i]].sums += sums;
    }
}

// Widens the run of a row by a column at either end: the cells before and after are changed together.
template <class Part>
IMTORQUE_INLINE void widen_row(const Near<Part>& near, int dy, const KeptRun<Part>& run) {
    const Part* parts = near.parts.data();
    const int* x = near.x.data();
    const size_t first = near.starts[dy], last = near.starts[dy + 1];
    // Every second force, then the others: a processor waits where it reads what was half written just now.
    for (const size_t start : {first, first + 1})
        for (size_t i = start; i < last; i += 2) {
            const ptrdiff_t at = x[i];
            const auto change = give_and_take(parts[i]);
            add_to_two(run.begin + at - 1, change);
            add_to_two(run.end + at, -change);
        }
}

template <class Part>
IMTORQUE_INLINE void move_forces_impl(const Near<Part>& near, const ArcPlan::Disk& disk, Kept<Part>& kept) {
    for (const auto [dy, from, to] : disk.moves) {
        const bool take = from != ArcPlan::kNowhere, give = to != ArcPlan::kNowhere;
        const bool widen = take && give && to == from + 1;  // as most do: half-widths grow by no less than the radius
        if (widen) widen_row(near, dy, KeptRun<Part>(kept, from));
        if (take && !widen) give_row<false>(near, dy, KeptRun<Part>(kept, from));
        if (give && !widen) give_row<true>(near, dy, KeptRun<Part>(kept, to));
    }
}
IMTORQUE_DISPATCH(template <class Part> static, move_forces,
                  (const Near<Part>& near, const ArcPlan::Disk& disk, Kept<Part>& kept), (near, disk, kept))

template <class Sums, class Into>
struct RowOfDisk {
    const Field& field;
    const Patch& patch;
    Cells<typename Sums::Part> cells;
    Into into;
    IMTORQUE_INLINE void sum() const { Sums::sum(field, patch, cells, field.width, into); }
};
template <class Row>
IMTORQUE_INLINE void sum_row_impl(const Row& row) {
    row.sum();
}
IMTORQUE_DISPATCH(template <class Row> static, sum_row, (const Row& row), (row))

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
    ArcPlan plan;
    std::vector<Group> groups;
    size_t most_cells = 0;

    Groups(ArcPlan arcs, int width, size_t most) : plan(std::move(arcs)) {
        const int count = static_cast<int>(plan.disks.size());
        for (int k = 0; k < count; k += groups.back().count) {
            groups.push_back(make_group(plan, k, width, most));
            most_cells = std::max(most_cells, groups.back().cells);
        }
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
struct Workplace {
    Near<Part> near;
    Aligned<Part> cells;
    Kept<Part> kept;
    Aligned<float> value;  // of the maps, if there are any
    Aligned<int32_t> label;

    Workplace(int width, size_t most_cells, int reach)
        : cells(most_cells), kept(width, reach), value(width), label(width) {}
};

// Row y of all disks.
template <class Sums>
void run_row(const Field& field, const std::vector<Patch>& patches, const Forces<Sums>& forces, const Groups& groups,
             int y, const DiskRows& out, Workplace<typename Sums::Part>& place) {
    using Part = typename Sums::Part;
    const size_t at = static_cast<size_t>(y - out.top) * field.width;
    const size_t slice = static_cast<size_t>(out.bottom - out.top) * field.width;
    list_near<Sums>(forces, y, std::min(patches.back().ry, field.height - 1), place.near);
    place.kept.clear();
    if (!out.tau) {
        std::copy_n(out.value + at, field.width, place.value.data());
        std::copy_n(out.scale + at, field.width, place.label.data());
    }
    Poll poll(4);
    for (const Group& group : groups.groups) {
        poll();
        add_forces<Part>(place.near, group, place.cells.data());
        for (int k = 0; k < group.count; ++k) {
            const int number = group.first + k;
            const ArcPlan::Disk& disk = groups.plan.disks[number];
            const Patch& patch = patches[number];
            move_forces<Part>(place.near, disk, place.kept);
            const auto own = place.kept.cells(place.cells.data() + group.columns[k], group.margins[k], disk.radius);
            if (out.tau)
                sum_row(RowOfDisk<Sums, IntoRow>{field, patch, own, {out.tau + number * slice + at}});
            else
                sum_row(RowOfDisk<Sums, IntoMaps>{
                    field, patch, own, {place.value.data(), place.label.data(), out.labels[number]}});
        }
    }
    if (out.tau) return;
    std::copy_n(place.value.data(), field.width, out.value + at);
    std::copy_n(place.label.data(), field.width, out.scale + at);
}

// All disks for the rows [top, bottom), where that is quicker than so many look-ups for each pixel; returns whether it
// is.
template <class Sums>
bool run_sparse(Sums, const Field& field, const std::vector<Patch>& patches, double look_ups, const DiskRows& out) {
    using Part = typename Sums::Part;
    constexpr int kRows = 8;  // of a task: asking for memory is then a small part
    const int reach = std::min(patches.back().ry, field.height - 1), rows = out.bottom - out.top;
    const int first = std::max(0, out.top - reach), last = std::min(field.height, out.bottom + reach);
    // Of a row: what look-ups would take, less what the pixels take anyway, is left for the forces.
    const double row_time = Sums::kLookUpTime * look_ups * field.width;
    const double left = row_time - Sums::kPixelTime * static_cast<double>(patches.size()) * field.width;
    const bool whole = patches.back().rx < std::min(field.height, field.width);
    ArcPlan plan = whole ? plan_arcs(patches, 1.5) : plan_runs(field, patches);
    const double most = left / (2 * Sums::kForceTime * count_additions(plan)) * (last - first);
    if (most < 0) return false;
    const auto forces = list_forces<Sums>(field, first, last, most);
    if (!forces) return false;
    const Groups groups(std::move(plan), field.width, Sums::kMostBytes / sizeof(Part));
    parallel_for((rows + kRows - 1) / kRows, kRows * row_time, [&](int task) {
        Workplace<Part> place(field.width, groups.most_cells, whole ? patches.back().rx : 0);
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
            return run_sparse(TorqueSums<Narrow>{}, field, patches, look_ups, out);
        case Width::bits64:
            return run_sparse(TorqueSums<Wide>{}, field, patches, look_ups, out);
        case Width::bits64_long:
            return run_sparse(TorqueSums<WideLong>{}, field, patches, look_ups, out);
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
