// Oriented gradients of histograms: how unlike the two halves of a disc are.
#pragma once

#include <cstdint>

namespace imtorque {

constexpr int kOrientations = 8;  // as cues.ORIENTATIONS in Python
constexpr int kMostBins = 64;
constexpr int kMostRadius = 30;  // keeps smoothed sums within 16 bits

// chi^2 distance of the histograms of bin numbers in the two halves of a disc, cut along each of 8 orientations.
//
// `bins` is an image of bin numbers below `count`, with a border of `radius` pixels on all sides: of height + 2 radius
// rows. Pixels on the cut count half on both sides, the middle one not at all. Histograms are smoothed along the bins
// by two running means over 2 reach + 1 bins. Every step-th row and column gets an answer: `gradients` holds 8 planes
// of ceil(height / step) x ceil(width / step) in [0, 1]; plane k is for edges of angle k pi / 8. Naive twin:
// naive_detectors.half_disc_gradients.
void half_disc_gradients(const uint8_t* bins, int height, int width, int count, int radius, int reach, int step,
                         float* gradients);

// out[y, x] = sum over taps i of weight[i] plane[y + dy[i], x + dx[i]]; `plane` has a border of `border` pixels.
void correlate(const float* plane, int height, int width, int border, const int32_t* dy, const int32_t* dx,
               const float* weight, int taps, float* out);

}  // namespace imtorque
