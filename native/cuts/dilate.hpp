// Dilation of a mask by a square.
#pragma once

#include <cstdint>

namespace imtorque {

// Write 1 where a pixel of the mask lies no more than `radius` rows and columns away, else 0.
void dilate(const uint8_t* mask, int height, int width, int radius, uint8_t* dilated);

}  // namespace imtorque
