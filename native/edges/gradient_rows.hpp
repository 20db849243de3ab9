// Central differences of an image smoothed by a Gaussian, row by row: what a row needs of its neighbours is kept in a
// few rows that stay in cache, so no plane of the image's size is written.
#pragma once

#include <functional>
#include <vector>

#include "core/bit_words.hpp"

namespace imtorque {

// Rows of floats, zero at first and padded to whole words, that may be read one pixel to the left of their first and,
// to the right, up to one pixel beyond the last whole word.
class RowBuffer {
  public:
    RowBuffer(int rows, int width)
        : stride_((width + kWord - 1) / kWord * kWord + 2 * kLanes),
          values_(static_cast<size_t>(rows) * stride_, 0.0f) {}
    float* row(int i) { return values_.data() + static_cast<size_t>(i) * stride_ + kLanes; }
    int whole() const { return static_cast<int>(stride_) - 2 * kLanes; }  // pixels, a multiple of kWord

  private:
    size_t stride_;
    std::vector<float> values_;
};

// One side of a Gaussian, normalised over both; [0] at the centre.
std::vector<float> gaussian(double sigma);

class GradientRows {
  public:
    // Called with y, gx and gy; a row and the one before it stay, padded as those of a RowBuffer are.
    using Use = std::function<void(int, const float*, const float*)>;

    GradientRows(const float* image, int height, int width, const std::vector<float>& kernel);

    // The rows from `top` to before `bottom`, in order. Beyond the border the image repeats its border pixels, and so
    // does the smoothed one.
    void run(int top, int bottom, const Use& use);

  private:
    void smooth_across(int y);
    void smooth_down(int first, int count);

    const float* image_;
    int height_, width_;
    const std::vector<float>& kernel_;
    int radius_, held_;  // `held_` rows smoothed across are kept at a time
    RowBuffer across_, smoothed_, gx_, gy_;
    std::vector<float> padded_;
    std::vector<const float*> taps_;
};

}  // namespace imtorque
