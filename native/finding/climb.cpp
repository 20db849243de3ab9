// Naive twin: naive.climb.
#include "finding/climb.hpp"

#include <algorithm>
#include <cstddef>

namespace imtorque {

std::vector<Hill> climb(const float* plane, const uint8_t* inside, int height, int width, int32_t* labels) {
    const std::size_t pixels = static_cast<std::size_t>(height) * width;
    std::vector<int32_t> up(pixels);  // where a pixel inside goes
    std::fill(labels, labels + pixels, 0);
    int32_t summits = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int32_t p = y * width + x;
            if (!inside[p]) continue;
            const int top = y > 0 ? -1 : 0, bottom = y + 1 < height ? 1 : 0;
            const int left = x > 0 ? -1 : 0, right = x + 1 < width ? 1 : 0;
            int32_t best = p;
            float height_there = plane[p];
            for (int dy = top; dy <= bottom; ++dy)
                for (int32_t q = p + dy * width + left; q <= p + dy * width + right; ++q)
                    if (inside[q] && plane[q] > height_there) best = q, height_there = plane[q];
            up[p] = best;
            if (best == p) labels[p] = ++summits;
        }
    std::vector<Hill> hills(summits);
    std::vector<int32_t> path;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int32_t p = y * width + x;
            if (!inside[p]) continue;
            path.clear();
            int32_t q = p;
            for (; !labels[q]; q = up[q]) path.push_back(q);
            for (int32_t passed : path) labels[passed] = labels[q];
            Hill& hill = hills[labels[p] - 1];
            ++hill.area, hill.y += y, hill.x += x;
        }
    return hills;
}

}  // namespace imtorque
