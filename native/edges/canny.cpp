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
IMTORQUE_DISPATCH(static, convolve,
                  (const float* const* taps, const float* kernel, int radius, int width, float* out),
                  (taps, kernel, radius, width, out))

// Gaussian smoothing; beyond the border the image repeats its border pixels.
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

IMTORQUE_INLINE void magnitude_row_impl(const float* above, const float* row, const float* below, int width,
                                        float* __restrict gx, float* __restrict gy, float* __restrict magnitude,
                                        float* largest) {
    gradient_row_impl(above, row, below, width, gx, gy);
    int32_t top = 0;  // as bits: non-negative floats have the order of their bits, and integer maxima vectorise
IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) {
        const float m = std::sqrt(gx[x] * gx[x] + gy[x] * gy[x]);
        const float kept = m < kNoise ? 0.0f : m;
        int32_t bits;
        std::memcpy(&bits, &kept, sizeof bits);
        magnitude[x] = kept;
        top = bits > top ? bits : top;
    }
    std::memcpy(largest, &top, sizeof top);
}
IMTORQUE_DISPATCH(static, magnitude_row,
                  (const float* above, const float* row, const float* below, int width, float* gx, float* gy,
                   float* magnitude, float* largest),
                  (above, row, below, width, gx, gy, magnitude, largest))

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
        const bool keep = (here > threshold) & (length > 0) & (here > bright * (1 + kTie)) & (here * (1 + kTie) >= dark);
        thinned[x] = keep ? here : 0.0f;
    }
}
IMTORQUE_DISPATCH(static, thin_row,
                  (const float* above, const float* row, const float* below, const float* gx, const float* gy, int width,
                   float threshold, float* thinned),
                  (above, row, below, gx, gy, width, threshold, thinned))

IMTORQUE_INLINE void differences_impl(const float* above, const float* row, const float* below, int width, float* gx,
                                      float* gy) {
    gradient_row_impl(above, row, below, width, gx, gy);
}
IMTORQUE_DISPATCH(static, differences,
                  (const float* above, const float* row, const float* below, int width, float* gx, float* gy),
                  (above, row, below, width, gx, gy))

constexpr int kBins = 64;

IMTORQUE_INLINE void find_bins_impl(const float* values, int count, float scale, int32_t* __restrict bins) {
    for (int i = 0; i < count; ++i) {
        const auto bin = static_cast<int32_t>(values[i] * scale);
        bins[i] = bin < kBins ? bin : kBins - 1;
    }
}
IMTORQUE_DISPATCH(static, find_bins, (const float* values, int count, float scale, int32_t* bins),
                  (values, count, scale, bins))

// MATLAB's rule: the 64-bin histogram's first bin edge below which 70 % of the pixels lie; low is 0.4 of it.
Thresholds automatic_thresholds(const float* magnitude, long long count, float largest) {
    constexpr double kBelow = 0.7, kRatio = 0.4;
    constexpr long long kPiece = 1 << 16;
    constexpr int kStep = 256;
    const int pieces = static_cast<int>((count + kPiece - 1) / kPiece);
    std::vector<long long> counts(static_cast<size_t>(pieces) * kBins, 0);
    parallel_for(pieces, 0.5 * kPiece, [&](int c) {
        int32_t local[4][kBins] = {};  // four, so that runs of one value do not wait for each other
        int32_t bins[kStep];
        const long long end = std::min(count, (c + 1) * kPiece);
        for (long long from = c * kPiece; from < end; from += kStep) {
            const int n = static_cast<int>(std::min<long long>(kStep, end - from));
            find_bins(magnitude + from, n, kBins / largest, bins);
            for (int i = 0; i < n; ++i) ++local[i & 3][bins[i]];
        }
        for (int b = 0; b < kBins; ++b)
            counts[static_cast<size_t>(c) * kBins + b] = local[0][b] + local[1][b] + local[2][b] + local[3][b];
    });
    long long below = 0;
    int bin = 0;
    for (; bin < kBins - 1; ++bin) {
        for (int c = 0; c < pieces; ++c) below += counts[static_cast<size_t>(c) * kBins + bin];
        if (static_cast<double>(below) > kBelow * static_cast<double>(count)) break;
    }
    const double high = static_cast<double>(largest) * (bin + 1) / kBins;
    return {kRatio * high, high, false, false};
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

Thresholds resolve(const Thresholds& t, const float* magnitude, long long count, float largest) {
    if (t.automatic) return automatic_thresholds(magnitude, count, largest);
    if (!t.quantiles) return t;
    std::vector<float> values(magnitude, magnitude + count);
    const double low = quantile(values, t.low);
    return {low, quantile(values, t.high), false, false};
}

// Mark all edges connected to those listed from `next` on, within the pixels [from, to); what lies outside goes to
// `beyond`. Marked edges have a negative strength.
void flood(float* thinned, int width, size_t from, size_t to, size_t next, std::vector<size_t>& edges,
           std::vector<size_t>& beyond) {
    for (; next < edges.size(); ++next)
        // Thinned maps are zero on the outermost rows and columns, so every neighbour exists.
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const size_t j = edges[next] + static_cast<size_t>(static_cast<ptrdiff_t>(dy) * width + dx);
                if (j < from || j >= to) {
                    beyond.push_back(j);
                } else if (thinned[j] > 0) {
                    thinned[j] = -thinned[j];
                    edges.push_back(j);
                }
            }
}

