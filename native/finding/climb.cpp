// Naive twin: naive.climb.
#include "finding/climb.hpp"

#include <cstddef>

namespace imtorque {

std::vector<Hill> climb(const float* plane, const uint8_t* inside, int height, int width, int32_t* labels) {
    const std::size_t pixels = static_cast<std::size_t>(height) * width;
    std::vector<int32_t> up(pixels);
    int32_t summits = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int32_t p = y * width + x;
            labels[p] = 0;
            up[p] = p;
            if (!inside[p]) continue;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    if (y + dy < 0 || x + dx < 0 || y + dy >= height || x + dx >= width) continue;
                    const int32_t q = p + dy * width + dx;
                    if (inside[q] && plane[q] > plane[up[p]]) up[p] = q;
                }
            if (up[p] == p) labels[p] = ++summits;
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
