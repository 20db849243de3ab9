// Turned forces, and the bounds that say which integer width holds a patch sum.
#include "core/forces.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace imtorque {

void turn_forces(const float* fx, const float* fy, size_t count, const Turn& turn, float* out_x, float* out_y) {
    constexpr size_t kPart = 1 << 16;
    const Turn t = turn;
    parallel_for(static_cast<int>((count + kPart - 1) / kPart), 1.0 * kPart, [&](int part) {
        for (size_t i = part * kPart; i < std::min(count, (part + 1) * kPart); ++i) {
            out_x[i] = static_cast<float>(t.a * fx[i] + t.b * fy[i]);
            out_y[i] = static_cast<float>(t.c * fx[i] + t.d * fy[i]);
        }
    });
}

int block_rows(int length) { return (length + kMassBlock - 1) / kMassBlock + 1; }

// Counted over the blocks a patch can touch.
double largest_mass(const Field& f, const Patch& patch) {
    const int rows = block_rows(f.height) - 1, cols = block_rows(f.width) - 1;
    const int span_y = std::min(rows, (2 * patch.ry + 1 + 2 * (kMassBlock - 1)) / kMassBlock);
    const int span_x = std::min(cols, (2 * patch.rx + 1 + 2 * (kMassBlock - 1)) / kMassBlock);
    const size_t stride = static_cast<size_t>(cols) + 1;
    double mass = 0;
    for (int by = 0; by + span_y <= rows; ++by) {
        const double* top = f.blocks + by * stride;
        const double* bottom = f.blocks + (by + span_y) * stride;
        for (int bx = 0; bx + span_x <= cols; ++bx)
            mass = std::max(mass, bottom[bx + span_x] - bottom[bx] - top[bx + span_x] + top[bx]);
    }
    return mass;
}

// |dx Fy - dy Fx| <= max(|dx|, |dy|) (|Fx| + |Fy|): the longest lever times the largest mass in any such patch.
// Rounding adds at most one step per pixel to the mass.
Width width_of_sums(const Field& f, const Patch& patch) {
    const double reach = std::max(std::min(patch.ry, f.height - 1), std::min(patch.rx, f.width - 1));
    const double lever = std::max(1.0, reach);  // the sum of the forces fits, too (sparse_disks.cpp)
    const double pixels = std::min(2.0 * patch.ry + 1, 1.0 * f.height) * std::min(2.0 * patch.rx + 1, 1.0 * f.width);
    // Twice the moment enters the sum; a margin of 1 % covers the arithmetic of the bound.
    const double bound = 2.02 * lever * (largest_mass(f, patch) * f.steps + pixels);
    if (bound < std::exp2(31)) return Width::bits32;
    return bound < std::exp2(51) ? Width::bits64 : Width::bits64_long;
}

}  // namespace imtorque
