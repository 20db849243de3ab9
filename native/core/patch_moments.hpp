// The four first moments of every box.
#pragma once

#include "core/torque.hpp"

namespace imtorque {

// moments[k][y][x] for k = xx, xy, yx, yy: the sums of (q - p)_i F_j over the box of a patch around every pixel.
void patch_moments(const Field& field, const Patch& patch, float* moments);

}  // namespace imtorque
