// Features in their order for few patches at a time: those that follow each other lie near each other in every patch.
#include "core/parallel.hpp"
#include "edges/token_trees.hpp"

namespace imtorque {

void token_features(const TokenPlanes& planes, const int32_t* y, const int32_t* x, int count, const int32_t* first,
                    const int32_t* second, int asked, uint8_t* features) {
    constexpr int kChunk = 64;  // patches, whose bytes of one feature make a line of the cache
    parallel_for((count + kChunk - 1) / kChunk, 2.0 * kChunk * asked, [&](int chunk) {
        const int begin = chunk * kChunk, end = std::min(count, begin + kChunk);
        for (int f = 0; f < asked; ++f) {
            uint8_t* row = features + static_cast<size_t>(f) * count;
            for (int i = begin; i < end; ++i) {
                const uint8_t* patch = planes.values + static_cast<size_t>(y[i]) * planes.width + x[i];
                row[i] = token_feature(patch, first[f], second[f]);
            }
        }
    });
}

}  // namespace imtorque
