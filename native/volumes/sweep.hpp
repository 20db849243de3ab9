// Going through a volume slice by slice: tables of a slab make the torque of all boxes of one slice, and a sink takes
// it. Memory is that of the slab and of a few slices, however deep the volume is.
#pragma once

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "volumes/volumes.hpp"

namespace imtorque {

constexpr int kVolumeRows = 8;        // of a slice, worked on together
constexpr double kVolumeBoxTime = 3;  // nanoseconds per voxel and box, about

struct Reach {
    int z = 0, y = 0, x = 0;
};

inline Reach reach_of(const std::vector<VolumeBox>& boxes) {
    Reach reach;
    for (const VolumeBox& box : boxes) {
        reach.z = std::max(reach.z, box.rz);
        reach.y = std::max(reach.y, box.ry);
        reach.x = std::max(reach.x, box.rx);
    }
    return reach;
}

// Tables: build_to(z) and rows(boxes, z, y, out). Sink: planes(z, pointers of one slice for each box), done(z).
template <class Tables, class Sink>
void sweep(Tables& tables, Grid grid, const std::vector<VolumeBox>& boxes, Sink& sink) {
    const int count = static_cast<int>(boxes.size());
    const int bands = (grid.height + kVolumeRows - 1) / kVolumeRows;
    std::vector<float*> planes(boxes.size());
    for (int z = 0; z < grid.depth; ++z) {
        check_interrupt();
        tables.build_to(z);
        sink.planes(z, planes.data());
        parallel_for(bands, kVolumeBoxTime * count * kVolumeRows * grid.width, [&](int band) {
            const int bottom = std::min((band + 1) * kVolumeRows, grid.height);
            std::vector<typename Tables::Uint> scratch(tables.scratch());
            for (int k = 0; k < count; ++k)
                for (int y = band * kVolumeRows; y < bottom; ++y)
                    tables.row(boxes[k], z, y, scratch.data(), planes[k] + static_cast<size_t>(y) * grid.width);
        });
        sink.done(z);
    }
}

}  // namespace imtorque
