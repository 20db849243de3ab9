#include "core/force_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "core/bit_words.hpp"
#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr double kPellSteps = 3363;  // 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are whole
constexpr float kPellSlack = 1e-3f;  // of a step
constexpr int kPellUnits = 22;       // from 2^22 times the unit on, every force is within the slack of 0 Pell steps
constexpr int kPellGrid = 14;        // from 2^14 times on, 0 is the nearest whole number to every force
constexpr uint32_t kWholeGrid = (1u << kPellGrid) - 1;
constexpr int kSmallestUnit = -100;  // as an exponent: keeps the number of steps inside a float
constexpr int32_t kInfinite = 0x7F800000;

float float_of(int32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

float pell_steps(int unit) { return static_cast<float>(std::ldexp(kPellSteps, -unit)); }

// The unit of a field: the exponent of the power of two above its largest force component, as
// imtorque.core.quantisation has it.
int unit_exponent(double largest) {
    int exponent;
    const double mantissa = std::frexp(largest * (1 - 1e-6), &exponent);
    return std::max(mantissa == 0.5 ? exponent - 1 : exponent, kSmallestUnit);
}

int lowest_bit(uint32_t bits) {  // of a positive float, as an exponent
    const uint32_t mantissa = bits & 0x7FFFFF;
    const int exponent = static_cast<int>(bits >> 23);
    if (exponent == 0) return __builtin_ctz(mantissa) - 149;
    return mantissa ? __builtin_ctz(mantissa) + exponent - 150 : exponent - 127;
}

// Magnitudes of the components of a row's forces, and the largest of them. They are compared as integers: the bits of
// non-negative floats have the floats' order, and integer maxima vectorise.
int32_t gather(const float* fx, const float* fy, const int* places, int count, float* __restrict ax,
               float* __restrict ay, float* __restrict mass) {
    int32_t top = 0;
    for (int i = 0; i < count; ++i) {
        const int x = places[i];
        const float across = std::fabs(fx[x]), down = std::fabs(fy[x]);
        int32_t bx, by;
        std::memcpy(&bx, &across, sizeof bx);
        std::memcpy(&by, &down, sizeof by);
        top = std::max(top, std::max(bx, by));
        ax[i] = across;
        ay[i] = down;
        mass[x] += across + down;
    }
    return top;
}

void count_octaves(const float* ax, const float* ay, int count, StatisticsPart& part) {
    for (int i = 0; i < count; ++i) {
        uint32_t bx, by;
        std::memcpy(&bx, ax + i, sizeof bx);
        std::memcpy(&by, ay + i, sizeof by);
        ++part.octaves[std::max(bx, by) >> 23];
        // The lowest bit of a float lies at most 23 places below its exponent: most forces cannot lower the grain.
        if (bx && static_cast<int>(bx >> 23) - 150 < part.grain) part.grain = std::min(part.grain, lowest_bit(bx));
        if (by && static_cast<int>(by >> 23) - 150 < part.grain) part.grain = std::min(part.grain, lowest_bit(by));
    }
}

uint32_t off_pell_grid(float force, const float* steps, uint32_t done) {
    uint32_t off = done;
    for (uint32_t left = ~done & kWholeGrid; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const float whole = static_cast<float>(round_quickly(force, steps[i]));
        if (std::fabs(force * steps[i] - whole) > kPellSlack) off |= 1u << i;
    }
    return off;
}

void look_for_pell(const float* ax, const float* ay, int count, StatisticsPart& part) {
    if ((~part.not_pell & kWholeGrid) == 0) return;
    float steps[kPellGrid];
    for (int i = 0; i < kPellGrid; ++i) steps[i] = pell_steps(part.unit + i);
    for (int i = 0; i < count && (~part.not_pell & kWholeGrid); ++i)
        part.not_pell = off_pell_grid(ay[i], steps, off_pell_grid(ax[i], steps, part.not_pell));
}

// A word for each kWord pixels: where the forces of a row are. The sign of a zero is none.
IMTORQUE_INLINE void mark_forces_impl(const float* fx, const float* fy, int words, uint64_t* marks) {
    for (int word = 0; word < words; ++word) {
        Lanes<int32_t> found = {}, across, down;
        for (int k = 0; k < kLanes; ++k) {
            std::memcpy(&across, fx + word * kWord + k * kLanes, sizeof across);
            std::memcpy(&down, fy + word * kWord + k * kLanes, sizeof down);
            found |= ((across | down) << 1 != 0) & (1 << k);
        }
        marks[word] = word_of(found);
    }
}
IMTORQUE_DISPATCH(static, mark_forces, (const float* fx, const float* fy, int words, uint64_t* marks),
                  (fx, fy, words, marks))

}  // namespace

int find_places(const float* fx, const float* fy, int width, int* places) {
    constexpr int kBatch = 16;  // words
    int found = 0, x = 0;
    for (; x + kWord <= width; x += kBatch * kWord) {
        const int words = std::min(kBatch, (width - x) / kWord);
        uint64_t marks[kBatch];
        mark_forces(fx + x, fy + x, words, marks);
        for (int w = 0; w < words; ++w) for_each_bit(marks[w], [&](int i) { places[found++] = x + w * kWord + i; });
    }
    for (x = width / kWord * kWord; x < width; ++x)
        if (fx[x] != 0 || fy[x] != 0) places[found++] = x;
    return found;
}

