// Naive twin: naive.forest_values.
#include "detection/forest.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace imtorque {

void forest_values(const Forest& forest, const float* features, int count, int width, float* values) {
    constexpr int kChunk = 256;
    parallel_for((count + kChunk - 1) / kChunk, 1e3 * kChunk, [&](int chunk) {
        const int begin = chunk * kChunk, end = std::min(count, begin + kChunk);
        double sums[kChunk] = {};
        for (int t = 0; t < forest.trees; ++t)
            for (int i = begin; i < end; ++i) {
                const float* row = features + static_cast<std::size_t>(i) * width;
                int32_t node = forest.root[t];
                while (forest.feature[node] >= 0)
                    node = row[forest.feature[node]] <= forest.threshold[node] ? forest.left[node] : forest.right[node];
                sums[i - begin] += forest.value[node];
            }
        for (int i = begin; i < end; ++i) values[i] = static_cast<float>(sums[i - begin] / forest.trees);
    });
}

}  // namespace imtorque
