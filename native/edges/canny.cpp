// Canny's edge detector (1986): Gaussian smoothing, central differences, non-maximum suppression against neighbours
// interpolated along the gradient, hysteresis, and the removal of stair corners. Naive twin: naive.canny.
#include "edges/canny.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "edges/hysteresis.hpp"

namespace imtorque {
namespace {

constexpr float kNoise = 1e-6f;  // gradients below this are rounding errors of a flat [0, 1] image
constexpr float kTie = 1e-5f;    // relative difference below which two neighbours count as equal
constexpr int kBandRows = 32;

std::vector<float> gaussian(double sigma) {  // w[0] at the centre, one side, normalised over both
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

int bands(int height) { return (height + kBandRows - 1) / kBandRows; }
int clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

constexpr int kChunk = 4 * kLanes;  // pixels summed at a time, in registers

// out[x] = sum over i of kernel[|i|] * taps[i][x]. Opposite neighbours are added before they are weighted, so that a
// mirrored image gives the mirrored result. `width` is a multiple of kChunk; taps point to the centre.
IMTORQUE_INLINE void convolve_impl(const float* const* taps, const float* kernel, int radius, int width, float* out) {
    for (int from = 0; from < width; from += kChunk) {
        Lanes<float> sum[4], a, b;
        for (int j = 0; j < 4; ++j) {
            load(taps[0] + from + j * kLanes, a);
            sum[j] = kernel[0] * a;
        }
        for (int i = 1; i <= radius; ++i) {
            const float *left = taps[-i] + from, *right = taps[i] + from;
            for (int j = 0; j < 4; ++j) {
                load(left + j * kLanes, a);
                load(right + j * kLanes, b);
                sum[j] += kernel[i] * (a + b);
            }
        }
        std::memcpy(out + from, sum, sizeof sum);
    }
}
IMTORQUE_DISPATCH(static, convolve, (const float* const* taps, const float* kernel, int radius, int width, float* out),
                  (taps, kernel, radius, width, out))

}  // namespace

// Beyond the border the image repeats its border pixels.
void smooth(const float* image, int height, int width, double sigma, float* out) {
    const std::vector<float> kernel = gaussian(sigma);
    const int radius = static_cast<int>(kernel.size()) - 1;
    const int whole = (width + kChunk - 1) / kChunk * kChunk;
    parallel_for(bands(height), 2.0 * (radius + 1) * kBandRows * width, [&](int band) {
        const int top = band * kBandRows, bottom = std::min(top + kBandRows, height);
        const int first = clamp(top - radius, height), last = clamp(bottom - 1 + radius, height);
        std::vector<float> padded(static_cast<size_t>(whole) + 2 * radius), result(whole);
        std::vector<float> across(static_cast<size_t>(last - first + 1) * whole);
        std::vector<const float*> storage(2 * radius + 1);
        const float** taps = storage.data() + radius;
        for (int i = -radius; i <= radius; ++i) taps[i] = padded.data() + radius + i;
        for (int y = first; y <= last; ++y) {
            const float* row = image + static_cast<size_t>(y) * width;
            std::fill_n(padded.begin(), radius, row[0]);
            std::copy_n(row, width, padded.begin() + radius);
            std::fill(padded.begin() + radius + width, padded.end(), row[width - 1]);
            convolve(taps, kernel.data(), radius, whole, &across[static_cast<size_t>(y - first) * whole]);
        }
        for (int y = top; y < bottom; ++y) {
            for (int i = -radius; i <= radius; ++i)
                taps[i] = &across[static_cast<size_t>(clamp(y + i, height) - first) * whole];
            convolve(taps, kernel.data(), radius, whole, result.data());
            std::copy_n(result.begin(), width, out + static_cast<size_t>(y) * width);
        }
    });
}

namespace {

// One row of central differences; beyond the border the image repeats.
IMTORQUE_INLINE void gradient_row_impl(const float* above, const float* row, const float* below, int width,
                                       float* __restrict gx, float* __restrict gy) {
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) gy[x] = 0.5f * (below[x] - above[x]);
    IMTORQUE_IVDEP
    for (int x = 1; x < width - 1; ++x) gx[x] = 0.5f * (row[x + 1] - row[x - 1]);
    gx[0] = width > 1 ? 0.5f * (row[1] - row[0]) : 0.0f;
    if (width > 1) gx[width - 1] = 0.5f * (row[width - 1] - row[width - 2]);
}

// Gradient magnitudes, and the largest of them. They are computed anew where they are needed: that is quicker than to
// store and load a plane of them.
IMTORQUE_INLINE void magnitudes_impl(const float* gx, const float* gy, int count, float* __restrict magnitude,
                                     float* largest) {
    int32_t top = 0;  // as bits: non-negative floats have the order of their bits, and integer maxima vectorise
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        const float m = std::sqrt(gx[x] * gx[x] + gy[x] * gy[x]);
        const float kept = m < kNoise ? 0.0f : m;
        int32_t bits;
        std::memcpy(&bits, &kept, sizeof bits);
        magnitude[x] = kept;
        top = bits > top ? bits : top;
    }
    std::memcpy(largest, &top, sizeof top);
}
IMTORQUE_DISPATCH(static, magnitudes, (const float* gx, const float* gy, int count, float* magnitude, float* largest),
                  (gx, gy, count, magnitude, largest))

struct Rows {  // a row of an image and its neighbours, repeating at the border
    const float *above, *here, *below;
    Rows(const float* image, int y, int height, int width)
        : above(image + static_cast<size_t>(clamp(y - 1, height)) * width),
          here(image + static_cast<size_t>(y) * width),
          below(image + static_cast<size_t>(clamp(y + 1, height)) * width) {}
};

// Compare each pixel with the strength one pixel along the gradient and one pixel against it, interpolated between the
// four pixels around either point. (Points on the ring of eight neighbours, the cheaper habit, lie 1.4 pixels away on
// diagonals and leave those two pixels wide.) Of two equal neighbours across an edge the one on the bright side stays:
// a rule that turns and mirrors with the image.
IMTORQUE_INLINE void thin_row_impl(const float* above, const float* row, const float* below, const float* gx,
                                   const float* gy, int width, float threshold, float* __restrict thinned) {
    thinned[0] = thinned[width - 1] = 0;
    IMTORQUE_IVDEP
    for (int x = 1; x < width - 1; ++x) {
        const float length = std::sqrt(gx[x] * gx[x] + gy[x] * gy[x]);
        const float across = std::fabs(gx[x]) / length, down = std::fabs(gy[x]) / length;
        const bool right = gx[x] > 0, lower = gy[x] > 0;
        const float e = row[x + 1], w = row[x - 1], n = above[x], s = below[x];
        const float ne = above[x + 1], nw = above[x - 1], se = below[x + 1], sw = below[x - 1];
        const float ahead_x = right ? e : w, behind_x = right ? w : e;
        const float ahead_y = lower ? s : n, behind_y = lower ? n : s;
        const float ahead_xy = lower ? (right ? se : sw) : (right ? ne : nw);
        const float behind_xy = lower ? (right ? nw : ne) : (right ? sw : se);
        const float here = row[x];
        const float own = (1 - across) * (1 - down) * here;
        const float part_x = across * (1 - down), part_y = (1 - across) * down, part_xy = across * down;
        const float bright = own + part_x * ahead_x + part_y * ahead_y + part_xy * ahead_xy;
        const float dark = own + part_x * behind_x + part_y * behind_y + part_xy * behind_xy;
        const bool keep =
            (here > threshold) & (length > 0) & (here > bright * (1 + kTie)) & (here * (1 + kTie) >= dark);
        thinned[x] = keep ? here : 0.0f;
    }
}
IMTORQUE_DISPATCH(static, thin_row,
                  (const float* above, const float* row, const float* below, const float* gx, const float* gy,
                   int width, float threshold, float* thinned),
                  (above, row, below, gx, gy, width, threshold, thinned))

IMTORQUE_INLINE void differences_impl(const float* above, const float* row, const float* below, int width, float* gx,
                                      float* gy) {
    gradient_row_impl(above, row, below, width, gx, gy);
}
IMTORQUE_DISPATCH(static, differences,
                  (const float* above, const float* row, const float* below, int width, float* gx, float* gy),
                  (above, row, below, width, gx, gy))

IMTORQUE_INLINE void find_bins_impl(const float* values, int count, float scale, int32_t* __restrict bins) {
    for (int i = 0; i < count; ++i) {
        const auto bin = static_cast<int32_t>(values[i] * scale);
        bins[i] = bin < kBins ? bin : kBins - 1;
    }
}
IMTORQUE_DISPATCH(static, find_bins, (const float* values, int count, float scale, int32_t* bins),
                  (values, count, scale, bins))

}  // namespace

