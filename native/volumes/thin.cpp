// Surfaces one voxel thick: where the gradient is not below its neighbours along its own direction. Naive twin:
// naive_volumes.thin.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "volumes/volumes.hpp"

namespace imtorque {
namespace {

// Value at (z, y, x) + (dz, dy, dx), of which one component is whole and all lie within 1: bilinear.
float beside(const float* strength, const Grid& grid, size_t at, const float (&d)[3]) {
    const size_t strides[3] = {static_cast<size_t>(grid.plane()), static_cast<size_t>(grid.width), 1};
    float total = 0;
    for (int corner = 0; corner < 8; ++corner) {
        float weight = 1;
        long long place = static_cast<long long>(at);
        for (int a = 0; a < 3; ++a) {
            const float size = std::fabs(d[a]);
            const bool away = corner >> a & 1;
            weight *= away ? size : 1 - size;
            if (away) place += d[a] < 0 ? -static_cast<long long>(strides[a]) : static_cast<long long>(strides[a]);
        }
        if (weight > 0) total += weight * strength[place];
    }
    return total;
}

}  // namespace

void volume_thin(const float* strength, const float* gz, const float* gy, const float* gx, Grid grid, float threshold,
                 float* thinned) {
    parallel_for(grid.depth, 5.0 * static_cast<double>(grid.plane()), [&](int z) {
        Poll poll(16);
        for (int y = 0; y < grid.height; ++y) {
            poll();
            size_t at = static_cast<size_t>(z) * grid.plane() + static_cast<size_t>(y) * grid.width;
            for (int x = 0; x < grid.width; ++x, ++at) {
                thinned[at] = 0;
                const bool outermost =
                    z == 0 || y == 0 || x == 0 || z == grid.depth - 1 || y == grid.height - 1 || x == grid.width - 1;
                if (outermost || !(strength[at] > threshold)) continue;
                const float largest = std::max({std::fabs(gz[at]), std::fabs(gy[at]), std::fabs(gx[at])});
                if (!(largest > 0)) continue;
                const float ahead[3] = {gz[at] / largest, gy[at] / largest, gx[at] / largest};
                const float behind[3] = {-ahead[0], -ahead[1], -ahead[2]};
                // Of two equal neighbours the one ahead wins, so that a surface between two voxels is one voxel thick.
                if (strength[at] >= beside(strength, grid, at, behind) &&
                    strength[at] > beside(strength, grid, at, ahead))
                    thinned[at] = strength[at];
            }
        }
    });
}

}  // namespace imtorque