// Weak edges survive where they touch, over any chain of weak ones, a strong one. Bands of rows flood on their own;
// where an edge leaves its band, one flood over the whole image goes on. Survivors are marked, and listed by band.
std::vector<std::vector<size_t>> keep_connected(float* thinned, int height, int width, float high) {
    constexpr int kRows = 128;
    const int count = (height + kRows - 1) / kRows;
    const size_t pixels = static_cast<size_t>(height) * width;
    std::vector<std::vector<size_t>> edges(count + 1), beyond(count);
    parallel_for(count, 0.5 * kRows * width, [&](int band) {
        const size_t from = static_cast<size_t>(band) * kRows * width;
        const size_t to = std::min(pixels, from + static_cast<size_t>(kRows) * width);
        for (size_t i = from; i < to; ++i) {
            if (!(thinned[i] > high)) continue;
            thinned[i] = -thinned[i];
            edges[band].push_back(i);
            flood(thinned, width, from, to, edges[band].size() - 1, edges[band], beyond[band]);
        }
    });
    std::vector<size_t> none;
    for (const std::vector<size_t>& seeds : beyond)
        for (const size_t j : seeds) {
            if (!(thinned[j] > 0)) continue;
            thinned[j] = -thinned[j];
            edges[count].push_back(j);
            flood(thinned, width, 0, pixels, edges[count].size() - 1, edges[count], none);
        }
    return edges;
}

// Whether an edge pixel is the corner of a stair and may go: it has an edge beside it and one above or below, and its
// edge neighbours stay connected without it (Yokoi's connectivity number is 1).
bool is_spare_corner(const float* edges, size_t i, int width) {
    const ptrdiff_t w = width;
    const float* p = edges + i;
    const bool off[9] = {p[1] >= 0,  p[1 - w] >= 0, p[-w] >= 0, p[-1 - w] >= 0, p[-1] >= 0,
                         p[w - 1] >= 0, p[w] >= 0,     p[w + 1] >= 0, p[1] >= 0};
    if ((off[0] && off[4]) || (off[2] && off[6])) return false;
    int parts = 0;
    for (int k = 0; k < 8; k += 2) parts += off[k] && !(off[k + 1] && off[k + 2]);
    return parts == 1;
}

// Make stairs one pixel wide: of adjacent spare corners the weakest goes first, until none is left. Which goes depends
// on strength, not on the order of the pixels, so the result turns and mirrors with the image.
void remove_spare_corners(float* edges, const std::vector<std::vector<size_t>>& listed, int height, int width) {
    std::vector<uint8_t> spare(static_cast<size_t>(height) * width, 0);  // of every pixel, kept up to date
    std::vector<std::vector<size_t>> found(listed.size());
    parallel_for(static_cast<int>(listed.size()), 1.0 * height * width / static_cast<double>(listed.size()), [&](int band) {
        for (const size_t i : listed[band])
            if (is_spare_corner(edges, i, width)) {
                spare[i] = 1;
                found[band].push_back(i);
            }
    });
    std::vector<size_t> corners, going;
    for (const std::vector<size_t>& part : found) corners.insert(corners.end(), part.begin(), part.end());
    const ptrdiff_t w = width;
    const ptrdiff_t beside[4] = {1, -1, w, -w};
    const ptrdiff_t around[8] = {1, -1, w, -w, w + 1, w - 1, 1 - w, -1 - w};
    while (!corners.empty()) {
        check_interrupt();
        going.clear();
        for (const size_t i : corners) {
            bool weakest = true;
            for (const ptrdiff_t step : beside) {
                const size_t j = i + static_cast<size_t>(step);
                // Strengths are negative here: the weaker is the larger.
                if (spare[j]) weakest &= edges[i] > edges[j] || (edges[i] == edges[j] && i < j);
            }
            if (weakest) going.push_back(i);
        }
        for (const size_t i : going) {
            edges[i] = 0;
            spare[i] = 0;
        }
        // A removal can make its neighbours spare, or keep them.
        for (const size_t i : going)
            for (const ptrdiff_t step : around) {
                const size_t j = i + static_cast<size_t>(step);
                if (edges[j] >= 0) continue;
                const bool was = spare[j];
                spare[j] = is_spare_corner(edges, j, width);
                if (spare[j] && !was) corners.push_back(j);
            }
        corners.erase(std::remove_if(corners.begin(), corners.end(), [&](size_t i) { return !spare[i]; }), corners.end());
    }
}

}  // namespace

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

void canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds, float* fx, float* fy) {
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<float[]> smoothed(new float[count]), magnitude(new float[count]);
    smooth(image, height, width, sigma, smoothed.get());

    // fx and fy hold the gradient (gx, gy) until the edges are known.
    std::vector<float> largest(height, 0.0f);
    parallel_for(bands(height), 3.0 * kBandRows * width, [&](int band) {
        for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height); ++y) {
            const Rows rows(smoothed.get(), y, height, width);
            const size_t at = static_cast<size_t>(y) * width;
            magnitude_row(rows.above, rows.here, rows.below, width, fx + at, fy + at, magnitude.get() + at, &largest[y]);
        }
    });
    const float top = *std::max_element(largest.begin(), largest.end());
    if (top == 0) {
        std::fill_n(fx, count, 0.0f);
        std::fill_n(fy, count, 0.0f);
        return;
    }
    const Thresholds t = resolve(thresholds, magnitude.get(), static_cast<long long>(count), top);

    float* thinned = smoothed.get();
    suppress_non_maxima(magnitude.get(), fx, fy, height, width, static_cast<float>(t.low), thinned);
    remove_spare_corners(thinned, keep_connected(thinned, height, width, static_cast<float>(t.high)), height,
                         width);
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
