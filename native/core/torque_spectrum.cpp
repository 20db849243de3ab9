// Torque over size at one pixel: each force's moment goes into the bin of the smallest patch that holds it, and the
// bins are summed up. O(largest patch), whatever the number of sizes. Naive twin: naive.torque_spectrum.
#include <algorithm>
#include <cmath>

#include "core/ellipse_tables.hpp"
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

// The second sums of one force, and their addition.
struct Seconds {
    SecondSums<Uint128> four{0, 0, 0, 0, 0};
    static Seconds of(int64_t dx, int64_t dy, int64_t fx, int64_t fy) {
        const Uint128 x = static_cast<Uint128>(2 * dx), y = static_cast<Uint128>(2 * dy), u = static_cast<Uint128>(fx),
                      v = static_cast<Uint128>(fy);
        return {{x * x * v * v, y * y * u * u, x * y * u * v, x * x * u * u, y * y * v * v}};
    }
    Seconds& operator+=(const Seconds& s) {
        four = {four.xx_yy + s.four.xx_yy, four.yy_xx + s.four.yy_xx, four.xy_xy + s.four.xy_xy,
                four.xx_xx + s.four.xx_xx, four.yy_yy + s.four.yy_yy};
        return *this;
    }
    Seconds operator+(const Seconds& s) const { return Seconds(*this) += s; }
};

// Sum `moment(u - x, v - y, fx, fy)` over each patch, and call emit(k, sum).
template <class Sum, class Moment, class Emit>
void sum_patches(const Field& field, const std::vector<Patch>& patches, Shape shape, int y, int x, const Moment& moment,
                 const Emit& emit) {
    int ry = 0, rx = 0;
    for (const Patch& patch : patches) {
        ry = std::max(ry, patch.ry);
        rx = std::max(rx, patch.rx);
    }
    const bool chain = nested(patches);
    std::vector<Sum> moments(patches.size());
    const float rounding = static_cast<float>(field.steps);
    for (int v = std::max(0, y - ry); v <= std::min(field.height - 1, y + ry); ++v)
        for (int u = std::max(0, x - rx); u <= std::min(field.width - 1, x + rx); ++u) {
            const size_t at = static_cast<size_t>(v) * field.width + u;
            const int64_t fx = round_force(field.fx[at], rounding), fy = round_force(field.fy[at], rounding);
            if (fx == 0 && fy == 0) continue;
            const Sum own = moment(u - x, v - y, fx, fy);
            if (chain) {
                const auto first = std::partition_point(patches.begin(), patches.end(), [&](const Patch& patch) {
                    return !holds(patch, shape, v - y, u - x);
                });
                if (first != patches.end()) moments[first - patches.begin()] += own;
            } else {
                for (size_t k = 0; k < patches.size(); ++k)
                    if (holds(patches[k], shape, v - y, u - x)) moments[k] += own;
            }
        }
    Sum sum{};
    for (size_t k = 0; k < patches.size(); ++k) {
        sum = chain ? sum + moments[k] : moments[k];
        emit(k, sum);
    }
}

}  // namespace

void torque_spectrum(const Field& field, const std::vector<Patch>& patches, Shape shape, int y, int x, float* tau) {
    if (field.free) {
        sum_patches<Seconds>(field, patches, shape, y, x, Seconds::of, [&](size_t k, const Seconds& sum) {
            const double closure = ellipse_closure<FreeHuge>(sum.four, patches[k].aspect);
            tau[k] = static_cast<float>(closure * closure_factor(field, patches[k]));
        });
        return;
    }
    const auto moment = [](int64_t dx, int64_t dy, int64_t fx, int64_t fy) { return dx * fy - dy * fx; };
    sum_patches<int64_t>(field, patches, shape, y, x, moment,
                         [&](size_t k, int64_t sum) { tau[k] = static_cast<float>(2 * sum) * patches[k].norm; });
}

}  // namespace imtorque
