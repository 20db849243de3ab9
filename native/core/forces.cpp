// Fixed-point rounding of an edge field, and the bounds that say which integer width holds a patch sum.
#include "core/forces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr double kPellSteps = 3363;  // 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are whole
constexpr float kPellSlack = 1e-3f;  // of a step
constexpr int kPellUnits = 22;       // from 2^22 times the unit on, every force is within the slack of 0 Pell steps
constexpr int kPellGrid = 14;        // from 2^14 times on, 0 is the nearest whole number to every force
constexpr int kSmallestUnit = -100;  // as an exponent: keeps the number of steps inside a float
constexpr int kBlock = 8;

struct Extent {           // of a band of rows
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

// The unit of a field: the exponent of the power of two above its largest force component, as imtorque._survey has it.
int unit_exponent(double largest) {
    int exponent;
    const double mantissa = std::frexp(largest * (1 - 1e-6), &exponent);
    return std::max(mantissa == 0.5 ? exponent - 1 : exponent, kSmallestUnit);
}

struct Detail {  // of a band of rows
    int grain = std::numeric_limits<int>::max();
    uint32_t not_pell = 0;  // bit i: at the unit times 2^i
    int32_t octaves[256] = {};
};

int lowest_bit(uint32_t bits) {  // of a positive float, as an exponent
    const uint32_t mantissa = bits & 0x7FFFFF;
    const int exponent = static_cast<int>(bits >> 23);
    if (exponent == 0) return __builtin_ctz(mantissa) - 149;
    return mantissa ? __builtin_ctz(mantissa) + exponent - 150 : exponent - 127;
}

uint32_t off_pell_grid(float force, const float* steps, uint32_t done) {
    uint32_t off = done;
    for (uint32_t left = ~done & ((1u << kPellGrid) - 1); left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const float whole = static_cast<float>(round_quickly(force, steps[i]));
        if (std::fabs(force * steps[i] - whole) > kPellSlack) off |= 1u << i;
    }
    return off;
}

IMTORQUE_INLINE void look_at_force(Detail& d, float fx, float fy, const float* pell) {
    const float ax = std::fabs(fx), ay = std::fabs(fy);
    uint32_t bx, by;
    std::memcpy(&bx, &ax, sizeof bx);
    std::memcpy(&by, &ay, sizeof by);
    ++d.octaves[std::max(bx, by) >> 23];
    // The lowest bit of a float lies at most 23 places below its exponent: most forces cannot lower the grain.
    if (bx && static_cast<int>(bx >> 23) - 150 < d.grain) d.grain = std::min(d.grain, lowest_bit(bx));
    if (by && static_cast<int>(by >> 23) - 150 < d.grain) d.grain = std::min(d.grain, lowest_bit(by));
    if (~d.not_pell & ((1u << kPellGrid) - 1))
        d.not_pell = off_pell_grid(ay, pell, off_pell_grid(ax, pell, d.not_pell));
}

// `places` has room for a row: where the forces are, found without a branch for each pixel.
void look_at_row(Detail& d, const float* fx, const float* fy, int width, const float* pell, std::vector<int>& places) {
    constexpr int kGroup = 8;
    int found = 0, x = 0;
    for (; x + kGroup <= width; x += kGroup) {
        uint32_t words[2 * kGroup];
        std::memcpy(words, fx + x, kGroup * sizeof(float));
        std::memcpy(words + kGroup, fy + x, kGroup * sizeof(float));
        uint32_t any = 0;
        for (const uint32_t word : words) any |= word;
        if (any << 1 == 0) continue;  // most groups hold no force; the sign of a zero is none
        for (int i = 0; i < kGroup; ++i) {
            places[found] = x + i;
            found += (words[i] | words[kGroup + i]) << 1 != 0;
        }
    }
    for (; x < width; ++x) {
        places[found] = x;
        found += fx[x] != 0 || fy[x] != 0;
    }
    for (int i = 0; i < found; ++i) look_at_force(d, fx[places[i]], fy[places[i]], pell);
}

// The second pass: what needs to know the largest force, or looks at single forces.
void look_closer(const float* fx, const float* fy, int height, int width, Survey& s) {
    const int unit = unit_exponent(s.largest);
    float pell[kPellUnits];
    for (int i = 0; i < kPellUnits; ++i) pell[i] = static_cast<float>(std::ldexp(kPellSteps, -unit - i));
    Detail all;
    for (int i = kPellGrid; i < kPellUnits; ++i)
        if (static_cast<float>(s.largest) * pell[i] > kPellSlack) all.not_pell |= 1u << i;
    const int bands = block_rows(height) - 1;
    std::vector<Detail> details(bands);
    parallel_for(bands, 1.0 * kBlock * width, [&](int band) {
        std::vector<int> places(static_cast<size_t>(width) + 1);
        for (int y = band * kBlock; y < std::min(height, (band + 1) * kBlock); ++y) {
            const size_t row = static_cast<size_t>(y) * width;
            look_at_row(details[band], fx + row, fy + row, width, pell, places);
        }
    });
    long long octaves[256] = {};
    for (const Detail& d : details) {
        all.grain = std::min(all.grain, d.grain);
        all.not_pell |= d.not_pell;
        for (int e = 0; e < 256; ++e) octaves[e] += d.octaves[e];
    }
    s.grain = all.grain;
    for (int i = 0; i < kPellUnits; ++i)
        if (all.not_pell >> i & 1) s.not_pell.push_back(unit + i);
    for (int e = 0; e < 256; ++e)
        if (octaves[e]) s.octaves.push_back({e - 127, octaves[e]});
}

}  // namespace

