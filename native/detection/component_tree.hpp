// Bright connected regions of an image at all its levels, thinned to those that differ, with their outlines.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct RegionRequest {
    int64_t smallest, largest;  // pixels
    double growth;              // a region is kept where it has grown by this factor since the last kept one in it
    int angles;
};

struct Regions {
    std::vector<float> y, x;       // centroids
    std::vector<float> radii;      // (count, angles): where rays from the centroid last leave the region
    std::vector<int64_t> area;     // pixels
    std::vector<float> stability;  // relative growth of the area per level, around this level
    std::vector<int32_t> level;
};

// Components (4-connected) of {image >= level} over all levels.
Regions extremal_regions(const uint8_t* image, int height, int width, const RegionRequest& request);

}  // namespace imtorque
