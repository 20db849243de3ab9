// Closure of disk patches, exactly, from the pixels that have a force: few in most pictures.
//
// A force at column u of a row lies in the disks around the columns u - w to u + w of another row, w the half-width of
// the disk so many rows off. To E it adds there, as in free_disks.cpp, S - 2 x R + x^2 T: so (S, R, T) is added where
// those columns begin, subtracted where they end, and summed from left to right once for each disk. Naive twin:
// naive.closure_map(..., patch="disk").
#include <algorithm>

#include "core/free_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

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
    std::vector<int> x;
    std::vector<Part> parts;
};

void add_near(const Forces& forces, int y, int k, Near& near) {
    const int row = y + k - forces.first;
    if (row < 0 || row + 1 >= static_cast<int>(forces.starts.size())) return;
    const uint64_t lever = static_cast<uint64_t>(k);
    for (size_t i = forces.starts[row]; i < forces.starts[row + 1]; ++i) {
        const uint64_t u = static_cast<uint64_t>(forces.list[i].x);
        const auto [b, c] = forces.list[i].doubled;
        near.x.push_back(forces.list[i].x);
        near.parts.push_back(
            Part{Part::Four{(u * u - lever * lever) * b - 2 * lever * u * c, u * b - lever * c, b, 0}});
    }
}

void list_near(const Forces& forces, int y, int reach, Near& near) {
    near.starts.assign(1, 0);
    near.x.clear();
    near.parts.clear();
    for (int k = 0; k <= reach; ++k) {
        add_near(forces, y, k, near);
        if (k > 0) add_near(forces, y, -k, near);
        near.starts.push_back(near.x.size());
    }
}

// Adds the forces of a disk, whose half-widths are given from its middle row on, to what changes between columns.
IMTORQUE_INLINE void add_forces_impl(const Near& near, const std::vector<int>& half_widths, int width, Part* changes) {
    const Part* parts = near.parts.data();
    const int* x = near.x.data();
    for (size_t k = 0; k < half_widths.size(); ++k) {
        const int half = half_widths[k];
        for (size_t i = near.starts[k]; i < near.starts[k + 1]; ++i) {
            changes[std::max(x[i] - half, 0)].sums += parts[i].sums;
            changes[std::min(x[i] + half + 1, width)].sums -= parts[i].sums;
        }
    }
}
IMTORQUE_DISPATCH(static, add_forces, (const Near& near, const std::vector<int>& half_widths, int width, Part* changes),
                  (near, half_widths, width, changes))

// The closure of a row; the changes are zero after it.
IMTORQUE_INLINE void sum_changes_impl(Part* changes, int width, double factor, float* out) {
    Part::Four sum{};
    for (int x = 0; x < width; ++x) {
        sum += changes[x].sums;
        changes[x] = Part{};
        const uint64_t at = static_cast<uint64_t>(x);
        out[x] = static_cast<float>(FreeLong::to_double(4 * (sum[0] - at * (2 * sum[1] - at * sum[2]))) * factor);
    }
}
IMTORQUE_DISPATCH(static, sum_changes, (Part * changes, int width, double factor, float* out),
                  (changes, width, factor, out))

std::vector<std::vector<int>> half_widths_of(const std::vector<Patch>& disks, int reach) {
    std::vector<std::vector<int>> all(disks.size());
    for (size_t k = 0; k < disks.size(); ++k)
        for (int dy = 0; dy <= std::min(disks[k].ry, reach); ++dy) all[k].push_back(disk_half_width(disks[k].rx, dy));
    return all;
}

}  // namespace

bool sparse_disk_closure(const Field& field, const std::vector<Patch>& patches, int top, int bottom, float* tau) {
    constexpr double kForceTime = 2, kPixelTime = 2, kRunTime = 0.6;  // nanoseconds
    const int reach = std::min(patches.back().ry, field.height - 1);
    const Forces forces = list_forces(field, std::max(0, top - reach), std::min(field.height, bottom + reach));
    const std::vector<std::vector<int>> half_widths = half_widths_of(patches, reach);
    double runs = 0;
    for (const std::vector<int>& disk : half_widths) runs += static_cast<double>(disk.size());
    const double forces_of_a_row = static_cast<double>(forces.list.size()) / static_cast<double>(forces.starts.size());
    const double row_time =
        2 * kForceTime * runs * forces_of_a_row + kPixelTime * static_cast<double>(patches.size()) * field.width;
    if (row_time > kRunTime * runs * field.width) return false;
    parallel_for(bottom - top, row_time, [&](int i) {
        Near near;
        list_near(forces, top + i, reach, near);
        std::vector<Part> changes(static_cast<size_t>(field.width) + 1, Part{});
        for (size_t k = 0; k < patches.size(); ++k) {
            check_interrupt();
            add_forces(near, half_widths[k], field.width, changes.data());
            changes[field.width] = Part{};
            sum_changes(changes.data(), field.width, closure_factor(field, patches[k]),
                        tau + (k * (bottom - top) + i) * field.width);
        }
    });
    return true;
}

}  // namespace imtorque
