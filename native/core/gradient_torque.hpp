// Torque of the whole gradient field, from the image alone.
#pragma once

#include <vector>

namespace imtorque {

struct Box {
    int ry, rx;
};

// tau[k][y][x]; the image should be centred near zero, for the accuracy of its sums.
void gradient_torque(const double* image, int height, int width, const std::vector<Box>& boxes, float* tau);

// The same of disks.
void gradient_disks(const double* image, int height, int width, const std::vector<int>& radii, float* tau);

}  // namespace imtorque
