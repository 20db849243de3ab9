// How well the edges around every pixel fit a shape: sums over the cells of a patch, against their expected values.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

// The cells of a patch: their borders as offsets from its centre, increasing, one more than there are cells; and the
// weights of the two channels, rows x columns each.
struct ShapeCells {
    std::vector<int32_t> down, across;
    const float *first, *second;
};

// response[y][x] = sum over cells of w . S / sqrt(sum over cells of |S|^2 + floor^2), where S is the sum of the two
// channels in the cell around (y, x), in steps. Outside the image both are 0.
void shape_response(const int32_t* first, const int32_t* second, int height, int width, const ShapeCells& cells,
                    float floor, float* response);

}  // namespace imtorque