std::vector<long long> count_magnitudes(const float* gx, const float* gy, long long count, float largest) {
    constexpr long long kPiece = 1 << 16;
    constexpr int kStep = 256;
    const int pieces = static_cast<int>((count + kPiece - 1) / kPiece);
    std::vector<long long> counts(static_cast<size_t>(pieces) * kBins, 0);
    parallel_for(pieces, 1.0 * kPiece, [&](int c) {
        int32_t local[4][kBins] = {};  // four, so that runs of one value do not wait for each other
        int32_t bins[kStep];
        float magnitude[kStep], ignored;
        const long long end = std::min(count, (c + 1) * kPiece);
        for (long long from = c * kPiece; from < end; from += kStep) {
            const int n = static_cast<int>(std::min<long long>(kStep, end - from));
            magnitudes(gx + from, gy + from, n, magnitude, &ignored);
            find_bins(magnitude, n, kBins / largest, bins);
            for (int i = 0; i < n; ++i) ++local[i & 3][bins[i]];
        }
        for (int b = 0; b < kBins; ++b)
            counts[static_cast<size_t>(c) * kBins + b] = local[0][b] + local[1][b] + local[2][b] + local[3][b];
    });
    std::vector<long long> total(kBins, 0);
    for (int c = 0; c < pieces; ++c)
        for (int b = 0; b < kBins; ++b) total[b] += counts[static_cast<size_t>(c) * kBins + b];
    return total;
}

