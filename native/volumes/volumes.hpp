// Torque in volumes: boxes around every voxel, by summed-volume tables kept for a slab of slices.
//
// A field holds at each voxel q a vector g(q) towards the brighter side. The torque of a box P about its centre p is
//     tau(P) = -1 / (3 Z) * sum over q in P of (q - p) . g(q),
// the part of the box that is enclosed by bright surfaces. In the plane the same sum is the moment of the forces.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct Grid {
    int depth, height, width;
    long long plane() const { return static_cast<long long>(height) * width; }
};

struct VolumeField {
    const float *gz, *gy, *gx;
    Grid grid;
    float steps;  // of the rounding: g -> round(g * steps)
};

// A box of (2 rz + 1) x (2 ry + 1) x (2 rx + 1) voxels, and the factor that turns its integer sum into torque.
struct VolumeBox {
    int rz, ry, rx;
    float norm;
};

struct VolumeExtremum {
    float value;
    int32_t k, z, y, x;
};

// tau[k][z][y][x] of all boxes. `wide`: sums may pass 31 bits.
void volume_torque(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide, float* tau);

// The torque of largest magnitude at each voxel, and the label of its box with the torque's sign (0 where it is 0); the
// first of equal magnitudes is kept.
void volume_value_and_scale(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide,
                            const int32_t* labels, float* value, int32_t* scale);

// Local extrema over size and place, sorted by falling |value|, then by (k, z, y, x): not below any of the up to 80
// neighbours and above one; of adjacent equal ones the first stands for all. sign: +1 maxima, -1 minima, 0 both.
std::vector<VolumeExtremum> volume_extrema(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide,
                                           int sign, float least);

// Gradient torque: the mean of a box minus a third of the mean of either pair of faces just outside it. `image` holds
// whole numbers; beyond the border it repeats its border voxels. norm is not used.
void volume_gradient_torque(const int32_t* image, Grid grid, const std::vector<VolumeBox>& boxes, double unit,
                            float* tau);
std::vector<VolumeExtremum> volume_gradient_extrema(const int32_t* image, Grid grid,
                                                    const std::vector<VolumeBox>& boxes, double unit, int sign,
                                                    float least);

// Keep strength where it is above `threshold`, not below its neighbour behind and above its neighbour ahead, along the
// axis of the largest of gz, gy, gx and in its direction; else 0. The outermost voxels become 0.
void volume_thin(const float* strength, const float* gz, const float* gy, const float* gx, Grid grid, float threshold,
                 float* thinned);

// Which boxes (centres and sides, three numbers each) to keep, in the given order: a box goes when it shares more than
// `overlap` of the smaller one's volume with a kept box of the same sign.
std::vector<bool> volume_suppress(const int64_t* centre, const int64_t* side, const float* value, int count,
                                  double overlap);

}  // namespace imtorque
