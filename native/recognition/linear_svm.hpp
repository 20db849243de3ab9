// Linear support vector machines, one per class against the rest, from the matrix of inner products.
#pragma once

#include <cstdint>

namespace imtorque {

// Minimise over each machine's weights |w|^2 / 2 + cost * sum_i max(0, 1 - y_i w . x_i)^2, given k[i][j] = x_i . x_j,
// symmetric, n x n. y_i is +1 where label[i] is the machine's class and -1 elsewhere. coefficient[i][class], whose
// content is where the search begins (y_i times at least 0), becomes w = sum_i coefficient_i x_i. Stops when no
// coefficient's slope exceeds `tolerance`, or after `most` passes. Returns the passes made.
int train_linear_svms(const float* k, int n, const int32_t* label, int classes, double cost, double tolerance, int most,
                      float* coefficient);

}  // namespace imtorque
