// The strongest extrema without the whole volume. Squares only.
#pragma once

#include <vector>

#include "core/extrema.hpp"

namespace imtorque {

// Adds all extrema as strong as the request.count-th strongest, and perhaps some weaker ones; counts the patches whose
// torque was computed. Returns false, and adds nothing, where bounds cannot help.
bool search_bounded(const Field& field, const std::vector<Patch>& patches, const Request& request,
                    std::vector<Found>& found, long long& visited);

// Also where other ways are likely to be faster; for tests.
void always_bound(bool yes);

// How strong the request.count-th strongest extremum may be, from a small copy of the field: a guess, no bound.
float guessed_strength(const Field& field, const std::vector<Patch>& patches, const Request& request);

}  // namespace imtorque
