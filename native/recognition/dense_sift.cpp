// Each gradient is split into the two of eight directions it lies between: g = a d_k + b d_(k+1) with a, b >= 0, so no
// angle is computed. The eight shares of a pixel are one vector. A cell's sum weighs them by a triangle of the cell's
// width to either side of its centre, separable, and is computed only at the centres that occur: first along the rows,
// then down the columns. Naive twin: naive.direction_histograms.
#include "recognition/dense_sift.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr float kRootTwo = 1.41421356237309504880f;

// Directions in steps of 45 degrees, x towards y: the even ones are axes.
void split_row(const float* gx, const float* gy, int width, Lanes<float>* out) {
    for (int u = 0; u < width; ++u) {
        const float ax = std::fabs(gx[u]), ay = std::fabs(gy[u]);
        const int across = gx[u] < 0 ? 4 : 0, down = gy[u] < 0 ? 6 : 2;
        const int diagonal = gx[u] < 0 ? (gy[u] < 0 ? 5 : 3) : (gy[u] < 0 ? 7 : 1);
        float shares[8] = {};
        shares[ax >= ay ? across : down] = std::max(ax, ay) - std::min(ax, ay);
        shares[diagonal] = kRootTwo * std::min(ax, ay);
        std::memcpy(out + u, shares, sizeof shares);
    }
}

// Positions of the pixels that a cell sees along one axis, and their weights.
struct Taps {
    int from, to;  // half-open, inside the image
    std::vector<float> weight;
};

// Taps of each distinct cell centre along one axis, and which of them each patch's four cells have.
struct Axis {
    std::vector<Taps> taps;
    std::vector<int> of;  // [patch][cell]
    Axis(const int* first, int count, int size, int length) : of(static_cast<size_t>(count) * kSiftCells) {
        const int cell = size / kSiftCells;
        std::vector<int> starts;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < kSiftCells; ++k) starts.push_back(first[i] + k * cell);
        std::sort(starts.begin(), starts.end());
        starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
        for (int start : starts) {
            const double centre = start + 0.5 * (cell - 1);
            Taps t{std::max(0, static_cast<int>(std::ceil(centre - cell))),
                   std::min(length, static_cast<int>(std::floor(centre + cell)) + 1),
                   {}};
            for (int u = t.from; u < t.to; ++u)
                t.weight.push_back(static_cast<float>(1 - std::fabs(u - centre) / cell));
            taps.push_back(std::move(t));
        }
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < kSiftCells; ++k)
                of[static_cast<size_t>(i) * kSiftCells + k] = static_cast<int>(
                    std::lower_bound(starts.begin(), starts.end(), first[i] + k * cell) - starts.begin());
    }
};

IMTORQUE_INLINE void sum_taps_impl(const Lanes<float>* values, size_t stride, const float* weight, int count,
                                   Lanes<float>* out) {
    Lanes<float> sum = {};
    for (int i = 0; i < count; ++i) sum += weight[i] * values[i * stride];
    *out = sum;
}

IMTORQUE_INLINE void sum_across_impl(const Lanes<float>* row, const Axis& axis, Lanes<float>* out) {
    for (size_t j = 0; j < axis.taps.size(); ++j) {
        const Taps& t = axis.taps[j];
        sum_taps_impl(row + t.from, 1, t.weight.data(), t.to - t.from, out + j);
    }
}
IMTORQUE_DISPATCH(static, sum_across, (const Lanes<float>* row, const Axis& axis, Lanes<float>* out), (row, axis, out))

IMTORQUE_INLINE void sum_down_impl(const Lanes<float>* across, size_t stride, const Taps& t, Lanes<float>* out) {
    for (size_t j = 0; j < stride; ++j)
        sum_taps_impl(across + t.from * stride + j, stride, t.weight.data(), t.to - t.from, out + j);
}
IMTORQUE_DISPATCH(static, sum_down, (const Lanes<float>* across, size_t stride, const Taps& t, Lanes<float>* out),
                  (across, stride, t, out))

}  // namespace

void direction_histograms(const float* gx, const float* gy, int height, int width, int size, const int* top, int rows,
                          const int* left, int columns, float* out) {
    const Axis down(top, rows, size, height), along(left, columns, size, width);
    const size_t stride = along.taps.size();
    std::unique_ptr<Lanes<float>[]> across(new Lanes<float>[stride * height]);
    std::unique_ptr<Lanes<float>[]> cells(new Lanes<float>[stride * down.taps.size()]);
    constexpr int kBand = 32;
    parallel_for((height + kBand - 1) / kBand, 15.0 * kBand * width, [&](int band) {
        std::unique_ptr<Lanes<float>[]> shares(new Lanes<float>[width]);
        for (int v = band * kBand; v < std::min(height, (band + 1) * kBand); ++v) {
            split_row(gx + static_cast<size_t>(v) * width, gy + static_cast<size_t>(v) * width, width, shares.get());
            sum_across(shares.get(), along, across.get() + v * stride);
        }
    });
    parallel_for(static_cast<int>(down.taps.size()), 2.0 * size * static_cast<double>(stride),
                 [&](int i) { sum_down(across.get(), stride, down.taps[i], cells.get() + i * stride); });
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            for (int a = 0; a < kSiftCells; ++a)
                for (int b = 0; b < kSiftCells; ++b, out += 8)
                    std::memcpy(out,
                                cells.get() + down.of[static_cast<size_t>(i) * kSiftCells + a] * stride +
                                    along.of[static_cast<size_t>(j) * kSiftCells + b],
                                8 * sizeof(float));
}

}  // namespace imtorque
