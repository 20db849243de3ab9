// A plane smoothed along both axes.
#pragma once

#include <vector>

namespace imtorque {

// Correlates the columns, then the rows, with a symmetric kernel whose middle and right half are given. Beyond the
// border the plane is mirrored, border pixels included. Sums are doubles, the plane between the passes is floats.
void smooth_plane(const float* plane, int height, int width, const std::vector<double>& weights, float* out);

// The mean of `size` columns, then rows, of the same plane so mirrored; of an even number the middle is the second
// half's first. Means are doubles, the plane between the passes is floats.
void box_mean(const float* plane, int height, int width, int size, float* out);

}  // namespace imtorque
