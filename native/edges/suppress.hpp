// Magnitudes of gradients, and which of them are maxima across the edge.
#pragma once

#include <cstdint>

namespace imtorque {

// |g|, 0 where it is the rounding error of a flat image; and the largest of them.
void gradient_magnitudes(const float* gx, const float* gy, int count, float* magnitude, float* largest);

constexpr float kNoise = 1e-6f;  // gradients below this are rounding errors of a flat [0, 1] image

// A row of strengths between its neighbours, and the gradient there with its length. All are padded as the rows of a
// RowBuffer are, with zeros. Without a gradient (nullptr) the strengths are those of maxima alone.
struct Strengths {
    const float *above, *row, *below, *gx, *gy, *length;
};

// Marks of a row's pixels, 64 in a word.
struct Marks {
    uint64_t* maximum;        // the strength is above a threshold and a maximum along the gradient
    uint64_t *right, *below;  // not stronger than the neighbour there; of maxima alone
};

// The threshold is not negative. The first and the last of the `width` pixels are no maxima.
void mark_maxima(const Strengths& strengths, int width, float threshold, const Marks& marks);

}  // namespace imtorque
