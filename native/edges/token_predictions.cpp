// Tree by tree along each row of pixels: neighbours take much the same way through a tree, whose nodes stay in cache.
#include "core/parallel.hpp"
#include "edges/token_trees.hpp"

namespace imtorque {

void token_predictions(const TokenPlanes& planes, const TokenForest& forest, int step, int rows, int columns,
                       float* predictions) {
    const size_t size = static_cast<size_t>(rows) * columns;
    parallel_for(rows, 100.0 * columns * forest.trees, [&](int row) {
        std::vector<double> sums(static_cast<size_t>(columns) * kTokenValues);
        for (int t = 0; t < forest.trees; ++t)
            for (int column = 0; column < columns; ++column) {
                const uint8_t* patch =
                    planes.values + static_cast<size_t>(row) * step * planes.width + static_cast<size_t>(column) * step;
                int32_t node = forest.root[t];
                while (forest.child[node] != 0) {
                    const uint8_t feature = token_feature(patch, forest.first[node], forest.second[node]);
                    node = forest.child[node] + (feature > forest.threshold[node]);
                }
                const float* value = forest.value + static_cast<size_t>(node) * kTokenValues;
                for (int k = 0; k < kTokenValues; ++k) sums[column * kTokenValues + k] += value[k];
            }
        for (int k = 0; k < kTokenValues; ++k)
            for (int column = 0; column < columns; ++column)
                predictions[k * size + static_cast<size_t>(row) * columns + column] =
                    static_cast<float>(sums[column * kTokenValues + k] / forest.trees);
    });
}

}  // namespace imtorque
