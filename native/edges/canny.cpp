// Canny's edge detector (1986): Gaussian smoothing, central differences, non-maximum suppression against neighbours
// interpolated along the gradient, hysteresis, and the removal of stair corners. Naive twin: naive.canny.
//
// One pass over the image, row by row in cache, leaves the maxima across edges and counts the magnitudes; what the
// thresholds then leave of them follows from bits and short lists.
#include "edges/canny.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "edges/candidates.hpp"
#include "edges/gradient_rows.hpp"
#include "edges/hysteresis.hpp"
#include "edges/suppress.hpp"
#include "edges/thresholds.hpp"

namespace imtorque {
namespace {

constexpr int kBandRows = 64;

// Bands of rows in parallel: use(band) makes what takes the gradients of that band's rows.
template <class Use>
void in_bands(const float* image, int height, int width, double sigma, const Use& use) {
    const std::vector<float> kernel = gaussian(sigma);
    const int rows = useful_threads(2.0 * height * width) == 1 ? height : kBandRows;
    parallel_for((height + rows - 1) / rows, 2.0 * rows * width, [&](int band) {
        GradientRows(image, height, width, kernel).run(band * rows, std::min((band + 1) * rows, height), use(band));
    });
}

std::vector<long long> count_all(const float* image, int height, int width, double sigma, float largest) {
    std::vector<std::vector<long long>> counts((height + kBandRows - 1) / kBandRows, std::vector<long long>(kBins, 0));
    in_bands(image, height, width, sigma, [&](int band) {
        return [&, band, magnitude = std::vector<float>(width)](int, const float* gx, const float* gy) mutable {
            float ignored;
            gradient_magnitudes(gx, gy, width, magnitude.data(), &ignored);
            add_to_bins(magnitude.data(), width, largest, counts[band].data());
        };
    });
    std::vector<long long> total(kBins, 0);
    for (const std::vector<long long>& part : counts)
        for (int b = 0; b < kBins; ++b) total[b] += part[b];
    return total;
}

Thresholds automatic(const float* image, int height, int width, double sigma, const Maxima& found) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (!std::isfinite(found.largest)) return {kNone, kNone, false, false};
    const long long count = static_cast<long long>(height) * width;
    const std::optional<int> bin = found.counts.chosen_bin(count, found.largest);
    return thresholds_of_bin(bin ? *bin : chosen_bin(count_all(image, height, width, sigma, found.largest), count),
                             found.largest);
}

}  // namespace

void smoothed_gradient(const float* image, int height, int width, double sigma, float* gx, float* gy) {
    in_bands(image, height, width, sigma, [&](int) {
        return [&](int y, const float* across, const float* down) {
            std::copy_n(across, width, gx + static_cast<size_t>(y) * width);
            std::copy_n(down, width, gy + static_cast<size_t>(y) * width);
        };
    });
}

Thresholds automatic_thresholds(const float* image, int height, int width, double sigma) {
    const Maxima found = find_maxima(image, height, width, sigma, {0, true, nullptr});
    if (found.largest == 0) return {0, 0, false, false};
    return automatic(image, height, width, sigma, found);
}

ForceStatistics canny(const float* image, int height, int width, double sigma, const Thresholds& thresholds,
                      const Shaping& shaping, float* fx, float* fy) {
    std::vector<float> magnitudes(thresholds.quantiles ? static_cast<size_t>(height) * width : 0);
    const float least = thresholds.quantiles ? 0.0f : static_cast<float>(thresholds.low);
    Maxima found = find_maxima(image, height, width, sigma,
                               {least, thresholds.automatic, thresholds.quantiles ? magnitudes.data() : nullptr});
    Thresholds t = thresholds;
    if (thresholds.automatic && found.largest > 0) t = automatic(image, height, width, sigma, found);
    if (thresholds.quantiles) t = thresholds_of_quantiles(magnitudes, thresholds.low, thresholds.high);
    Candidates& candidates = found.candidates;
    const auto [weak, strong] = candidates.above(static_cast<float>(t.low), static_cast<float>(t.high));
    BitPlane edges = keep_connected(weak, strong);
    remove_spare_corners(edges, candidates);
    candidates.turn(shaping);
    return candidates.spread(edges, shaping, fx, fy);
}

}  // namespace imtorque
