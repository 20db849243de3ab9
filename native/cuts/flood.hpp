// Parts of a mask that hold a seed.
#pragma once

#include <cstdint>

namespace imtorque {

// Write 1 where a way over pixels of the mask, from neighbour to neighbour across sides, leads to a seed in it, else 0.
void flood(const uint8_t* mask, const uint8_t* seeds, int height, int width, uint8_t* reached);

// Write 1 in the mask and where no way over other pixels, from neighbour to neighbour across sides, leads to the
// border.
void fill_holes(const uint8_t* mask, int height, int width, uint8_t* filled);

}  // namespace imtorque
