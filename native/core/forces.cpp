// Fixed-point rounding of an edge field, and the bounds that say which integer width holds a patch sum.
#include "core/forces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr double kSparseSteps = 4096;    // per unit of force: 32-bit sums hold to about size 100 on real edges
constexpr double kPellSteps = 3363;      // 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are whole
constexpr double kDenseSteps = 1 << 21;  // where errors of neighbours do not average out
constexpr float kPellSlack = 1e-3f;      // of a step
constexpr double kSmallestUnit = 1e-30;  // keeps the number of steps inside a float
constexpr int kBlock = 8;

struct Extent {  // of a band of rows
    int32_t largest = 0;  // force component, as the bits of its float
    long long count = 0;  // pixels with a force
    int top = std::numeric_limits<int>::max(), bottom = -1, left = std::numeric_limits<int>::max(), right = -1;
};

// Magnitudes are compared as integers: the bits of non-negative floats have the floats' order, and integer maxima
// vectorise.
IMTORQUE_INLINE void survey_row_impl(const float* fx, const float* fy, int width, float* __restrict mass,
                                     int32_t* largest, int32_t* count) {
    int32_t top = 0, edges = 0;
    for (int x = 0; x < width; ++x) {
        const float ax = std::fabs(fx[x]), ay = std::fabs(fy[x]);
        int32_t bx, by;
        std::memcpy(&bx, &ax, sizeof bx);
        std::memcpy(&by, &ay, sizeof by);
        top = bx > top ? bx : top;
        top = by > top ? by : top;
        edges += (bx | by) != 0;
        mass[x] += ax + ay;
    }
    *largest = top;
    *count = edges;
}
IMTORQUE_DISPATCH(static, survey_row,
                  (const float* fx, const float* fy, int width, float* mass, int32_t* largest, int32_t* count),
                  (fx, fy, width, mass, largest, count))

void extend(Extent& e, const float* fx, const float* fy, int y, int width, int32_t largest, int32_t count) {
    if (count == 0) return;
    int left = 0, right = width - 1;
    while (fx[left] == 0 && fy[left] == 0) ++left;
    while (fx[right] == 0 && fy[right] == 0) --right;
    e.largest = std::max(e.largest, largest);
    e.count += count;
    e.top = std::min(e.top, y);
    e.bottom = std::max(e.bottom, y);
    e.left = std::min(e.left, left);
    e.right = std::max(e.right, right);
}

// Largest distance, in steps, of a force component from the whole numbers, at most.
bool row_is_whole(const float* fx, const float* fy, int width, float steps, float slack) {
    int off = 0;
    for (int x = 0; x < width; ++x) {
        const float ex = std::fabs(fx[x] * steps - static_cast<float>(round_force(fx[x], steps)));
        const float ey = std::fabs(fy[x] * steps - static_cast<float>(round_force(fy[x], steps)));
        off |= (ex > slack) | (ey > slack);
    }
    return off == 0;
}

// Whether every force is whole, within `slack`, at this many steps. Stops at the first row that says no.
bool whole(const float* fx, const float* fy, int height, int width, double steps, float slack) {
    for (int y = 0; y < height; ++y) {
        const size_t row = static_cast<size_t>(y) * width;
        if (!row_is_whole(fx + row, fy + row, width, static_cast<float>(steps), slack)) return false;
    }
    return true;
}

double power_of_two_above(double x) { return std::exp2(std::ceil(std::log2(x * (1 - 1e-6)))); }
double power_of_two_below(double x) { return std::exp2(std::floor(std::log2(x))); }

// Sparse fields (edges) take 4096 steps per power of two above the largest force. Fields that are exact at that
// resolution (whole numbers, halves, ...) stay exact; fields of the eight directions take the Pell number at which both
// 1 and 1/sqrt(2) are whole; dense fields (whole gradients), whose neighbouring errors are alike and do not average
// out, take a finer step and pay with 64-bit sums.
double choose_steps(const float* fx, const float* fy, int height, int width, const Extent& e) {
    if (e.count == 0) return 1;
    float largest;
    std::memcpy(&largest, &e.largest, sizeof largest);
    const double unit = std::max(power_of_two_above(largest), kSmallestUnit);
    if (whole(fx, fy, height, width, kSparseSteps / unit, 0)) return kSparseSteps / unit;
    if (whole(fx, fy, height, width, kPellSteps / unit, kPellSlack)) return kPellSteps / unit;
    const double area = (e.bottom - e.top + 1.0) * (e.right - e.left + 1.0);
    if (2.5 * static_cast<double>(e.count) < area) return kSparseSteps / unit;
    const double worst = 2.0 * height * width * std::hypot(height, width);  // twice the moment of unit forces everywhere
    return std::min(kDenseSteps, power_of_two_below(std::exp2(62) / worst)) / unit;
}

}  // namespace

