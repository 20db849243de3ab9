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

// The strength of the request.count-th strongest among some true extrema, found from a small copy of the field; 0 where
// it has found fewer.
float strength_of_some(const Field& field, const std::vector<Patch>& patches, const Request& request,
                       long long& visited);

}  // namespace imtorque
