// The last two steps of Canny's detector. Naive twin: naive.canny.
#include "edges/hysteresis.hpp"

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

// Mark all edges connected to those listed from `next` on, within the pixels [from, to); what lies outside goes to
// `beyond`. Marked edges have a negative strength.
void flood(float* thinned, int width, size_t from, size_t to, size_t next, std::vector<size_t>& edges,
           std::vector<size_t>& beyond) {
    Poll poll(4096);
    for (; next < edges.size(); ++next) {
        poll();
        // Thinned maps are zero on the outermost rows and columns, so every neighbour exists.
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const size_t j = edges[next] + static_cast<size_t>(static_cast<ptrdiff_t>(dy) * width + dx);
                if (j < from || j >= to) {
                    beyond.push_back(j);
                } else if (thinned[j] > 0) {
                    thinned[j] = -thinned[j];
                    edges.push_back(j);
                }
            }
    }
}

}  // namespace

// Bands of rows flood on their own; where an edge leaves its band, one flood over the whole image goes on.
std::vector<std::vector<size_t>> keep_connected(float* thinned, int height, int width, float high,
                                                const std::vector<size_t>& given) {
    constexpr int kRows = 128;
    const int count = (height + kRows - 1) / kRows;
    const size_t pixels = static_cast<size_t>(height) * width;
    std::vector<std::vector<size_t>> edges(count + 1), beyond(count);
    parallel_for(count, 0.5 * kRows * width, [&](int band) {
        const size_t from = static_cast<size_t>(band) * kRows * width;
        const size_t to = std::min(pixels, from + static_cast<size_t>(kRows) * width);
        for (size_t i = from; i < to; ++i) {
            if (!(thinned[i] > high)) continue;
            thinned[i] = -thinned[i];
            edges[band].push_back(i);
            flood(thinned, width, from, to, edges[band].size() - 1, edges[band], beyond[band]);
        }
    });
    std::vector<size_t> none;
    beyond.push_back(given);
    for (const std::vector<size_t>& seeds : beyond)
        for (const size_t j : seeds) {
            if (!(thinned[j] > 0)) continue;
            thinned[j] = -thinned[j];
            edges[count].push_back(j);
            flood(thinned, width, 0, pixels, edges[count].size() - 1, edges[count], none);
        }
    return edges;
}

namespace {

// Whether an edge pixel is the corner of a stair and may go: it has an edge beside it and one above or below, and its
// edge neighbours stay connected without it (Yokoi's connectivity number is 1).
bool is_spare_corner(const float* edges, size_t i, int width) {
    const ptrdiff_t w = width;
    const float* p = edges + i;
    const bool off[9] = {p[1] >= 0,     p[1 - w] >= 0, p[-w] >= 0,    p[-1 - w] >= 0, p[-1] >= 0,
                         p[w - 1] >= 0, p[w] >= 0,     p[w + 1] >= 0, p[1] >= 0};
    if ((off[0] && off[4]) || (off[2] && off[6])) return false;
    int parts = 0;
    for (int k = 0; k < 8; k += 2) parts += off[k] && !(off[k + 1] && off[k + 2]);
    return parts == 1;
}

}  // namespace

std::vector<size_t> remove_spare_corners(float* edges, const std::vector<std::vector<size_t>>& listed, int height,
                                         int width, int rounds) {
    std::vector<uint8_t> spare(static_cast<size_t>(height) * width, 0);  // of every pixel, kept up to date
    std::vector<std::vector<size_t>> found(listed.size());
    const double band_time = 1.0 * height * width / static_cast<double>(listed.size());
    parallel_for(static_cast<int>(listed.size()), band_time, [&](int band) {
        for (const size_t i : listed[band])
            if (is_spare_corner(edges, i, width)) {
                spare[i] = 1;
                found[band].push_back(i);
            }
    });
    std::vector<size_t> corners, going;
    for (const std::vector<size_t>& part : found) corners.insert(corners.end(), part.begin(), part.end());
    const ptrdiff_t w = width;
    const ptrdiff_t beside[4] = {1, -1, w, -w};
    const ptrdiff_t around[8] = {1, -1, w, -w, w + 1, w - 1, 1 - w, -1 - w};
    for (int round = 0; !corners.empty() && round != rounds; ++round) {
        check_interrupt();
        going.clear();
        for (const size_t i : corners) {
            bool weakest = true;
            for (const ptrdiff_t step : beside) {
                const size_t j = i + static_cast<size_t>(step);
                // Strengths are negative here: the weaker is the larger.
                if (spare[j]) weakest &= edges[i] > edges[j] || (edges[i] == edges[j] && i < j);
            }
            if (weakest) going.push_back(i);
        }
        for (const size_t i : going) {
            edges[i] = 0;
            spare[i] = 0;
        }
        // A removal can make its neighbours spare, or keep them.
        for (const size_t i : going)
            for (const ptrdiff_t step : around) {
                const size_t j = i + static_cast<size_t>(step);
                if (edges[j] >= 0) continue;
                const bool was = spare[j];
                spare[j] = is_spare_corner(edges, j, width);
                if (spare[j] && !was) corners.push_back(j);
            }
        corners.erase(std::remove_if(corners.begin(), corners.end(), [&](size_t i) { return !spare[i]; }),
                      corners.end());
    }
    return corners;
}

}  // namespace imtorque