int block_rows(int length) { return (length + kBlock - 1) / kBlock + 1; }

Survey survey(const float* fx, const float* fy, int height, int width) {
    const int rows = block_rows(height), cols = block_rows(width);
    std::vector<double> blocks(static_cast<size_t>(rows) * cols, 0.0);
    std::vector<Extent> extents(rows - 1);
    parallel_for(rows - 1, 1.0 * kBlock * width, [&](int by) {
        double* sums = blocks.data() + (static_cast<size_t>(by) + 1) * cols + 1;
        std::vector<float> mass(static_cast<size_t>(cols) * kBlock, 0.0f);
        for (int y = by * kBlock; y < std::min(height, (by + 1) * kBlock); ++y) {
            const size_t row = static_cast<size_t>(y) * width;
            int32_t largest, count;
            survey_row(fx + row, fy + row, width, mass.data(), &largest, &count);
            extend(extents[by], fx + row, fy + row, y, width, largest, count);
        }
        for (int bx = 0; bx < cols - 1; ++bx)
            for (int i = 0; i < kBlock; ++i) sums[bx] += static_cast<double>(mass[static_cast<size_t>(bx) * kBlock + i]);
    });
    Extent all;
    for (const Extent& e : extents) {
        all.largest = std::max(all.largest, e.largest);
        all.count += e.count;
        all.top = std::min(all.top, e.top);
        all.bottom = std::max(all.bottom, e.bottom);
        all.left = std::min(all.left, e.left);
        all.right = std::max(all.right, e.right);
    }
    for (int by = 1; by < rows; ++by) {
        double* row = blocks.data() + static_cast<size_t>(by) * cols;
        for (int bx = 1; bx < cols; ++bx) row[bx] += row[bx - 1];
        for (int bx = 1; bx < cols; ++bx) row[bx] += row[bx - cols];
    }
    float largest;
    std::memcpy(&largest, &all.largest, sizeof largest);
    if (!std::isfinite(largest)) return {std::numeric_limits<double>::infinity(), 1, std::move(blocks)};
    return {largest, choose_steps(fx, fy, height, width, all), std::move(blocks)};
}

// |dx Fy - dy Fx| <= max(|dx|, |dy|) (|Fx| + |Fy|): the longest lever times the largest mass in any such patch, counted
// over the blocks it can touch. Rounding adds at most one step per pixel to the mass.
Width width_of_sums(const Field& f, const Patch& patch) {
    const int rows = block_rows(f.height) - 1, cols = block_rows(f.width) - 1;
    const int span_y = std::min(rows, (2 * patch.ry + 1 + 2 * (kBlock - 1)) / kBlock);
    const int span_x = std::min(cols, (2 * patch.rx + 1 + 2 * (kBlock - 1)) / kBlock);
    const size_t stride = static_cast<size_t>(cols) + 1;
    double mass = 0;
    for (int by = 0; by + span_y <= rows; ++by) {
        const double* top = f.blocks + by * stride;
        const double* bottom = f.blocks + (by + span_y) * stride;
        for (int bx = 0; bx + span_x <= cols; ++bx)
            mass = std::max(mass, bottom[bx + span_x] - bottom[bx] - top[bx + span_x] + top[bx]);
    }
    const double lever = std::max(std::min(patch.ry, f.height - 1), std::min(patch.rx, f.width - 1));
    const double pixels = std::min(2.0 * patch.ry + 1, 1.0 * f.height) * std::min(2.0 * patch.rx + 1, 1.0 * f.width);
    // Twice the moment enters the sum; a margin of 1 % covers the arithmetic of the bound.
    const double bound = 2.02 * lever * (mass * f.steps + pixels);
    if (bound < std::exp2(31)) return Width::bits32;
    return bound < std::exp2(51) ? Width::bits64 : Width::bits64_long;
}

}  // namespace imtorque
