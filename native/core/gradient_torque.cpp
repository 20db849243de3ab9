// Gradient torque by the appendix's identity, in its exact discrete form: with half-pixel differences, the torque of a
// box is its mean minus half the mean of the two columns just outside it minus half the mean of the two rows just
// outside it (for a square: minus the mean of the four sides). No gradient is computed. Beyond the border the image
// repeats its border pixels. Naive twin: naive.gradient_torque.
#include "core/gradient_torque.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

int clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// Sum of line[clamp(i - r)] ... line[clamp(i + r)] for every i, in O(1) each. `stride` apart.
void line_sums(const double* line, int n, size_t stride, int r, double* prefix, double* out, size_t out_stride) {
    prefix[0] = 0;
    for (int i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + line[i * stride];
    const double first = line[0], last = line[(n - 1) * stride];
    for (int i = 0; i < n; ++i) {
        const int from = i - r, to = i + r + 1;
        double sum = prefix[std::min(to, n)] - prefix[std::max(from, 0)];
        if (from < 0) sum -= from * first;
        if (to > n) sum += (to - n) * last;
        out[i * out_stride] = sum;
    }
}

}  // namespace

void gradient_torque(const double* image, int height, int width, const std::vector<Box>& boxes, float* tau) {
    const size_t count = static_cast<size_t>(height) * width;
    parallel_for(static_cast<int>(boxes.size()), 8.0 * static_cast<double>(count), [&](int k) {
        const int ry = boxes[k].ry, rx = boxes[k].rx;
        std::unique_ptr<double[]> across(new double[count]), down(new double[count]), inside(new double[count]);
        std::vector<double> prefix(static_cast<size_t>(std::max(height, width)) + 1);
        Poll poll(16);
        for (int y = 0; y < height; ++y) {
            poll();
            line_sums(image + static_cast<size_t>(y) * width, width, 1, rx, prefix.data(),
                      across.get() + static_cast<size_t>(y) * width, 1);
        }
        for (int x = 0; x < width; ++x) {
            poll();
            line_sums(image + x, height, width, ry, prefix.data(), down.get() + x, width);
            line_sums(across.get() + x, height, width, ry, prefix.data(), inside.get() + x, width);
        }
        const double sy = 2.0 * ry + 1, sx = 2.0 * rx + 1;
        float* out = tau + k * count;
        for (int y = 0; y < height; ++y) {
            poll();
            const size_t at = static_cast<size_t>(y) * width;
            const double* above = across.get() + static_cast<size_t>(clamp(y - ry - 1, height)) * width;
            const double* below = across.get() + static_cast<size_t>(clamp(y + ry + 1, height)) * width;
            for (int x = 0; x < width; ++x) {
                const double columns = down[at + clamp(x - rx - 1, width)] + down[at + clamp(x + rx + 1, width)];
                out[at + x] = static_cast<float>(inside[at + x] / (sy * sx) - 0.25 * columns / sy -
                                                 0.25 * (above[x] + below[x]) / sx);
            }
        }
    });
}

}  // namespace imtorque
