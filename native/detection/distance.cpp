// Exact, in two passes: down and up the columns, then along each row by the lower envelope of parabolas (Felzenszwalb
// and Huttenlocher 2012; Meijster et al. 2000). Naive twin: naive.distance_transform.
#include "detection/distance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kColumns = 64, kRows = 16;  // of one task

// Distances along the columns, from the first to the last row and back.
void column_pass(const uint8_t* inside, int height, int width, int begin, int end, float farthest, float* distance) {
    for (int y = 0; y < height; ++y)
        for (int x = begin; x < end; ++x) {
            const std::size_t p = static_cast<std::size_t>(y) * width + x;
            distance[p] = !inside[p] ? 0 : y ? std::min(farthest, distance[p - width] + 1) : farthest;
        }
    for (int y = height - 2; y >= 0; --y)
        for (int x = begin; x < end; ++x) {
            const std::size_t p = static_cast<std::size_t>(y) * width + x;
            distance[p] = std::min(distance[p], distance[p + width] + 1);
        }
}

struct Envelope {
    std::vector<int> place;
    std::vector<double> from, height;
    explicit Envelope(int width) : place(width), from(width + 1), height(width) {}

    // Pixels of the ground bound what lies between them: nothing beyond is nearer.
    void row(float* values, int width) {
        for (int begin = 0, end; begin < width; begin = end + 1) {
            while (begin < width && values[begin] == 0) ++begin;
            for (end = begin; end < width && values[end] != 0;) ++end;
            if (begin < end) stretch(values, std::max(begin - 1, 0), std::min(end, width - 1));
        }
    }

    void stretch(float* values, int first, int last) {
        for (int x = first; x <= last; ++x) height[x] = static_cast<double>(values[x]) * values[x];
        int top = 0;
        place[0] = first, from[0] = -1e30, from[1] = 1e30;
        for (int x = first + 1; x <= last; ++x) {
            double meet = crossing(place[top], x);
            while (top > 0 && meet <= from[top]) meet = crossing(place[--top], x);
            place[++top] = x, from[top] = meet, from[top + 1] = 1e30;
        }
        for (int x = first, k = 0; x <= last; ++x) {
            while (from[k + 1] < x) ++k;
            const double dx = x - place[k];
            values[x] = static_cast<float>(std::sqrt(dx * dx + height[place[k]]));
        }
    }

    // Where the parabola over b comes below that over a; a < b.
    double crossing(int a, int b) const {
        const double xa = a, xb = b;
        return ((height[b] + xb * xb) - (height[a] + xa * xa)) / (2 * (xb - xa));
    }
};

}  // namespace

void distance_transform(const uint8_t* inside, int height, int width, float* distance) {
    const float farthest = std::hypot(static_cast<float>(height), static_cast<float>(width));
    parallel_for((width + kColumns - 1) / kColumns, 5.0 * kColumns * height, [&](int task) {
        column_pass(inside, height, width, task * kColumns, std::min(width, (task + 1) * kColumns), farthest, distance);
    });
    parallel_for((height + kRows - 1) / kRows, 20.0 * kRows * width, [&](int task) {
        Envelope envelope(width);
        for (int y = task * kRows; y < std::min(height, (task + 1) * kRows); ++y)
            envelope.row(distance + static_cast<std::size_t>(y) * width, width);
    });
}

}  // namespace imtorque
