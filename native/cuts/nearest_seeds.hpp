// Which seed each pixel is nearest to, walking over costly and cheap ground.
#pragma once

#include <cstdint>

namespace imtorque {

// A step between two of 8 neighbours costs the mean of their `cost` times its length. On entry `labels`, (height,
// width), holds the seeds' labels and 0 elsewhere; on return every pixel has the label of the seed it is cheapest to
// reach, of equally cheap ones the one whose wave came by the pixel of lowest index. Costs must be positive.
void nearest_seeds(const double* cost, int height, int width, int32_t* labels);

}  // namespace imtorque
