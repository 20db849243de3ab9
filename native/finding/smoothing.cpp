// Both passes sum from the farthest pair of neighbours to the nearest, after the middle, as SciPy's correlate1d does:
// the bits are the same. Naive twin: naive.smooth_plane.
#include "finding/smoothing.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 16;  // of one task

int mirrored(int at, int length) {
    const int period = 2 * length, place = ((at % period) + period) % period;
    return place < length ? place : period - 1 - place;
}

IMTORQUE_INLINE void add_pair_impl(const float* a, const float* b, double weight, int width, double* sums) {
    for (int x = 0; x < width; ++x) sums[x] += (static_cast<double>(a[x]) + static_cast<double>(b[x])) * weight;
}
IMTORQUE_DISPATCH(static, add_pair, (const float* a, const float* b, double weight, int width, double* sums),
                  (a, b, weight, width, sums))

// The columns' pass of row y.
void smooth_down(const float* plane, int y, int height, int width, const std::vector<double>& weights, double* sums,
                 float* out) {
    const auto row = [&](int at) { return plane + static_cast<std::size_t>(mirrored(at, height)) * width; };
    std::transform(row(y), row(y) + width, sums, [&](float value) { return value * weights[0]; });
    for (int k = static_cast<int>(weights.size()) - 1; k > 0; --k)
        add_pair(row(y - k), row(y + k), weights[k], width, sums);
    std::transform(sums, sums + width, out, [](double sum) { return static_cast<float>(sum); });
}

// The rows' pass of one row, in place; `line` has room for it and as many pixels on either side as there are weights.
void smooth_along(int width, const std::vector<double>& weights, float* line, double* sums, float* row) {
    const int reach = static_cast<int>(weights.size());
    float* middle = line + reach;
    for (int x = -reach; x < width + reach; ++x) middle[x] = row[mirrored(x, width)];
    std::transform(middle, middle + width, sums, [&](float value) { return value * weights[0]; });
    for (int k = reach - 1; k > 0; --k) add_pair(middle - k, middle + k, weights[k], width, sums);
    std::transform(sums, sums + width, row, [](double sum) { return static_cast<float>(sum); });
}

}  // namespace

void smooth_plane(const float* plane, int height, int width, const std::vector<double>& weights, float* out) {
    const double row_time = 1.0 * static_cast<double>(weights.size()) * width;
    parallel_for((height + kRows - 1) / kRows, kRows * row_time, [&](int task) {
        std::vector<double> sums(width);
        std::vector<float> line(width + 2 * weights.size());
        for (int y = task * kRows; y < std::min(height, (task + 1) * kRows); ++y) {
            float* row = out + static_cast<std::size_t>(y) * width;
            smooth_down(plane, y, height, width, weights, sums.data(), row);
            smooth_along(width, weights, line.data(), sums.data(), row);
        }
    });
}

}  // namespace imtorque
