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

// What becomes of a gradient at an edge: a unit vector where `scale` is 0, the gradient over it where it is positive,
// itself where it is negative, with nothing else then; snapped to `directions` multiples of a turn where that is
// positive; divided by the larger component of the unit vector for arc length.
struct Shaping {
    double scale;
    int directions = 0;
    bool arc_length = false;
    bool simple() const { return directions == 0 && !arc_length; }
};
constexpr Shaping kAsIs{-1};

// Canny's detector on a grey image with values in [0, 1]. Writes the gradient turned to the edge direction,
// (fx, fy) = (g_y, -g_x), and shaped, at edge pixels and zero elsewhere. Returns what `force_statistics` finds in these
// forces.
ForceStatistics canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds,
                      const Shaping& shaping, float* fx, float* fy);

// The thresholds that canny() chooses where they are automatic; both 0 for an image without gradients.
Thresholds automatic_thresholds(const float* image, int height, int width, double sigma);

// The gradient of the smoothed image, everywhere.
void smoothed_gradient(const float* image, int height, int width, double sigma, float* gx, float* gy);

// Keep strength where it is above `threshold` and not below its two interpolated neighbours along (gx, gy); else 0.
void suppress_non_maxima(const float* strength, const float* gx, const float* gy, int height, int width,
                         float threshold, float* thinned);

constexpr int kBins = 64;           // of the magnitudes, from 0 to the largest
constexpr double kLowOfHigh = 0.4;  // low over high threshold, as in MATLAB

// Grey = (luminance - offset) * scale. channels: 1 grey, 3 RGB, 4 RGBA laid over `white`.
template <class T>
void to_grey(const T* pixels, long long count, int channels, double white, double offset, double scale, float* grey);

// Turn gradients at edges into forces, in place; the scale must not be negative.
void shape_forces(float* fx, float* fy, long long count, const Shaping& shaping);

// The same for one that is not 0.
void shape_force(float& fx, float& fy, const Shaping& shaping);

}  // namespace imtorque
