// Geodesic Voronoi regions by Dijkstra's algorithm: all seeds start at distance 0, and the cheapest pixel not yet
// settled passes its label on to its neighbours. A binary heap holds (distance, pixel); stale entries are skipped.
// Naive twin: naive.nearest_seeds.
#include "cuts/nearest_seeds.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {

void nearest_seeds(const double* cost, int height, int width, int32_t* labels) {
    using Entry = std::pair<double, int>;
    const int count = height * width;
    std::vector<double> distance(count, std::numeric_limits<double>::infinity());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap;
    for (int p = 0; p < count; ++p)
        if (labels[p] != 0) {
            distance[p] = 0;
            heap.push({0.0, p});
        }
    Poll poll(4096);
    while (!heap.empty()) {
        poll();
        const auto [reached, p] = heap.top();
        heap.pop();
        if (reached > distance[p]) continue;
        const int y = p / width, x = p % width;
        for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < height; ++v)
            for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < width; ++u) {
                const int q = v * width + u;
                const double step = u != x && v != y ? std::sqrt(0.5) : 0.5;
                const double there = reached + step * (cost[p] + cost[q]);
                if (there < distance[q]) {
                    distance[q] = there;
                    labels[q] = labels[p];
                    heap.push({there, q});
                }
            }
    }
}

}  // namespace imtorque
