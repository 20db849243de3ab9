#include "edges/thresholds.hpp"

#include <algorithm>
#include <cstring>

#include "core/simd.hpp"
#include "edges/suppress.hpp"

namespace imtorque {
namespace {

constexpr double kBelow = 0.7;  // part of the pixels below the high threshold
constexpr int kStep = 256;      // magnitudes at a time
constexpr int kCopies = 4;      // of the counts, so that runs of one value do not wait for each other

// Ranges by the upper bits of a float: the first holds 0 alone, for kNoise lies in the second; the last all that is
// larger than images' gradients are.
constexpr int kShift = 16;
constexpr int kRanges = 26 << (23 - kShift);

int32_t bits_of(float value) {
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(int32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

const int32_t kFirst = (bits_of(kNoise) >> kShift) - 1;

IMTORQUE_INLINE void find_ranges_impl(const float* values, int count, int32_t first, int32_t* __restrict ranges) {
    IMTORQUE_IVDEP
    for (int i = 0; i < count; ++i) {
        int32_t bits;
        std::memcpy(&bits, values + i, sizeof bits);
        const int32_t range = (bits >> kShift) - first;
        ranges[i] = range < 0 ? 0 : range < kRanges ? range : kRanges - 1;
    }
}
IMTORQUE_DISPATCH(static, find_ranges, (const float* values, int count, int32_t first, int32_t* ranges),
                  (values, count, first, ranges))

IMTORQUE_INLINE void find_bins_impl(const float* values, int count, float scale, int32_t* __restrict bins) {
    for (int i = 0; i < count; ++i) {
        const auto bin = static_cast<int32_t>(values[i] * scale);
        bins[i] = bin < kBins ? bin : kBins - 1;
    }
}
IMTORQUE_DISPATCH(static, find_bins, (const float* values, int count, float scale, int32_t* bins),
                  (values, count, scale, bins))

int bin_of(float value, float largest) {
    int32_t bin;
    find_bins(&value, 1, kBins / largest, &bin);
    return bin;
}

double quantile(std::vector<float>& values, double q) {
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(position);
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(below), values.end());
    const double low = values[below];
    if (below + 1 == values.size()) return low;
    const double high = *std::min_element(values.begin() + static_cast<ptrdiff_t>(below) + 1, values.end());
    return low + (position - static_cast<double>(below)) * (high - low);
}

}  // namespace

MagnitudeCounts::MagnitudeCounts() : counts_(static_cast<size_t>(kCopies) * kRanges, 0) {}

void MagnitudeCounts::add(const float* magnitudes, int count) {
    int32_t ranges[kStep];
    for (int from = 0; from < count; from += kStep) {
        const int n = std::min(kStep, count - from);
        find_ranges(magnitudes + from, n, kFirst, ranges);
        uint32_t* counts = counts_.data();
        int i = 0;
        for (; i + kCopies <= n; i += kCopies) {
            const int32_t a = ranges[i], b = ranges[i + 1], c = ranges[i + 2], d = ranges[i + 3];
            ++counts[a];
            ++counts[kRanges + b];
            ++counts[2 * kRanges + c];
            ++counts[3 * kRanges + d];
        }
        for (; i < n; ++i) ++counts[ranges[i]];
    }
}

void MagnitudeCounts::add(const MagnitudeCounts& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::optional<int> MagnitudeCounts::chosen_bin(long long count, float largest) const {
    std::vector<long long> latest(kBins, 0), earliest(kBins, 0);  // each range in the last and the first bin it meets
    for (int range = 0; range < kRanges; ++range) {
        long long held = 0;
        for (int copy = 0; copy < kCopies; ++copy) held += counts_[copy * kRanges + range];
        if (held == 0) continue;
        const float low = range ? float_of((kFirst + range) << kShift) : 0.0f;
        const float high = range == 0             ? 0.0f
                           : range == kRanges - 1 ? largest
                                                  : float_of(((kFirst + range + 1) << kShift) - 1);
        earliest[bin_of(low, largest)] += held;
        latest[bin_of(std::min(high, largest), largest)] += held;
    }
    // Magnitudes up to a bin are at least those of `latest` and at most those of `earliest`.
    const int bin = imtorque::chosen_bin(earliest, count);
    if (bin != imtorque::chosen_bin(latest, count)) return std::nullopt;
    return bin;
}

void add_to_bins(const float* magnitudes, int count, float largest, long long* bins) {
    int32_t found[kStep];
    for (int from = 0; from < count; from += kStep) {
        const int n = std::min(kStep, count - from);
        find_bins(magnitudes + from, n, kBins / largest, found);
        for (int i = 0; i < n; ++i) ++bins[found[i]];
    }
}

int chosen_bin(const std::vector<long long>& bins, long long count) {
    long long below = 0;
    int bin = 0;
    for (; bin < kBins - 1; ++bin) {
        below += bins[bin];
        if (static_cast<double>(below) > kBelow * static_cast<double>(count)) break;
    }
    return bin;
}

Thresholds thresholds_of_bin(int bin, float largest) {
    const double high = static_cast<double>(largest) * (bin + 1) / kBins;
    return {kLowOfHigh * high, high, false, false};
}

Thresholds thresholds_of_quantiles(std::vector<float>& magnitudes, double low, double high) {
    const double lower = quantile(magnitudes, low);
    return {lower, quantile(magnitudes, high), false, false};
}

float least_low(float largest) { return static_cast<float>(kLowOfHigh * (static_cast<double>(largest) / kBins)); }

}  // namespace imtorque
