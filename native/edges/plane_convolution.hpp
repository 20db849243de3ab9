// Convolution of planes, as the layers of a small network need it.
#pragma once

namespace imtorque {

// Planes (channels, height, width) to `outputs` planes of the same size:
//
//     out[o, y, x] = bias[o] + added[o, y, x] + sum over c, i, j of weight[o, c, i, j] in[c, y + i - r, x + j - r]
//
// and where `rectified` 0 instead of what is negative. Windows have a `side` = 2 r + 1 of 1 or 3; outside the planes
// there is nothing; `added` may be null. Terms are added in the order of c, i, j, one sum in one lane of a vector, so
// that all processors and numbers of threads give the same bits. Naive twin: naive_detectors.convolve_planes.
struct PlaneConvolution {
    const float* in;
    int channels, height, width;
    const float* weight;
    int outputs, side;
    const float* bias;
    const float* added;
    bool rectified;
    float* out;
};
void convolve_planes(const PlaneConvolution& job);

}  // namespace imtorque