namespace {

// MATLAB's rule: the 64-bin histogram's first bin edge below which 70 % of the pixels lie; low is 0.4 of it.
Thresholds thresholds_of(const float* gx, const float* gy, long long count, float largest) {
    constexpr double kBelow = 0.7;
    const std::vector<long long> counts = count_magnitudes(gx, gy, count, largest);
    long long below = 0;
    int bin = 0;
    for (; bin < kBins - 1; ++bin) {
        below += counts[bin];
        if (static_cast<double>(below) > kBelow * static_cast<double>(count)) break;
    }
    const double high = static_cast<double>(largest) * (bin + 1) / kBins;
    return {kLowOfHigh * high, high, false, false};
}

double quantile(std::vector<float>& values, double q) {  // linear between order statistics; reorders values
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(position);
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(below), values.end());
    const double low = values[below];
    if (below + 1 == values.size()) return low;
    const double high = *std::min_element(values.begin() + static_cast<ptrdiff_t>(below) + 1, values.end());
    return low + (position - static_cast<double>(below)) * (high - low);
}

Thresholds resolve(const Thresholds& t, const float* gx, const float* gy, long long count, float largest) {
    if (t.automatic) return thresholds_of(gx, gy, count, largest);
    if (!t.quantiles) return t;
    constexpr long long kStep = 1 << 16;
    std::vector<float> values(static_cast<size_t>(count));
    float ignored;
    for (long long from = 0; from < count; from += kStep) {
        check_interrupt();
        magnitudes(gx + from, gy + from, static_cast<int>(std::min(kStep, count - from)), values.data() + from,
                   &ignored);
    }
    const double low = quantile(values, t.low);
    return {low, quantile(values, t.high), false, false};
}

}  // namespace

void gradient_magnitudes(const float* gx, const float* gy, int count, float* magnitude, float* largest) {
    magnitudes(gx, gy, count, magnitude, largest);
}

float gradient(const float* smoothed, int height, int width, float* gx, float* gy) {
    std::vector<float> largest(height, 0.0f);
    parallel_for(bands(height), 3.0 * kBandRows * width, [&](int band) {
        std::vector<float> magnitude(width);
        for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height); ++y) {
            const Rows rows(smoothed, y, height, width);
            const size_t at = static_cast<size_t>(y) * width;
            differences(rows.above, rows.here, rows.below, width, gx + at, gy + at);
            magnitudes(gx + at, gy + at, width, magnitude.data(), &largest[y]);
        }
    });
    return *std::max_element(largest.begin(), largest.end());
}

