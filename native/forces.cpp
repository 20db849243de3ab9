// Fixed-point rounding of an edge field, and the bounds that say which integer width holds a patch sum.
#include "forces.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "parallel.hpp"

namespace imtorque {
namespace {

constexpr double kSparseSteps = 4096;      // per unit of force: 32-bit sums hold to about size 100 on real edges
constexpr double kPellSteps = 3363;        // 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are integers
constexpr double kDenseSteps = 1 << 21;    // where errors of neighbours do not average out
constexpr double kPellSlack = 1e-3;        // of a step
constexpr double kSmallestUnit = 1e-30;    // keeps the number of steps inside a float
constexpr int kBlock = 8;

struct Survey {
    float largest = 0;             // largest force component
    long long count = 0;           // pixels with a force
    int top, bottom, left, right;  // their bounding box, inclusive
};

// Magnitudes are compared as integers: the bits of non-negative floats have the floats' order, and integer maxima
// vectorise.
IMTORQUE_INLINE void largest_in_row_impl(const float* fx, const float* fy, int width, int32_t* largest, int32_t* count) {
    int32_t top = 0, edges = 0;
    for (int x = 0; x < width; ++x) {
        int32_t bx, by;
        std::memcpy(&bx, fx + x, sizeof bx);
        std::memcpy(&by, fy + x, sizeof by);
        bx &= 0x7FFFFFFF;
        by &= 0x7FFFFFFF;
        top = bx > top ? bx : top;
        top = by > top ? by : top;
        edges += (bx | by) != 0;
    }
    *largest = top;
    *count = edges;
}
IMTORQUE_DISPATCH(static, largest_in_row, (const float* fx, const float* fy, int width, int32_t* largest, int32_t* count),
                  (fx, fy, width, largest, count))

void survey_row(const float* fx, const float* fy, int y, int width, Survey& s) {
    int32_t bits, count;
    largest_in_row(fx, fy, width, &bits, &count);
    if (count == 0) return;
    float largest;
    std::memcpy(&largest, &bits, sizeof largest);
    int left = 0, right = width - 1;
    while (fx[left] == 0 && fy[left] == 0) ++left;
    while (fx[right] == 0 && fy[right] == 0) --right;
    s.largest = std::max(s.largest, largest);
    s.count += count;
    s.top = std::min(s.top, y);
    s.bottom = std::max(s.bottom, y);
    s.left = std::min(s.left, left);
    s.right = std::max(s.right, right);
}

// Largest distance, in steps, of a force component from the integers.
float residual_row(const float* fx, const float* fy, int width, float steps) {
    float worst = 0;
    for (int x = 0; x < width; ++x) {
        const float ex = std::fabs(fx[x] * steps - static_cast<float>(round_force(fx[x], steps)));
        const float ey = std::fabs(fy[x] * steps - static_cast<float>(round_force(fy[x], steps)));
        const float e = ex > ey ? ex : ey;
        worst = e > worst ? e : worst;
    }
    return worst;
}

// Whether every force is an integer, within `slack`, at this many steps. Stops at the first row that says no.
bool representable(const Field& f, double steps, double slack) {
    for (int y = 0; y < f.height; ++y) {
        const size_t row = static_cast<size_t>(y) * f.width;
        if (residual_row(f.fx + row, f.fy + row, f.width, static_cast<float>(steps)) > slack) return false;
    }
    return true;
}

int bands_for(int height) { return std::max(1, std::min(height / 16, 4 * num_threads())); }

Survey survey_field(const Field& f) {
    const Survey none{0, 0, f.height, -1, f.width, -1};
    Survey all = none;
    std::mutex lock;
    const int bands = bands_for(f.height);
    parallel_for(bands, [&](int band) {
        Survey s = none;
        const int from = static_cast<int>(static_cast<long long>(f.height) * band / bands);
        const int to = static_cast<int>(static_cast<long long>(f.height) * (band + 1) / bands);
        for (int y = from; y < to; ++y) {
            const size_t row = static_cast<size_t>(y) * f.width;
            survey_row(f.fx + row, f.fy + row, y, f.width, s);
        }
        std::lock_guard<std::mutex> guard(lock);
        all.largest = std::max(all.largest, s.largest);
        all.count += s.count;
        all.top = std::min(all.top, s.top);
        all.bottom = std::max(all.bottom, s.bottom);
        all.left = std::min(all.left, s.left);
        all.right = std::max(all.right, s.right);
    });
    return all;
}

// mass[x] += |Fx| + |Fy| in steps.
IMTORQUE_INLINE void add_mass_impl(const float* fx, const float* fy, int width, float steps, int32_t* __restrict mass,
                                   int32_t* largest) {
    int32_t top = *largest;
    for (int x = 0; x < width; ++x) {
        const int32_t rx = round_force(fx[x], steps), ry = round_force(fy[x], steps);
        const int32_t m = (rx < 0 ? -rx : rx) + (ry < 0 ? -ry : ry);
        mass[x] += m;
        top = m > top ? m : top;
    }
    *largest = top;
}
IMTORQUE_DISPATCH(static, add_mass,
                  (const float* fx, const float* fy, int width, float steps, int32_t* mass, int32_t* largest),
                  (fx, fy, width, steps, mass, largest))

double power_of_two_above(double x) { return std::exp2(std::ceil(std::log2(x * (1 - 1e-6)))); }
double power_of_two_below(double x) { return std::exp2(std::floor(std::log2(x))); }

}  // namespace

// Sparse fields (edges) take 4096 steps per power of two above the largest force. Fields that are exact at that
// resolution (whole numbers, halves, ...) stay exact; fields of the eight directions take the Pell number at which both
// 1 and 1/sqrt(2) are whole; dense fields (whole gradients), whose neighbouring errors are alike and do not average
// out, take a finer step and pay with 64-bit sums.
double rounding_steps(const Field& f) {
    const Survey s = survey_field(f);
    if (s.count == 0) return 1;
    const double unit = std::max(power_of_two_above(s.largest), kSmallestUnit);
    if (representable(f, kSparseSteps / unit, 0)) return kSparseSteps / unit;
    if (representable(f, kPellSteps / unit, kPellSlack)) return kPellSteps / unit;
    const double area = (s.bottom - s.top + 1.0) * (s.right - s.left + 1.0);
    if (2.5 * static_cast<double>(s.count) < area) return kSparseSteps / unit;
    const double n = static_cast<double>(f.height) * f.width;
    const double worst = 2 * n * std::hypot(f.height, f.width);  // twice the moment of a field full of unit forces
    return std::min(kDenseSteps, power_of_two_below(std::exp2(62) / worst)) / unit;
}

MomentBound::MomentBound(const Field& f, double steps)
    : largest_(0), height_(f.height), width_(f.width), rows_((f.height + kBlock - 1) / kBlock),
      cols_((f.width + kBlock - 1) / kBlock) {
    const size_t stride = static_cast<size_t>(cols_) + 1;
    table_ = new int64_t[(static_cast<size_t>(rows_) + 1) * stride]();
    std::vector<int32_t> largest(rows_, 0);
    parallel_for(rows_, [&](int by) {
        int64_t* sums = table_ + (static_cast<size_t>(by) + 1) * stride + 1;
        std::vector<int32_t> mass(static_cast<size_t>(cols_) * kBlock, 0);
        for (int y = by * kBlock; y < std::min(height_, (by + 1) * kBlock); ++y) {
            const size_t row = static_cast<size_t>(y) * width_;
            add_mass(f.fx + row, f.fy + row, width_, static_cast<float>(steps), mass.data(), &largest[by]);
        }
        for (int bx = 0; bx < cols_; ++bx)
            for (int i = 0; i < kBlock; ++i) sums[bx] += mass[static_cast<size_t>(bx) * kBlock + i];
    });
    for (int32_t m : largest) largest_ = std::max(largest_, static_cast<double>(m));
    for (int by = 0; by < rows_; ++by) {
        int64_t* row = table_ + (static_cast<size_t>(by) + 1) * stride;
        for (int bx = 0; bx < cols_; ++bx) row[bx + 1] += row[bx];
        for (int bx = 0; bx <= cols_; ++bx) row[bx] += row[bx - static_cast<ptrdiff_t>(stride)];
    }
}

MomentBound::~MomentBound() { delete[] table_; }

// |dx Fy - dy Fx| <= max(|dx|, |dy|) (|Fx| + |Fy|): the longest lever times the largest mass in any such box, counted
// over the blocks it can touch.
double MomentBound::moment(int ry, int rx) const {
    const int span_y = std::min(rows_, (2 * ry + 1 + 2 * (kBlock - 1)) / kBlock);
    const int span_x = std::min(cols_, (2 * rx + 1 + 2 * (kBlock - 1)) / kBlock);
    const size_t stride = static_cast<size_t>(cols_) + 1;
    int64_t mass = 0;
    for (int by = 0; by + span_y <= rows_; ++by) {
        const int64_t* top = table_ + by * stride;
        const int64_t* bottom = table_ + (by + span_y) * stride;
        for (int bx = 0; bx + span_x <= cols_; ++bx) {
            const int64_t m = bottom[bx + span_x] - bottom[bx] - top[bx + span_x] + top[bx];
            mass = m > mass ? m : mass;
        }
    }
    const int lever = std::max(std::min(ry, height_ - 1), std::min(rx, width_ - 1));
    return static_cast<double>(mass) * lever;
}

Width MomentBound::width(const Patch& patch) const {
    // Twice the moment enters the sum; a margin of 1 % covers the arithmetic of the bounds.
    const double area = (2.0 * patch.ry + 1) * (2.0 * patch.rx + 1);
    const double full = 2.02 * area * std::max(patch.ry, patch.rx) * largest_;
    if (full < std::exp2(31)) return Width::bits32;
    const double bound = std::min(full, 2.02 * moment(patch.ry, patch.rx));
    if (bound < std::exp2(31)) return Width::bits32;
    return bound < std::exp2(51) ? Width::bits64 : Width::bits64_long;
}

}  // namespace imtorque
