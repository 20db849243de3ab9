// Closure of disk patches, exactly, from the pixels that have a force: few in most pictures.
//
// A force at column u of a row lies in the disks around the columns u - w to u + w of another row, w the half-width of
// the disk so many rows off. To E it adds there, as in free_disks.cpp, S - 2 x R + x^2 T: so (S, R, T) is added where
// those columns begin, subtracted where they end, and summed from left to right once for each disk. Naive twin:
// naive.closure_map(..., patch="disk").
#include <algorithm>
#include <memory>

#include "core/free_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kDisksTogether = 4;  // whose changes fit the first-level cache

struct alignas(32) Part {  // S, R, T and nothing: what a force adds to E
    typedef uint64_t Four __attribute__((vector_size(32), aligned(32)));
    Four sums;
};

struct Force {
    int x;
    Doubled<uint64_t> doubled;
};

struct Forces {  // those of rows first, first + 1, ..., row after row
    int first;
    std::vector<size_t> starts;
    std::vector<Force> list;
};

Forces list_forces(const Field& field, int first, int last) {
    const float steps = static_cast<float>(field.steps);
    Forces forces{first, {0}, {}};
    for (int y = first; y < last; ++y) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(y) * field.width;
        for (int x = 0; x < field.width; ++x)
            if (field.fx[at + x] != 0 || field.fy[at + x] != 0)
                forces.list.push_back({x, doubled<uint64_t>(field.fx[at + x], field.fy[at + x], steps)});
        forces.starts.push_back(forces.list.size());
    }
    return forces;
}

struct Near {  // the forces around a row, by their distance in rows: those k rows off begin at starts[k]
    std::vector<size_t> starts;
    std::unique_ptr<int[]> x;
    std::unique_ptr<Part[]> parts;
};

// Those of row y + k, put in from place `at` on; returns where they end.
size_t add_near(const Forces& forces, int y, int k, size_t at, const Near& near) {
    const int row = y + k - forces.first;
    if (row < 0 || row + 1 >= static_cast<int>(forces.starts.size())) return at;
    const uint64_t lever = static_cast<uint64_t>(k);
    for (size_t i = forces.starts[row]; i < forces.starts[row + 1]; ++i, ++at) {
        const uint64_t u = static_cast<uint64_t>(forces.list[i].x);
        const auto [b, c] = forces.list[i].doubled;
        near.x[at] = forces.list[i].x;
        Part::Four& part = near.parts[at].sums;
        part[0] = (u * u - lever * lever) * b - 2 * lever * u * c;
        part[1] = u * b - lever * c;
        part[2] = b;
        part[3] = 0;
    }
    return at;
}

Near list_near(const Forces& forces, int y, int reach) {
    const int rows = static_cast<int>(forces.starts.size()) - 1, middle = y - forces.first;
    const size_t count = forces.starts[std::min(middle + reach + 1, rows)] - forces.starts[std::max(middle - reach, 0)];
    Near near{{0}, std::unique_ptr<int[]>(new int[count]), std::unique_ptr<Part[]>(new Part[count])};
    for (int k = 0; k <= reach; ++k) {
        const size_t below = add_near(forces, y, k, near.starts.back(), near);
        near.starts.push_back(k > 0 ? add_near(forces, y, -k, below, near) : below);
    }
    return near;
}

// Some disks of increasing radius whose rows are made together. What changes between the columns of a disk's row lies
// in cells, with so many on either side of the image that no run begins or ends beyond.
struct Group {
    int first, count;
    std::vector<int> margins;        // of the disks
    std::vector<ptrdiff_t> columns;  // the cells of the image's first column
    std::vector<int> larger;         // the first of the disks that have a row so far from the middle
    std::vector<ptrdiff_t> runs;     // [row][disk][2]: the cells where the run of a force in column 0 begins and ends
};

Group make_group(const std::vector<Patch>& patches, int first, int reach, int width) {
    const int count = std::min(kDisksTogether, static_cast<int>(patches.size()) - first);
    Group group{first, count, {}, {}, {}, {}};
    ptrdiff_t cells = 0;
    for (int k = first; k < first + count; ++k) {
        const int margin = std::min(patches[k].rx, width);
        group.margins.push_back(margin);
        group.columns.push_back(cells + margin);
        cells += 2 * margin + width + 1;
    }
    int larger = 0;
    for (int dy = 0; dy <= std::min(patches[first + count - 1].ry, reach); ++dy) {
        while (patches[first + larger].ry < dy) ++larger;
        group.larger.push_back(larger);
        for (int k = 0; k < count; ++k) {
            const int half = std::min(disk_half_width(patches[first + k].rx, dy), width);
            group.runs.push_back(group.columns[k] - half);
            group.runs.push_back(group.columns[k] + half + 1);
        }
    }
    return group;
}

