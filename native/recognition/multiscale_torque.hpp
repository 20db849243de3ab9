// The multiscale torque descriptor of patches.
#pragma once

#include <cstdint>

#include "core/forces.hpp"

namespace imtorque {

struct Layout {  // of a descriptor, in parts of the patch's size
    const double* regions;
    int region_count;
    const double* distances;
    int distance_count;
    bool align;
};

constexpr int kDirections = 8;  // in which regions lie: the paper's Fig. 19

inline int descriptor_length(const Layout& layout) {
    return layout.region_count * (1 + kDirections * layout.distance_count);
}

// For n patches, squares or rectangles, the torque of regions of several sizes around the patch's centre and around
// points along eight directions from it: out[i][region][centre | direction][distance].
void multiscale_torque(const Field& field, const int64_t* y, const int64_t* x, const int64_t* height,
                       const int64_t* width, long long n, const Layout& layout, float* out);

}  // namespace imtorque
