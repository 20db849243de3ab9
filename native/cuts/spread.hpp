// A mask and what is around it.
#pragma once

#include <cstdint>

namespace imtorque {

// Write 1 where a pixel of the mask lies no more than `reach` rows and columns away, else 0.
void spread(const uint8_t* mask, int height, int width, int reach, uint8_t* wide);

}  // namespace imtorque
