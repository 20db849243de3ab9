// Flooding from all lowest places at once (Meyer 1991).
#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>

#include "core/parallel.hpp"
#include "edges/contours_of_regions.hpp"

namespace imtorque {
namespace {

// Call visit(j) for the four neighbours j of pixel i.
template <class Visit>
void around(int i, int height, int width, Visit visit) {
    const int y = i / width, x = i % width;
    if (y > 0) visit(i - width);
    if (x > 0) visit(i - 1);
    if (x + 1 < width) visit(i + 1);
    if (y + 1 < height) visit(i + width);
}

// Give a number to each connected level part without a lower neighbour; -1 to all other pixels.
int lowest_places(const float* heights, int height, int width, int32_t* basins) {
    constexpr int32_t kUnseen = -2;
    std::fill(basins, basins + static_cast<size_t>(height) * width, kUnseen);
    int found = 0;
    std::vector<int> level;
    for (int i = 0; i < height * width; ++i) {
        if (basins[i] != kUnseen) continue;
        bool lowest = true;
        level.assign(1, i);
        basins[i] = -1;
        for (size_t next = 0; next < level.size(); ++next)
            around(level[next], height, width, [&](int j) {
                lowest &= heights[j] >= heights[i];
                if (heights[j] == heights[i] && basins[j] == kUnseen) {
                    basins[j] = -1;
                    level.push_back(j);
                }
            });
        if (!lowest) continue;
        for (const int j : level) basins[j] = found;
        ++found;
    }
    return found;
}

}  // namespace

int watershed(const float* heights, int height, int width, int32_t* basins) {
    const int found = lowest_places(heights, height, width, basins);
    using Entry = std::tuple<float, int, int, int32_t>;  // height, order of arrival, pixel, basin that reached it
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
    int arrivals = 0;
    const auto reach = [&](int i) {
        around(i, height, width, [&](int j) {
            if (basins[j] < 0) queue.emplace(heights[j], arrivals++, j, basins[i]);
        });
    };
    for (int i = 0; i < height * width; ++i)
        if (basins[i] >= 0) reach(i);
    Poll poll(4096);
    while (!queue.empty()) {
        poll();
        const auto [level, order, i, basin] = queue.top();
        queue.pop();
        if (basins[i] >= 0) continue;
        basins[i] = basin;
        reach(i);
    }
    return found;
}

}  // namespace imtorque
