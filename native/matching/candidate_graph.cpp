// The pairs of pixels, one of a prediction and one of the truth, at most `radius` apart. It is built once for all maps
// of a sequence (the thresholds of one boundary map share most of their pixels), in compressed rows for both sides, so
// that a matching walks over short contiguous lists.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "matching/boundary_matching.hpp"

namespace imtorque {
namespace {

struct Offset {
    int y, x, squared;
};

std::vector<Offset> offsets_within(double radius) {
    std::vector<Offset> offsets;
    const int reach = static_cast<int>(std::ceil(radius));
    for (int y = -reach; y <= reach; ++y)
        for (int x = -reach; x <= reach; ++x)
            if (y * y + x * x <= radius * radius) offsets.push_back({y, x, y * y + x * x});
    std::stable_sort(offsets.begin(), offsets.end(),
                     [](const Offset& a, const Offset& b) { return a.squared < b.squared; });
    return offsets;
}

// Append the neighbours of one pixel on the other side, whose vertices are on the grid (-1: none).
void append_neighbours(CandidateGraph& graph, int pixel, const std::vector<std::int32_t>& grid, int height, int width,
                       const std::vector<Offset>& offsets) {
    const int py = pixel / width, px = pixel % width;
    for (const Offset& offset : offsets) {
        const int y = py + offset.y, x = px + offset.x;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        const std::int32_t vertex = grid[static_cast<std::size_t>(y) * width + x];
        if (vertex < 0) continue;
        graph.neighbour.push_back(vertex);
        graph.squared_distance.push_back(offset.squared);
    }
    graph.first.push_back(static_cast<std::int64_t>(graph.neighbour.size()));
}

}  // namespace

CandidateGraph candidate_graph(const BoundaryMaps& maps, const std::uint8_t* truth, double radius) {
    const std::size_t area = static_cast<std::size_t>(maps.height) * maps.width;
    const std::int64_t entries = maps.starts[maps.count];
    CandidateGraph graph;
    std::vector<std::int32_t> left_grid(area, -1), right_grid(area, -1);
    for (std::int64_t i = 0; i < entries; ++i) left_grid[maps.pixels[i]] = 0;
    for (std::size_t pixel = 0; pixel < area; ++pixel)
        if (left_grid[pixel] == 0) {
            left_grid[pixel] = graph.vertices();
            graph.pixel.push_back(static_cast<std::int32_t>(pixel));
        }
    graph.left = graph.vertices();
    for (std::size_t pixel = 0; pixel < area; ++pixel)
        if (truth[pixel]) {
            right_grid[pixel] = graph.vertices();
            graph.pixel.push_back(static_cast<std::int32_t>(pixel));
        }
    graph.vertex_of_entry.resize(entries);
    for (std::int64_t i = 0; i < entries; ++i) graph.vertex_of_entry[i] = left_grid[maps.pixels[i]];

    const std::vector<Offset> offsets = offsets_within(radius);
    graph.first.push_back(0);
    Poll poll(64);
    for (int v = 0; v < graph.vertices(); ++v) {
        poll();
        append_neighbours(graph, graph.pixel[v], v < graph.left ? right_grid : left_grid, maps.height, maps.width,
                          offsets);
    }
    return graph;
}

}  // namespace imtorque
