// One-to-one matching of boundary pixels to the pixels of a true boundary within a radius.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

// A sequence of boundary maps on one grid: the sorted flat indices of map m are pixels[starts[m]] ... pixels[starts[m +
// 1] - 1].
struct BoundaryMaps {
    const std::int32_t* pixels;
    const std::int64_t* starts;
    int count;
    int height, width;
};

// Which pixels may be matched. Vertices 0 ... left - 1 are the pixels that occur in any map of the sequence, the rest
// are the pixels of the truth. The neighbours of vertex v, nearest first, are entries first[v] ... first[v + 1] - 1.
struct CandidateGraph {
    int left;
    std::vector<std::int32_t> vertex_of_entry;  // for every entry of BoundaryMaps::pixels
    std::vector<std::int32_t> pixel;            // of every vertex
    std::vector<std::int64_t> first;
    std::vector<std::int32_t> neighbour;
    std::vector<std::int32_t> squared_distance;

    int vertices() const { return static_cast<int>(pixel.size()); }
};

CandidateGraph candidate_graph(const BoundaryMaps& maps, const std::uint8_t* truth, double radius);

// Match every map of the sequence to the truth; partner[i] is the flat index of the true pixel matched to entry i of
// maps.pixels, or -1. min_cost: the least sum of distances plus `outlier_cost` for every pair that could have been made
// and was not; cardinality: as many pairs as possible, whichever.
void match_min_cost(const BoundaryMaps& maps, const std::uint8_t* truth, double radius, double outlier_cost,
                    std::int32_t* partner);
void match_cardinality(const BoundaryMaps& maps, const std::uint8_t* truth, double radius, std::int32_t* partner);

}  // namespace imtorque
