// An edge field as the kernels see it, and its rounding to fixed point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/simd.hpp"

namespace imtorque {

// Forces are rounded once, to integers: F -> round(F * steps). `steps` depends on the field alone, never on the sizes
// asked for, the tiling or the integer width, so every function sees the same rounded forces.
struct Field {
    const float* fx;
    const float* fy;
    int height, width;
    double steps;
    const double* blocks;  // summed-area table of |Fx| + |Fy| over blocks of pixels, as `survey` makes it
};

// What a field's rounding and the bounds of its sums rest on, from one pass over it.
struct Survey {
    double largest;  // force component; infinite where one is infinite or not a number
    double steps;
    std::vector<double> blocks;  // block_rows(height) x block_rows(width)
};
Survey survey(const float* fx, const float* fy, int height, int width);
int block_rows(int length);  // of the table: one more than there are blocks

// Round to nearest, ties to even, in any vector width: adding 1.5 * 2^23 leaves the integer in the mantissa. Valid below
// 2^22, and |F * steps| stays within 2^21.
IMTORQUE_INLINE int32_t round_force(float force, float steps) {
    const float shifted = force * steps + 12582912.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4B400000;
}

// A patch: a box of (2 ry + 1) x (2 rx + 1) pixels, or the disk of radius ry = rx in it, and the factor that turns
// twice its integer moment into torque.
struct Patch {
    int ry, rx;
    float norm;
};

// How wide the integers of a patch's sum must be.
enum class Width { bits32, bits64, bits64_long };  // _long: the sum may pass 2^51, where the quick conversion ends

Width width_of_sums(const Field& field, const Patch& patch);

}  // namespace imtorque