// Adds the forces from `from` to `to`, which lie in one row, to the cells of so many disks: each is read once for all.
template <int kDisks>
IMTORQUE_INLINE void add_row(const Near& near, size_t from, size_t to, const ptrdiff_t* runs, Part* cells) {
    ptrdiff_t own[2 * kDisks];
    std::copy_n(runs, 2 * kDisks, own);
    const Part* parts = near.parts.get();
    const int* x = near.x.get();
    for (size_t i = from; i < to; ++i) {
        const Part part = parts[i];
        Part* at = cells + x[i];
        for (int k = 0; k < 2 * kDisks; k += 2) {
            at[own[k]].sums += part.sums;
            at[own[k + 1]].sums -= part.sums;
        }
    }
}

IMTORQUE_INLINE void add_forces_impl(const Near& near, const Group& group, Part* cells) {
    for (size_t dy = 0; dy < group.larger.size(); ++dy) {
        const int larger = group.larger[dy], some = group.count - larger;
        const ptrdiff_t* runs = group.runs.data() + 2 * (dy * group.count + larger);
        const size_t from = near.starts[dy], to = near.starts[dy + 1];
        if (some == 4) add_row<4>(near, from, to, runs, cells);
        if (some == 3) add_row<3>(near, from, to, runs, cells);
        if (some == 2) add_row<2>(near, from, to, runs, cells);
        if (some == 1) add_row<1>(near, from, to, runs, cells);
    }
}
IMTORQUE_DISPATCH(static, add_forces, (const Near& near, const Group& group, Part* cells), (near, group, cells))

// The closure of a row of a disk; its cells, from `columns` for the image's first column, are zero after it.
IMTORQUE_INLINE void sum_cells_impl(Part* columns, int margin, int width, double factor, float* out) {
    uint64_t s = 0, r = 0, t = 0;
    const auto take = [&](int x) {
        s += columns[x].sums[0];
        r += columns[x].sums[1];
        t += columns[x].sums[2];
        columns[x].sums = Part::Four{};
    };
    for (int x = -margin; x < 0; ++x) take(x);
    for (int x = 0; x < width; ++x) {
        take(x);
        const uint64_t at = static_cast<uint64_t>(x);
        out[x] = static_cast<float>(FreeLong::to_double(4 * (s - at * (2 * r - at * t))) * factor);
    }
    for (int x = width; x <= width + margin; ++x) take(x);
}
IMTORQUE_DISPATCH(static, sum_cells, (Part * columns, int margin, int width, double factor, float* out),
                  (columns, margin, width, factor, out))

}  // namespace

bool sparse_disk_closure(const Field& field, const std::vector<Patch>& patches, int top, int bottom, float* tau) {
    constexpr double kForceTime = 0.9, kPixelTime = 1.5, kRunTime = 0.6;  // nanoseconds
    const int reach = std::min(patches.back().ry, field.height - 1);
    const Forces forces = list_forces(field, std::max(0, top - reach), std::min(field.height, bottom + reach));
    const int count = static_cast<int>(patches.size());
    std::vector<Group> groups;
    for (int k = 0; k < count; k += kDisksTogether) groups.push_back(make_group(patches, k, reach, field.width));
    double runs = 0;
    for (const Patch& disk : patches) runs += std::min(disk.ry, reach) + 1;
    const double forces_of_a_row = static_cast<double>(forces.list.size()) / static_cast<double>(forces.starts.size());
    const double row_time = 2 * kForceTime * runs * forces_of_a_row + kPixelTime * count * field.width;
    if (row_time > kRunTime * runs * field.width) return false;
    parallel_for(bottom - top, row_time, [&](int i) {
        const Near near = list_near(forces, top + i, reach);
        const size_t widest = static_cast<size_t>(field.width) + 2 * std::min(patches.back().rx, field.width) + 1;
        std::vector<Part> cells(kDisksTogether * widest, Part{});
        for (const Group& group : groups) {
            add_forces(near, group, cells.data());
            for (int k = 0; k < group.count; ++k) {
                check_interrupt();
                const size_t row = static_cast<size_t>(group.first + k) * (bottom - top) + i;
                sum_cells(cells.data() + group.columns[k], group.margins[k], field.width,
                          closure_factor(field, patches[group.first + k]), tau + row * field.width);
            }
        }
    });
    return true;
}

}  // namespace imtorque