// Of the units that come in, 0 is the nearest whole number of steps to every force so far, so the largest decides.
void StatisticsPart::raise_unit(int to) {
    if (to <= unit) return;
    uint32_t kept = 0;
    for (int i = 0; i < kPellGrid && largest; ++i) {
        const long long before = static_cast<long long>(to) + i - unit;
        const bool off =
            before < kPellGrid ? not_pell >> before & 1 : float_of(largest) * pell_steps(to + i) > kPellSlack;
        kept |= static_cast<uint32_t>(off) << i;
    }
    unit = to;
    not_pell = kept;
}

void StatisticsPart::add(const StatisticsPart& part) {
    largest = std::max(largest, part.largest);
    top = std::min(top, part.top);
    bottom = std::max(bottom, part.bottom);
    left = std::min(left, part.left);
    right = std::max(right, part.right);
    grain = std::min(grain, part.grain);
    for (int e = 0; e < 256; ++e) octaves[e] += part.octaves[e];
}

RowStatistics::RowStatistics(int height, int width, double* blocks, StatisticsPart& part)
    : height_(height),
      width_(width),
      blocks_(blocks),
      part_(part),
      mass_((static_cast<size_t>(block_rows(width)) - 1) * kMassBlock, 0.0f),
      ax_(width),
      ay_(width) {}

void RowStatistics::add(int y, const float* fx, const float* fy, const int* places, int count) {
    if (count > 0) {
        const int32_t largest = gather(fx, fy, places, count, ax_.data(), ay_.data(), mass_.data());
        if (largest > part_.largest && largest < kInfinite) part_.raise_unit(unit_exponent(float_of(largest)));
        part_.largest = std::max(part_.largest, largest);
        part_.top = std::min(part_.top, y);
        part_.bottom = std::max(part_.bottom, y);
        part_.left = std::min(part_.left, places[0]);
        part_.right = std::max(part_.right, places[count - 1]);
        count_octaves(ax_.data(), ay_.data(), count, part_);
        if (part_.largest < kInfinite) look_for_pell(ax_.data(), ay_.data(), count, part_);
    }
    if ((y + 1) % kMassBlock == 0 || y == height_ - 1) close_block(y / kMassBlock);
}

void RowStatistics::close_block(int by) {
    const int cols = block_rows(width_);
    double* sums = blocks_ + (static_cast<size_t>(by) + 1) * cols + 1;
    for (int bx = 0; bx < cols - 1; ++bx)
        for (int i = 0; i < kMassBlock; ++i)
            sums[bx] += static_cast<double>(mass_[static_cast<size_t>(bx) * kMassBlock + i]);
    std::fill(mass_.begin(), mass_.end(), 0.0f);
}

std::vector<double> empty_blocks(int height, int width) {
    return std::vector<double>(static_cast<size_t>(block_rows(height)) * block_rows(width), 0.0);
}

ForceStatistics merged(std::vector<StatisticsPart>& parts, std::vector<double> blocks, int height, int width) {
    const int rows = block_rows(height), cols = block_rows(width);
    for (int by = 1; by < rows; ++by) {
        double* row = blocks.data() + static_cast<size_t>(by) * cols;
        for (int bx = 1; bx < cols; ++bx) row[bx] += row[bx - 1];
        for (int bx = 1; bx < cols; ++bx) row[bx] += row[bx - cols];
    }
    StatisticsPart all;
    for (const StatisticsPart& part : parts) all.add(part);
    ForceStatistics result;
    result.blocks = std::move(blocks);
    if (all.bottom < 0) return result;
    const bool finite = all.largest < kInfinite;
    const double largest = float_of(all.largest);
    result.largest = finite ? largest : std::numeric_limits<double>::infinity();
    result.top = all.top;
    result.left = all.left;
    result.bottom = all.bottom + 1;
    result.right = all.right + 1;
    if (!finite) return result;
    all.unit = unit_exponent(largest);
    for (StatisticsPart& part : parts) {
        part.raise_unit(all.unit);
        all.not_pell |= part.not_pell;
    }
    for (int i = kPellGrid; i < kPellUnits; ++i)
        if (static_cast<float>(largest) * pell_steps(all.unit + i) > kPellSlack) all.not_pell |= 1u << i;
    result.grain = all.grain;
    for (int i = 0; i < kPellUnits; ++i)
        if (all.not_pell >> i & 1) result.not_pell.push_back(all.unit + i);
    for (int e = 0; e < 256; ++e)
        if (all.octaves[e]) result.octaves.push_back({e - 127, all.octaves[e]});
    return result;
}

ForceStatistics force_statistics(const float* fx, const float* fy, int height, int width) {
    constexpr int kPartRows = 8 * kMassBlock;
    std::vector<double> blocks = empty_blocks(height, width);
    std::vector<StatisticsPart> parts((height + kPartRows - 1) / kPartRows);
    parallel_for(static_cast<int>(parts.size()), 1.0 * kPartRows * width, [&](int p) {
        RowStatistics rows(height, width, blocks.data(), parts[p]);
        std::vector<int> places(static_cast<size_t>(width) + 1);
        for (int y = p * kPartRows; y < std::min(height, (p + 1) * kPartRows); ++y) {
            const size_t at = static_cast<size_t>(y) * width;
            rows.add(y, fx + at, fy + at, places.data(), find_places(fx + at, fy + at, width, places.data()));
        }
    });
    return merged(parts, std::move(blocks), height, width);
}

}  // namespace imtorque
