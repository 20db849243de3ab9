// Gradient torque of disks by the appendix's identity: the mean over a disk of radius R minus the mean over its circle.
//
// Along a row at the distance d from the centre let the image be linear between pixels, and let s = sqrt(R^2 - d^2).
// Summation by parts makes the torque of its slope, from -s to s,
//     integral of I  -  s (I(-s) + I(s)),
// so every row is a few weights at its ends, and 1 between them; columns likewise. The sum of rows and columns is
// divided so that a parabola has just -R^2 / 2, its mean over the disk minus that over the circle.
// O(radius) per pixel. Beyond the border the image repeats its border pixels. Naive twin: naive.gradient_disk.
#include <algorithm>
#include <cmath>
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

// What the pixel `j` away from the middle of a row weighs in it.
double weight_in_row(long long radius, long long distance, long long j) {
    const double s = std::sqrt(static_cast<double>(radius * radius - distance * distance));
    const long long whole = disk_half_width(radius, distance);
    const double part = s - static_cast<double>(whole);
    if (whole == 0 || j > whole + 1) return 0;
    if (j < whole) return 1;
    if (j == whole) return 0.5 + part - part * part / 2 - s * (1 - part);
    return part * part / 2 - s * part;
}

// The pixels of one row of a disk, rows and columns together: 2 up to `run` away from its middle, then others.
struct Ends {
    long long run = -1;
    std::vector<std::pair<long long, double>> others;
};

// Of the rows at the distances 0 to `radius`; `unit` becomes what their sum is divided by.
std::vector<Ends> ends_of_disk(long long radius, double& unit) {
    std::vector<Ends> rows(static_cast<size_t>(radius) + 1);
    double moment = 0;
    for (long long d = 0; d <= radius; ++d) {
        Ends& row = rows[d];
        for (long long j = 0; j <= radius; ++j) {
            const double weight = weight_in_row(radius, d, j) + weight_in_row(radius, j, d);
            moment += (d == 0 ? 1 : 2) * (j == 0 ? 1 : 2) * weight * static_cast<double>(d * d + j * j);
            if (weight == 2 && row.run == j - 1)
                row.run = j;
            else if (weight != 0)
                row.others.emplace_back(j, weight);
        }
    }
    unit = -2 * moment / static_cast<double>(radius * radius);
    return rows;
}

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
        if (radius == 0) {  // a circle of radius 0 is its disk
            std::fill_n(tau + k * count, count, 0.0f);
            continue;
        }
        double unit;
        const std::vector<Ends> rows = ends_of_disk(radius, unit);
        parallel_for(height, 12.0 * static_cast<double>(width) * static_cast<double>(radius + 1), [&](int y) {
            std::vector<double> sums(width, 0.0);
            Poll poll(16);
            for (long long d = -radius; d <= radius; ++d) {
                poll();
                const Ends& ends = rows[d < 0 ? -d : d];
                const Row across = row(y + d);
                if (ends.run >= 0)
                    for (int x = 0; x < width; ++x)
                        sums[x] += 2 * (across.before(x + ends.run + 1) - across.before(x - ends.run));
                for (const auto& [j, weight] : ends.others)
                    for (int x = 0; x < width; ++x)
                        sums[x] += (j == 0 ? 0.5 : 1) * weight * (across.pixel(x - j) + across.pixel(x + j));
            }
            float* out = tau + k * count + static_cast<size_t>(y) * width;
            for (int x = 0; x < width; ++x) out[x] = static_cast<float>(sums[x] / unit);
        });
    }
}

}  // namespace imtorque
