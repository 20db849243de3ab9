// The sums of forces and their first moments in single boxes.
#pragma once

#include "core/forces.hpp"

namespace imtorque {

// Centres and sides of boxes, which may reach beyond the image.
struct Boxes {
    const int64_t *y, *x, *height, *width;
    long long count;
};

// sums[k] = (sum of Fx, Fy, dx Fx, dx Fy, dy Fx, dy Fy) over box k, with (dx, dy) the lever from its centre.
void moments_at(const Field& field, const Boxes& boxes, double* sums);

}  // namespace imtorque
