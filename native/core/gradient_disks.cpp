// Gradient torque of disks by the appendix's identity, in its exact discrete form. With half-pixel differences, a row
// of the disk of half-width w has the torque  sum of its pixels - (w + 1/2) (the pixel before it + the pixel after it),
// by summation by parts; a column likewise. The weights w + 1/2 of all rows' ends add up to the number of pixels, so
// the torque is the mean inside minus a weighted mean of the pixels just outside, which nears the mean on the circle.
// O(radius) per pixel. Beyond the border the image repeats its border pixels. Naive twin: naive.gradient_disk.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/gradient_torque.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

// Sums of the pixels of one row, which repeats its ends without bound.
struct Row {
    const double* pixels;
    const double* prefix;
    int width;

    double pixel(long long x) const { return pixels[std::min<long long>(std::max<long long>(x, 0), width - 1)]; }
    double before(long long x) const {
        const double beyond = x < 0       ? static_cast<double>(x) * pixels[0]
                              : x > width ? static_cast<double>(x - width) * pixels[width - 1]
                                          : 0.0;
        return prefix[std::min<long long>(std::max<long long>(x, 0), width)] + beyond;
    }
};

}  // namespace

void gradient_disks(const double* image, int height, int width, const std::vector<int>& radii, float* tau) {
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<double[]> prefixes(new double[(static_cast<size_t>(width) + 1) * height]);
    for (int y = 0; y < height; ++y) {
        double* prefix = prefixes.get() + static_cast<size_t>(y) * (width + 1);
        prefix[0] = 0;
        for (int x = 0; x < width; ++x) prefix[x + 1] = prefix[x] + image[static_cast<size_t>(y) * width + x];
    }
    const auto row = [&](long long y) {
        const size_t at = static_cast<size_t>(std::min<long long>(std::max<long long>(y, 0), height - 1));
        return Row{image + at * width, prefixes.get() + at * (width + 1), width};
    };
    for (size_t k = 0; k < radii.size(); ++k) {
        const long long radius = radii[k];
        std::vector<int> halves(static_cast<size_t>(radius) + 1);
        double pixels = 0;
        for (long long d = 0; d <= radius; ++d) {
            halves[d] = disk_half_width(radius, d);
            pixels += (d == 0 ? 1 : 2) * (2.0 * halves[d] + 1);
        }
        parallel_for(height, 12.0 * static_cast<double>(width) * static_cast<double>(radius + 1), [&](int y) {
            std::vector<double> inside(width, 0.0), border(width, 0.0);
            Poll poll(16);
            for (long long d = -radius; d <= radius; ++d) {
                poll();
                const long long w = halves[d < 0 ? -d : d];
                const Row across = row(y + d), above = row(y - w - 1), below = row(y + w + 1);
                for (int x = 0; x < width; ++x) {
                    inside[x] += across.before(x + w + 1) - across.before(x - w);
                    const double ends = across.pixel(x - w - 1) + across.pixel(x + w + 1);
                    border[x] += (static_cast<double>(w) + 0.5) * (ends + above.pixel(x + d) + below.pixel(x + d));
                }
            }
            float* out = tau + k * count + static_cast<size_t>(y) * width;
            for (int x = 0; x < width; ++x) out[x] = static_cast<float>((inside[x] - 0.5 * border[x]) / pixels);
        });
    }
}

}  // namespace imtorque
