// Histograms of gradient directions over patches of a grid.
#pragma once

namespace imtorque {

constexpr int kSiftCells = 4;  // a side
constexpr int kSiftLength = kSiftCells * kSiftCells * 8;

// For patches of `size` x `size` pixels (a multiple of 4) whose first pixels are top[i], left[j], the sums of eight
// directions of gradient over 4 x 4 cells: out[i][j][cell][direction].
void direction_histograms(const float* gx, const float* gy, int height, int width, int size, const int* top, int rows,
                          const int* left, int columns, float* out);

}  // namespace imtorque
