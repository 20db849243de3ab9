// Edge detection.
#pragma once

#include <cstdint>

#include "core/forces.hpp"

namespace imtorque {

struct Thresholds {
    double low, high;
    bool quantiles;  // low and high are quantiles of the gradient magnitude
    bool automatic;  // choose both from the histogram, as MATLAB's edge() does
};

// Canny's detector on a grey image with values in [0, 1]. Writes the gradient turned to the edge direction,
// (fx, fy) = (g_y, -g_x), at edge pixels and zero elsewhere; with `scale` 0 its direction alone, as a unit vector, with
// a positive one over it, with a negative one as it is. Returns what `survey` finds in these forces.
Survey canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds, double scale,
             float* fx, float* fy);

// The thresholds that canny() chooses where they are automatic; both 0 for an image without gradients.
Thresholds automatic_thresholds(const float* image, int height, int width, double sigma);

// The gradient of the smoothed image, everywhere.
void smoothed_gradient(const float* image, int height, int width, double sigma, float* gx, float* gy);

// Keep strength where it is above `threshold` and not below its two interpolated neighbours along (gx, gy); else 0.
void suppress_non_maxima(const float* strength, const float* gx, const float* gy, int height, int width,
                         float threshold, float* thinned);

constexpr int kBins = 64;  // of the magnitudes, from 0 to the largest
constexpr double kLowOfHigh = 0.4;

// Grey = (luminance - offset) * scale. channels: 1 grey, 3 RGB, 4 RGBA laid over `white`.
template <class T>
void to_grey(const T* pixels, long long count, int channels, double white, double offset, double scale, float* grey);

// Turn gradients at edges into forces, in place: unit length, or length / strength_scale where that is positive;
// snapped to `directions` multiples of a turn where that is positive; divided by the larger component of the unit
// vector for arc length.
void shape_forces(float* fx, float* fy, long long count, double strength_scale, int directions, bool arc_length);

}  // namespace imtorque
