// Order statistics of a plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imtorque {

// For each rank, from 0 for the smallest, the value that has it among `count` of them; ranks must be less than `count`,
// and no value may be NaN.
std::vector<float> order_statistics(const float* values, std::size_t count, const std::vector<int64_t>& ranks);

}  // namespace imtorque
