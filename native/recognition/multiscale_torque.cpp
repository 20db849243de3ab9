// All regions of all patches come from one summed-area table, whose cells hold the three sums a moment needs side by
// side: a region is four cache lines. Forces are rounded as everywhere, so each value equals the torque map's. With
// alignment, the directions begin with the one nearest to the centroid of the edges in the patch, each edge weighted by
// its force. Naive twin: naive.multiscale_torque.
#include "recognition/multiscale_torque.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr double kHalfRoot = 0.70710678118654752440;
// Directions in steps of 45 degrees from the x axis towards the y axis (down).
constexpr double kCos[kDirections] = {1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot, 0, kHalfRoot};
constexpr double kSin[kDirections] = {0, kHalfRoot, 1, kHalfRoot, 0, -kHalfRoot, -1, -kHalfRoot};
constexpr int kChunk = 256;  // patches a task takes

struct Half {  // of a region's height and width
    int64_t y, x;
};

struct Cell {  // exclusive prefix sums: of Fx, Fy and u Fy - v Fx; or of |F|, u |F| and v |F|
    int64_t a, b, t;
};

template <class Value>
std::unique_ptr<Cell[]> table_of(const Field& field, const Value& value) {
    const size_t width = static_cast<size_t>(field.width) + 1;
    std::unique_ptr<Cell[]> cells(new Cell[(static_cast<size_t>(field.height) + 1) * width]);
    std::fill_n(cells.get(), width, Cell{0, 0, 0});
    for (int v = 0; v < field.height; ++v) {
        check_interrupt();
        const Cell* above = cells.get() + v * width;
        Cell* below = cells.get() + (v + 1) * width;
        Cell sum{0, 0, 0};
        below[0] = sum;
        for (int u = 0; u < field.width; ++u) {
            const Cell one = value(static_cast<size_t>(v) * field.width + u, v, u);
            sum = {sum.a + one.a, sum.b + one.b, sum.t + one.t};
            below[u + 1] = {above[u + 1].a + sum.a, above[u + 1].b + sum.b, above[u + 1].t + sum.t};
        }
    }
    return cells;
}

Cell box_sum(const Cell* cells, const Field& field, int64_t y, int64_t x, Half half) {
    const int64_t width = static_cast<int64_t>(field.width) + 1;
    const int64_t top = std::clamp<int64_t>(y - half.y, 0, field.height);
    const int64_t bottom = std::clamp<int64_t>(y + half.y + 1, 0, field.height);
    const int64_t left = std::clamp<int64_t>(x - half.x, 0, field.width);
    const int64_t right = std::clamp<int64_t>(x + half.x + 1, 0, field.width);
    const Cell &p = cells[bottom * width + right], &q = cells[top * width + right], &r = cells[bottom * width + left],
               &s = cells[top * width + left];
    return {p.a - q.a - r.a + s.a, p.b - q.b - r.b + s.b, p.t - q.t - r.t + s.t};
}

float torque(const Cell* cells, const Field& field, int64_t y, int64_t x, Half half) {
    const Cell sum = box_sum(cells, field, y, x, half);
    const double height = static_cast<double>(2 * half.y + 1), width = static_cast<double>(2 * half.x + 1);
    return static_cast<float>(static_cast<double>(sum.t - x * sum.b + y * sum.a) / (2 * height * width * field.steps));
}

// The direction nearest to the centroid of the edges; the first where there are none.
int first_direction(const Cell* masses, const Field& field, int64_t y, int64_t x, Half half) {
    const Cell sum = box_sum(masses, field, y, x, half);
    const double dx = static_cast<double>(sum.b - x * sum.a), dy = static_cast<double>(sum.t - y * sum.a);
    int best = 0;
    for (int d = 1; d < kDirections; ++d)
        if (dx * kCos[d] + dy * kSin[d] > dx * kCos[best] + dy * kSin[best]) best = d;
    return best;
}

int64_t half_of(double share, double side) { return std::max<int64_t>(1, std::llround((share * side - 1) / 2)); }

}  // namespace

void multiscale_torque(const Field& field, const int64_t* y, const int64_t* x, const int64_t* height,
                       const int64_t* width, long long n, const Layout& layout, float* out) {
    const float steps = static_cast<float>(field.steps);
    const auto forces = table_of(field, [&](size_t at, int64_t v, int64_t u) {
        const int64_t fx = round_force(field.fx[at], steps), fy = round_force(field.fy[at], steps);
        return Cell{fx, fy, u * fy - v * fx};
    });
    std::unique_ptr<Cell[]> masses;
    if (layout.align)
        masses = table_of(field, [&](size_t at, int64_t v, int64_t u) {
            const int64_t mass = std::llround(std::sqrt(static_cast<double>(field.fx[at]) * field.fx[at] +
                                                        static_cast<double>(field.fy[at]) * field.fy[at]) *
                                              field.steps);
            return Cell{mass, u * mass, v * mass};
        });
    const int length = descriptor_length(layout);
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), 5.0 * length * kChunk, [&](int chunk) {
        for (long long i = static_cast<long long>(chunk) * kChunk; i < std::min<long long>(n, (chunk + 1LL) * kChunk);
             ++i) {
            const double tall = static_cast<double>(height[i]), wide = static_cast<double>(width[i]);
            const Half patch{height[i] / 2, width[i] / 2};
            const int turn = layout.align ? first_direction(masses.get(), field, y[i], x[i], patch) : 0;
            float* value = out + i * length;
            for (int r = 0; r < layout.region_count; ++r) {
                const Half half{half_of(layout.regions[r], tall), half_of(layout.regions[r], wide)};
                *value++ = torque(forces.get(), field, y[i], x[i], half);
                for (int d = 0; d < kDirections; ++d) {
                    const int direction = (d + turn) % kDirections;
                    for (int k = 0; k < layout.distance_count; ++k) {
                        const double down = layout.distances[k] * tall, across = layout.distances[k] * wide;
                        *value++ = torque(forces.get(), field, y[i] + std::llround(down * kSin[direction]),
                                          x[i] + std::llround(across * kCos[direction]), half);
                    }
                }
            }
        }
    });
}

}  // namespace imtorque
