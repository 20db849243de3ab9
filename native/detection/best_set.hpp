// The heaviest set of candidates no two of which exclude each other.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct Conflicts {
    const int32_t *first, *second;  // pairs that exclude each other
    long long count;
};

// Sets `chosen` to 1 for the members. Candidates without a positive weight are never chosen. Exact wherever at most
// `budget` branchings decide a group of candidates that hang together; returns whether that was so everywhere, else the
// groups left are settled by local search, which is never worse than taking the heaviest first.
bool best_set(const double* weight, int count, const Conflicts& conflicts, int budget, uint8_t* chosen);

}  // namespace imtorque
