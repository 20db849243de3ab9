// An edge field as the kernels see it, and its rounding to fixed point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
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
    const double* blocks;  // summed-area table of |Fx| + |Fy| over blocks of pixels, as `force_statistics` makes it
    bool fine = false;     // whether a rounded force may pass 2^22, where the quick rounding ends
    bool free = false;     // whether polarity counts for nothing: closure (free_tables.hpp) takes the place of torque
    double largest = 0;    // force component
};

// What a field's rounding and the bounds of its sums are derived from. All but the blocks can be merged from the parts
// of a field; imtorque.core.quantisation does so, and chooses the steps.
struct ForceStatistics {
    double largest = 0;                            // force component; infinite where one is infinite or not a number
    int top = 0, left = 0, bottom = 0, right = 0;  // where the forces are, half-open
    int grain = 0;                                 // every force component is a multiple of 2^grain
    std::vector<int> not_pell;  // the units 2^j, not below the forces, at which a component is not whole in Pell steps
    std::vector<std::pair<int, long long>> octaves;  // (e, pixels whose larger component lies in [2^e, 2^(e + 1)))
    std::vector<double> blocks;                      // block_rows(height) x block_rows(width)
};
ForceStatistics force_statistics(const float* fx, const float* fy, int height, int width);
// out = (a fx + b fy, c fx + d fy) at each pixel, in double precision, rounded once.
struct Turn {
    double a, b, c, d;
};
void turn_forces(const float* fx, const float* fy, size_t count, const Turn& turn, float* out_x, float* out_y);
constexpr int kMassBlock = 8;  // pixels, the side of a block
int block_rows(int length);    // of the table: one more than there are blocks

constexpr double kQuickRounding = 1 << 22;

// Round to nearest, ties to even, in any vector width: adding 1.5 * 2^23 leaves the integer in the mantissa. Valid
// below kQuickRounding.
IMTORQUE_INLINE int32_t round_quickly(float force, float steps) {
    const float shifted = force * steps + 12582912.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4B400000;
}

// The same by a double's mantissa: the product is rounded to float first, as above, so both give the same integer.
// Valid below 2^51.
IMTORQUE_INLINE int64_t round_force(float force, float steps) {
    const float product = force * steps;
    const double shifted = static_cast<double>(product) + 6755399441055744.0;
    int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4338000000000000;
}

// A patch: a box of (2 ry + 1) x (2 rx + 1) pixels, or the disk of radius ry = rx in it, and the factor that turns
// twice its integer moment into torque; of a free field, what four times its closure in units of force is divided by.
struct Patch {
    int ry, rx;
    float norm;
    double aspect = 1;  // height over width, also where the reaches have been clipped
};

// How wide the integers of a patch's sum must be.
enum class Width { bits32, bits64, bits64_long };  // _long: the sum may pass 2^51, where the quick conversion ends

// 64 bits hold every sum: imtorque.core.quantisation chooses no steps, and takes none, that let one pass 2^62.

Width width_of_sums(const Field& field, const Patch& patch);

// The largest sum of |Fx| + |Fy| over a box of a patch's size, anywhere in the field, or a little more.
double largest_mass(const Field& field, const Patch& patch);

}  // namespace imtorque
