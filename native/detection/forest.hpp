// A forest of decision trees, kept as arrays.
#pragma once

#include <cstdint>

namespace imtorque {

struct Forest {
    const int32_t* feature;  // (nodes) the feature a node asks for; -1 in a leaf
    const float* threshold;  // (nodes) to the left where the feature is at most this
    const int32_t *left, *right;
    const float* value;   // (nodes)
    const int32_t* root;  // (trees)
    int trees;
};

// The mean over trees of the leaf each row of `features` (count, width) falls into.
void forest_values(const Forest& forest, const float* features, int count, int width, float* values);

}  // namespace imtorque
