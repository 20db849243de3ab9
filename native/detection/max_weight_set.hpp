// Maximum-weight independent set of a conflict graph.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct Conflicts {
    const int32_t *first, *second;  // pairs that exclude each other
    long long count;
};

// Set `selected` to 1 for the members. Vertices without a positive weight are never selected. Exact where at most
// `budget` branchings solve a connected component; returns whether that held everywhere. Other components are solved by
// local search, which is never worse than the greedy choice by weight.
bool max_weight_set(const double* weight, int count, const Conflicts& conflicts, int budget, uint8_t* selected);

}  // namespace imtorque