void turn_forces(const float* fx, const float* fy, size_t count, const Turn& turn, float* out_x, float* out_y) {
    constexpr size_t kPart = 1 << 16;
    const Turn t = turn;
    parallel_for(static_cast<int>((count + kPart - 1) / kPart), 1.0 * kPart, [&](int part) {
        for (size_t i = part * kPart; i < std::min(count, (part + 1) * kPart); ++i) {
            out_x[i] = static_cast<float>(t.a * fx[i] + t.b * fy[i]);
            out_y[i] = static_cast<float>(t.c * fx[i] + t.d * fy[i]);
        }
    });
}

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
            for (int i = 0; i < kBlock; ++i)
                sums[bx] += static_cast<double>(mass[static_cast<size_t>(bx) * kBlock + i]);
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
    Survey result;
    result.blocks = std::move(blocks);
    if (all.count == 0) return result;
    float largest;
    std::memcpy(&largest, &all.largest, sizeof largest);
    result.largest = std::isfinite(largest) ? largest : std::numeric_limits<double>::infinity();
    result.top = all.top;
    result.left = all.left;
    result.bottom = all.bottom + 1;
    result.right = all.right + 1;
    if (std::isfinite(largest)) look_closer(fx, fy, height, width, result);
    return result;
}

// Counted over the blocks a patch can touch.
double largest_mass(const Field& f, const Patch& patch) {
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
    return mass;
}

// |dx Fy - dy Fx| <= max(|dx|, |dy|) (|Fx| + |Fy|): the longest lever times the largest mass in any such patch.
// Rounding adds at most one step per pixel to the mass.
Width width_of_sums(const Field& f, const Patch& patch) {
    const double lever = std::max(std::min(patch.ry, f.height - 1), std::min(patch.rx, f.width - 1));
    const double pixels = std::min(2.0 * patch.ry + 1, 1.0 * f.height) * std::min(2.0 * patch.rx + 1, 1.0 * f.width);
    // Twice the moment enters the sum; a margin of 1 % covers the arithmetic of the bound.
    const double bound = 2.02 * lever * (largest_mass(f, patch) * f.steps + pixels);
    if (bound < std::exp2(31)) return Width::bits32;
    return bound < std::exp2(51) ? Width::bits64 : Width::bits64_long;
}

}  // namespace imtorque
