// Torque over size at one pixel: each force's moment goes into the bin of the smallest patch that holds it, and the
// bins are summed up. O(largest patch), whatever the number of sizes. Naive twin: naive.torque_spectrum.
#include <algorithm>
#include <cmath>

#include "core/torque.hpp"

namespace imtorque {
namespace {

bool holds(const Patch& patch, Shape shape, long long dy, long long dx) {
    if (shape == Shape::disk) return dx * dx + dy * dy <= static_cast<long long>(patch.rx) * patch.rx;
    return std::abs(dy) <= patch.ry && std::abs(dx) <= patch.rx;
}

bool nested(const std::vector<Patch>& patches) {
    for (size_t k = 1; k < patches.size(); ++k)
        if (patches[k].ry < patches[k - 1].ry || patches[k].rx < patches[k - 1].rx) return false;
    return true;
}

}  // namespace

void torque_spectrum(const Field& field, const std::vector<Patch>& patches, Shape shape, int y, int x, float* tau) {
    int ry = 0, rx = 0;
    for (const Patch& patch : patches) {
        ry = std::max(ry, patch.ry);
        rx = std::max(rx, patch.rx);
    }
    const bool chain = nested(patches);
    std::vector<int64_t> moments(patches.size(), 0);
    const float rounding = static_cast<float>(field.steps);
    for (int v = std::max(0, y - ry); v <= std::min(field.height - 1, y + ry); ++v)
        for (int u = std::max(0, x - rx); u <= std::min(field.width - 1, x + rx); ++u) {
            const size_t at = static_cast<size_t>(v) * field.width + u;
            const int64_t fx = round_force(field.fx[at], rounding), fy = round_force(field.fy[at], rounding);
            if (fx == 0 && fy == 0) continue;
            const int64_t moment = (u - x) * fy - (v - y) * fx;
            if (chain) {
                const auto first = std::partition_point(patches.begin(), patches.end(), [&](const Patch& patch) {
                    return !holds(patch, shape, v - y, u - x);
                });
                if (first != patches.end()) moments[first - patches.begin()] += moment;
            } else {
                for (size_t k = 0; k < patches.size(); ++k)
                    if (holds(patches[k], shape, v - y, u - x)) moments[k] += moment;
            }
        }
    int64_t sum = 0;
    for (size_t k = 0; k < patches.size(); ++k) {
        sum = chain ? sum + moments[k] : moments[k];
        tau[k] = static_cast<float>(2 * sum) * patches[k].norm;
    }
}

}  // namespace imtorque
