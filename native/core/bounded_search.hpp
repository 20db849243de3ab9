// The strongest extrema without the whole volume. Squares only.
#pragma once

#include <vector>

#include "core/extrema.hpp"

namespace imtorque {

// Adds all extrema as strong as the request.count-th strongest, and perhaps some weaker ones; counts the patches whose
// torque was computed. Returns false, and adds nothing, where bounds cannot help.
bool search_bounded(const Field& field, const std::vector<Patch>& patches, const Request& request,
                    std::vector<UnmergedExtremum>& found, long long& visited);

// Search by bounds also where other methods are likely to be faster; for tests.
void force_bounded_search(bool yes);

// How strong the request.count-th strongest extremum may be, from a small copy of the field: an estimate, no bound.
float estimated_strength(const Field& field, const std::vector<Patch>& patches, const Request& request);

}  // namespace imtorque
