// Surfaces one voxel thick: where the gradient is largest along the axis that it is most nearly parallel to, so that
// a surface has one voxel in every line along that axis. Naive twin: naive_volumes.thin.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "volumes/volumes.hpp"

namespace imtorque {

void volume_thin(const float* strength, const float* gz, const float* gy, const float* gx, Grid grid, float threshold,
                 float* thinned) {
    const long long strides[3] = {grid.plane(), grid.width, 1};
    parallel_for(grid.depth, 2.0 * static_cast<double>(grid.plane()), [&](int z) {
        Poll poll(16);
        for (int y = 0; y < grid.height; ++y) {
            poll();
            long long at = z * grid.plane() + static_cast<long long>(y) * grid.width;
            for (int x = 0; x < grid.width; ++x, ++at) {
                thinned[at] = 0;
                const bool outermost =
                    z == 0 || y == 0 || x == 0 || z == grid.depth - 1 || y == grid.height - 1 || x == grid.width - 1;
                if (outermost || !(strength[at] > threshold)) continue;
                const float sizes[3] = {std::fabs(gz[at]), std::fabs(gy[at]), std::fabs(gx[at])};
                const int axis = static_cast<int>(std::max_element(sizes, sizes + 3) - sizes);
                const float along[3] = {gz[at], gy[at], gx[at]};
                const long long step = along[axis] < 0 ? -strides[axis] : strides[axis];
                // Of two equal neighbours the brighter stays, so that a surface between two voxels is one voxel thick.
                if (strength[at] >= strength[at - step] && strength[at] > strength[at + step])
                    thinned[at] = strength[at];
            }
        }
    });
}

}  // namespace imtorque
