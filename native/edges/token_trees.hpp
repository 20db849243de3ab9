// The forest of Sketch Tokens: features of a patch, growing trees, and their predictions at every pixel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace imtorque {

// Planes of bytes with a border, such that the patch of the pixel (y, x) has its upper left corner at (y, x) of each.
struct TokenPlanes {
    const uint8_t* values;  // (planes, height, width)
    int height, width;      // with the border
};

// What is asked of a patch, by places counted from its upper left corner in the first plane: the value at `first`; or,
// where `second` is not -1, how much it exceeds that at `second`, in a byte around 128.
inline uint8_t token_feature(const uint8_t* patch, int32_t first, int32_t second) {
    if (second < 0) return patch[first];
    return static_cast<uint8_t>(std::clamp(patch[first] - patch[second] + 128, 0, 255));
}

// Features of the patches of pixels (y, x): `features` has shape (asked, count). Naive twin:
// naive_tokens.token_features.
void token_features(const TokenPlanes& planes, const int32_t* y, const int32_t* x, int count, const int32_t* first,
                    const int32_t* second, int asked, uint8_t* features);

// A node asks for a feature and goes to `child` where it is at most `threshold`, else to child + 1; 0 marks a leaf.
struct TokenTree {
    std::vector<int32_t> column;
    std::vector<uint8_t> threshold;
    std::vector<int32_t> child;
};

// Grow a tree that tells classes apart; `features` has shape (columns, count). Every node tries so many columns drawn
// at random, and all thresholds of each; it takes the split that leaves the least Gini impurity, of equal ones the one
// of the first column, then of the lowest threshold. Nodes end where all samples are of one class or no split leaves
// `least` on both sides. `leaf` (count) gets the node in which each sample ends. Naive twin: naive_tokens.grow_tree.
TokenTree grow_token_tree(const uint8_t* features, const uint8_t* classes, int columns, int count, int tried, int least,
                          uint64_t seed, int32_t* leaf);

constexpr int kTokenValues = 3;  // numbers in a leaf

struct TokenForest {
    const int32_t *first, *second;  // (nodes) what is asked
    const uint8_t* threshold;
    const int32_t* child;
    const float* value;  // (nodes, kTokenValues)
    const int32_t* root;
    int trees;
};

// The mean over trees of the leaves' values at every step-th pixel: `predictions` has shape (kTokenValues, rows,
// columns). Naive twin: naive_tokens.token_predictions.
void token_predictions(const TokenPlanes& planes, const TokenForest& forest, int step, int rows, int columns,
                       float* predictions);

}  // namespace imtorque
