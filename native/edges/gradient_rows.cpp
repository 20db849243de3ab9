#include "edges/gradient_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kBlock = 8;           // rows smoothed down at a time: they share what they load
constexpr int kChunk = 4 * kLanes;  // pixels summed at a time, in registers

int clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// out[x] = sum over i of kernel[|i|] * taps[i][x], for a chunk from `from` on. Opposite neighbours are added before
// they are weighted, so that a mirrored image gives the mirrored result. taps[0] is the centre.
IMTORQUE_INLINE void convolve_chunk(const float* const* taps, const float* kernel, int radius, int from, float* out) {
    Lanes<float> sum[4], a, b;
    for (int j = 0; j < 4; ++j) {
        load(taps[0] + from + j * kLanes, a);
        sum[j] = kernel[0] * a;
    }
    for (int i = 1; i <= radius; ++i) {
        const float *before = taps[-i] + from, *after = taps[i] + from;
        for (int j = 0; j < 4; ++j) {
            load(before + j * kLanes, a);
            load(after + j * kLanes, b);
            sum[j] += kernel[i] * (a + b);
        }
    }
    std::memcpy(out + from, sum, sizeof sum);
}

// Rows out[0], ..., out[count - 1], of `width` pixels, a multiple of kChunk; taps[r] is the centre of row r.
IMTORQUE_INLINE void convolve_impl(const float* const* taps, const float* kernel, int radius, int width, int count,
                                   float* const* out) {
    for (int from = 0; from < width; from += kChunk)
        for (int r = 0; r < count; ++r) convolve_chunk(taps + r, kernel, radius, from, out[r]);
}
IMTORQUE_DISPATCH_REGISTERS(static, convolve,
                            (const float* const* taps, const float* kernel, int radius, int width, int count,
                             float* const* out),
                            (taps, kernel, radius, width, count, out))

IMTORQUE_INLINE void differences_impl(const float* above, const float* row, const float* below, int width,
                                      float* __restrict gx, float* __restrict gy) {
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) gy[x] = 0.5f * (below[x] - above[x]);
    IMTORQUE_IVDEP
    for (int x = 1; x < width - 1; ++x) gx[x] = 0.5f * (row[x + 1] - row[x - 1]);
    gx[0] = width > 1 ? 0.5f * (row[1] - row[0]) : 0.0f;
    if (width > 1) gx[width - 1] = 0.5f * (row[width - 1] - row[width - 2]);
}
IMTORQUE_DISPATCH(static, differences,
                  (const float* above, const float* row, const float* below, int width, float* gx, float* gy),
                  (above, row, below, width, gx, gy))

}  // namespace

std::vector<float> gaussian(double sigma) {
    const int radius = std::max(1, static_cast<int>(std::ceil(4 * sigma)));
    std::vector<double> w(radius + 1);
    double sum = 0;
    for (int i = 0; i <= radius; ++i) {
        w[i] = std::exp(-0.5 * i * i / (sigma * sigma));
        sum += i ? 2 * w[i] : w[i];
    }
    std::vector<float> kernel(w.size());
    for (size_t i = 0; i < w.size(); ++i) kernel[i] = static_cast<float>(w[i] / sum);
    return kernel;
}

GradientRows::GradientRows(const float* image, int height, int width, const std::vector<float>& kernel)
    : image_(image),
      height_(height),
      width_(width),
      kernel_(kernel),
      radius_(static_cast<int>(kernel.size()) - 1),
      held_(std::min(2 * radius_ + kBlock, height)),
      across_(held_, width),
      smoothed_(2 * kBlock, width),
      gx_(2, width),
      gy_(2, width),
      padded_(static_cast<size_t>(across_.whole()) + 2 * radius_),
      taps_(2 * static_cast<size_t>(radius_) + kBlock) {}

void GradientRows::smooth_across(int y) {
    const float* row = image_ + static_cast<size_t>(y) * width_;
    std::fill_n(padded_.begin(), radius_, row[0]);
    std::copy_n(row, width_, padded_.begin() + radius_);
    std::fill(padded_.begin() + radius_ + width_, padded_.end(), row[width_ - 1]);
    for (int i = 0; i <= 2 * radius_; ++i) taps_[i] = padded_.data() + i;
    float* const out[1] = {across_.row(y % held_)};
    convolve(taps_.data() + radius_, kernel_.data(), radius_, across_.whole(), 1, out);
}

void GradientRows::smooth_down(int first, int count) {
    float* out[kBlock];
    for (int i = 0; i < count + 2 * radius_; ++i) taps_[i] = across_.row(clamp(first - radius_ + i, height_) % held_);
    for (int r = 0; r < count; ++r) out[r] = smoothed_.row((first + r) % (2 * kBlock));
    convolve(taps_.data() + radius_, kernel_.data(), radius_, across_.whole(), count, out);
}

void GradientRows::run(int top, int bottom, const Use& use) {
    const int first = std::max(top - 1, 0), end = std::min(bottom + 1, height_);  // of the smoothed rows
    int read = clamp(first - radius_, height_), y = top;
    for (int from = first; from < end; from += kBlock) {
        const int to = std::min(from + kBlock, end);
        for (; read <= clamp(to - 1 + radius_, height_); ++read) {
            check_interrupt();
            smooth_across(read);
        }
        smooth_down(from, to - from);
        for (; y < bottom && clamp(y + 1, height_) < to; ++y) {
            const auto row = [&](int v) { return smoothed_.row(clamp(v, height_) % (2 * kBlock)); };
            differences(row(y - 1), row(y), row(y + 1), width_, gx_.row(y % 2), gy_.row(y % 2));
            use(y, gx_.row(y % 2), gy_.row(y % 2));
        }
    }
}

}  // namespace imtorque
