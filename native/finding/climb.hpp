// Which hill of a plane each pixel stands on.
#pragma once

#include <cstdint>

namespace imtorque {

// Pixels where `inside` is not 0 climb to the highest of their eight neighbours inside until none is higher; those that
// reach one summit get its number, from 1 in order of the summits' places; others 0. Returns the number of summits.
int32_t climb(const float* plane, const uint8_t* inside, int height, int width, int32_t* labels);

}  // namespace imtorque
