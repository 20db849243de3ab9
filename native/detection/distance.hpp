// How far each pixel inside a mask is from the ground.
#pragma once

#include <cstdint>

namespace imtorque {

// Euclidean distance of each pixel where `inside` is not 0 to the nearest where it is; 0 on the ground. Without any
// ground, the distances are those to a ground beyond the far corner.
void distance_transform(const uint8_t* inside, int height, int width, float* distance);

}  // namespace imtorque
