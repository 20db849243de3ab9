// Forces and first moments of single boxes: a visit to every pixel of each, in exact integers. For the few patches that
// are left of many, where tables over the whole picture would cost more. Naive twin: naive.openness.
#include "core/moments_at.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

struct Span {
    long long from, to;  // half-open
};
Span clip(long long centre, long long reach, int length) {
    return {std::max<long long>(0, centre - reach), std::min<long long>(length, centre + reach + 1)};
}

}  // namespace

void moments_at(const Field& field, const Boxes& boxes, double* sums) {
    double pixels = 0;  // of all boxes, a nanosecond each
    for (long long k = 0; k < boxes.count; ++k)
        pixels += static_cast<double>(std::min<long long>(boxes.height[k], field.height)) *
                  std::min<long long>(boxes.width[k], field.width);
    const float rounding = static_cast<float>(field.steps);
    const double unit = 1 / field.steps;
    parallel_for(static_cast<int>(boxes.count), pixels / std::max<long long>(boxes.count, 1), [&](int k) {
        Poll poll(64);
        const Span rows = clip(boxes.y[k], boxes.height[k] / 2, field.height);
        const Span columns = clip(boxes.x[k], boxes.width[k] / 2, field.width);
        int64_t sum[6] = {0, 0, 0, 0, 0, 0};
        for (long long v = rows.from; v < rows.to; ++v) {
            poll();
            const size_t start = static_cast<size_t>(v) * field.width;
            const int64_t dy = v - boxes.y[k];
            int64_t fx_of_row = 0, fy_of_row = 0;
            for (long long u = columns.from; u < columns.to; ++u) {
                if (field.fx[start + u] == 0 && field.fy[start + u] == 0) continue;  // most are no edges
                const int64_t fx = round_force(field.fx[start + u], rounding);
                const int64_t fy = round_force(field.fy[start + u], rounding);
                fx_of_row += fx;
                fy_of_row += fy;
                sum[2] += (u - boxes.x[k]) * fx;
                sum[3] += (u - boxes.x[k]) * fy;
            }
            sum[0] += fx_of_row;
            sum[1] += fy_of_row;
            sum[4] += dy * fx_of_row;
            sum[5] += dy * fy_of_row;
        }
        for (int i = 0; i < 6; ++i) sums[6 * static_cast<size_t>(k) + i] = static_cast<double>(sum[i]) * unit;
    });
}

}  // namespace imtorque
