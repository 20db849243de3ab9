// Edge detection.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct Thresholds {
    double low, high;
    bool quantiles;  // low and high are quantiles of the gradient magnitude
    bool automatic;  // choose both from the histogram, as MATLAB's edge() does
};

// Canny's detector on a grey image with values in [0, 1]. Writes the gradient turned to the edge direction,
// (fx, fy) = (g_y, -g_x), at edge pixels and zero elsewhere.
void canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds, float* fx, float* fy);

// The thresholds that canny() chooses where they are automatic; both 0 for an image without gradients.
Thresholds automatic_thresholds(const float* image, int height, int width, double sigma);

// The gradient of the smoothed image, everywhere.
void smoothed_gradient(const float* image, int height, int width, double sigma, float* gx, float* gy);

// Keep strength where it is above `threshold` and not below its two interpolated neighbours along (gx, gy); else 0.
void suppress_non_maxima(const float* strength, const float* gx, const float* gy, int height, int width,
                         float threshold, float* thinned);

// The steps of Canny's detector, for those who take them in parts of a picture (edges/tiles.cpp).

constexpr int kBins = 64;  // of the magnitudes, from 0 to the largest
constexpr double kLowOfHigh = 0.4;

void smooth(const float* image, int height, int width, double sigma, float* out);

// Central differences, and their largest magnitude.
float gradient(const float* smoothed, int height, int width, float* gx, float* gy);

// |g|, 0 where it is the rounding error of a flat image; and the largest of them.
void gradient_magnitudes(const float* gx, const float* gy, int count, float* magnitude, float* largest);

// How many magnitudes lie in each of the bins.
std::vector<long long> count_magnitudes(const float* gx, const float* gy, long long count, float largest);

// suppress_non_maxima of the gradient's own magnitude.
void thin(const float* gx, const float* gy, int height, int width, float threshold, float* thinned);

// Grey = (luminance - offset) * scale. channels: 1 grey, 3 RGB, 4 RGBA laid over `white`.
template <class T>
void to_grey(const T* pixels, long long count, int channels, double white, double offset, double scale, float* grey);

// Turn gradients at edges into forces, in place: unit length, or length / strength_scale where that is positive;
// snapped to `directions` multiples of a turn where that is positive; divided by the larger component of the unit
// vector for arc length.
void shape_forces(float* fx, float* fy, long long count, double strength_scale, int directions, bool arc_length);

}  // namespace imtorque
