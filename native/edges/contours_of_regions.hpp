// From an oriented boundary map to closed contours with a height: watershed, arcs, ultrametric merging.
//
// P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image segmentation. PAMI 33(5), 2011.
// Contours run between pixels. A crack is the side shared by two neighbouring pixels: `right` (height x width) for
// those with the pixel to the right, `down` for those with the pixel below, 0 where both are in one region or there is
// none.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

// Number the catchment basins of a height map from 0, in the order in which a scan meets their lowest places. Pixels
// are taken by height, of equal ones those first that were reached first. Returns how many there are. Naive twin:
// naive_detectors.watershed.
int watershed(const float* heights, int height, int width, int32_t* basins);

// The strength of each crack between regions: that of the orientation of its arc. Arcs are cut into straight pieces, a
// piece's direction lies between two of the `orientations` planes, and the stronger of the crack's two pixels counts.
void weigh_cracks(const int32_t* regions, const float* oriented, int orientations, int height, int width, float* right,
                  float* down);

struct Merges {
    std::vector<int32_t> kept, gone;  // in each step, the second region joins the first
    std::vector<float> heights;       // mean strength of their border, or of an earlier one, whichever is more
};

// Merge the two regions of the weakest border, again and again. Writes for each crack the height at which its regions
// become one. Naive twin: naive_detectors.ultrametric.
Merges merge_weakest(const int32_t* regions, int count, int height, int width, float* right, float* down);

}  // namespace imtorque