void thin(const float* gx, const float* gy, int height, int width, float threshold, float* thinned) {
    parallel_for(bands(height), 4.0 * kBandRows * width, [&](int band) {
        const int top = band * kBandRows, bottom = std::min(top + kBandRows, height);
        const int first = std::max(top - 1, 0), last = std::min(bottom + 1, height);
        std::vector<float> strength(static_cast<size_t>(last - first) * width);
        float ignored;
        for (int y = first; y < last; ++y) {
            const size_t at = static_cast<size_t>(y) * width;
            magnitudes(gx + at, gy + at, width, &strength[static_cast<size_t>(y - first) * width], &ignored);
        }
        for (int y = top; y < bottom; ++y) {
            const size_t at = static_cast<size_t>(y) * width;
            if (y == 0 || y == height - 1) {
                std::fill_n(thinned + at, width, 0.0f);
                continue;
            }
            const float* here = &strength[static_cast<size_t>(y - first) * width];
            thin_row(here - width, here, here + width, gx + at, gy + at, width, threshold, thinned + at);
        }
    });
}

void smoothed_gradient(const float* image, int height, int width, double sigma, float* gx, float* gy) {
    std::unique_ptr<float[]> smoothed(new float[static_cast<size_t>(height) * width]);
    smooth(image, height, width, sigma, smoothed.get());
    parallel_for(bands(height), 2.0 * kBandRows * width, [&](int band) {
        for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height); ++y) {
            const Rows rows(smoothed.get(), y, height, width);
            const size_t at = static_cast<size_t>(y) * width;
            differences(rows.above, rows.here, rows.below, width, gx + at, gy + at);
        }
    });
}

void suppress_non_maxima(const float* strength, const float* gx, const float* gy, int height, int width,
                         float threshold, float* thinned) {
    parallel_for(bands(height), 3.0 * kBandRows * width, [&](int band) {
        for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height); ++y) {
            const Rows rows(strength, y, height, width);
            const size_t at = static_cast<size_t>(y) * width;
            if (y == 0 || y == height - 1)
                std::fill_n(thinned + at, width, 0.0f);
            else
                thin_row(rows.above, rows.here, rows.below, gx + at, gy + at, width, threshold, thinned + at);
        }
    });
}

Thresholds automatic_thresholds(const float* image, int height, int width, double sigma) {
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<float[]> smoothed(new float[count]), gx(new float[count]), gy(new float[count]);
    smooth(image, height, width, sigma, smoothed.get());
    const float top = gradient(smoothed.get(), height, width, gx.get(), gy.get());
    if (top == 0) return {0, 0, false, false};
    return thresholds_of(gx.get(), gy.get(), static_cast<long long>(count), top);
}

void canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds, float* fx,
           float* fy) {
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<float[]> smoothed(new float[count]);
    smooth(image, height, width, sigma, smoothed.get());

    // fx and fy hold the gradient (gx, gy) until the edges are known.
    const float top = gradient(smoothed.get(), height, width, fx, fy);
    if (top == 0) {
        std::fill_n(fx, count, 0.0f);
        std::fill_n(fy, count, 0.0f);
        return;
    }
    const Thresholds t = resolve(thresholds, fx, fy, static_cast<long long>(count), top);
    float* thinned = smoothed.get();
    thin(fx, fy, height, width, static_cast<float>(t.low), thinned);
    remove_spare_corners(thinned, keep_connected(thinned, height, width, static_cast<float>(t.high)), height, width);
    parallel_for(bands(height), 1.0 * kBandRows * width, [&](int band) {
        const size_t from = static_cast<size_t>(band) * kBandRows * width;
        const size_t to = std::min(count, from + static_cast<size_t>(kBandRows) * width);
        for (size_t i = from; i < to; ++i) {
            const bool edge = thinned[i] < 0;
            const float gx = fx[i], gy = fy[i];
            fx[i] = edge ? gy : 0.0f;
            fy[i] = edge ? -gx : 0.0f;
        }
    });
}

}  // namespace imtorque
