// Peaks of the value map, tested row by row. Naive twin: naive.find_extrema, which rests on all of them.
#include "core/peaks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <vector>

#include "core/bit_words.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 32;  // a task

IMTORQUE_INLINE void magnitudes_impl(const float* values, int width, float* __restrict out) {
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) out[x] = std::fabs(values[x]);
}
IMTORQUE_DISPATCH(static, magnitudes, (const float* values, int width, float* out), (values, width, out))

// Flags the pixels of a row where |V| exceeds all eight neighbours. Rows hold |V| with a zero at either end.
IMTORQUE_INLINE void flag_peaks_impl(const float* above, const float* row, const float* below, int width,
                                     uint8_t* __restrict flags) {
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) {
        const float v = row[x + 1];
        const bool rows = (v > above[x]) & (v > above[x + 1]) & (v > above[x + 2]) & (v > below[x]) &
                          (v > below[x + 1]) & (v > below[x + 2]);
        flags[x] = rows & (v > row[x]) & (v > row[x + 2]);
    }
}
IMTORQUE_DISPATCH(static, flag_peaks,
                  (const float* above, const float* row, const float* below, int width, uint8_t* flags),
                  (above, row, below, width, flags))

void collect_peaks(const float* value, int height, int width, int sign, int top, int bottom,
                   std::vector<float>& peaks) {
    std::vector<float> rows(3 * (static_cast<size_t>(width) + 2), 0.0f);
    std::vector<uint8_t> flags(static_cast<size_t>(width) + 8, 0);
    const auto padded = [&](int y) {
        float* row = &rows[((y + 3) % 3) * (static_cast<size_t>(width) + 2)];
        if (y < 0 || y >= height)
            std::fill_n(row + 1, width, 0.0f);
        else
            magnitudes(value + static_cast<size_t>(y) * width, width, row + 1);
        return row;
    };
    const float* above = padded(top - 1);
    const float* row = padded(top);
    for (int y = top; y < bottom; ++y) {
        const float* below = padded(y + 1);
        flag_peaks(above, row, below, width, flags.data());
        const float* own = value + static_cast<size_t>(y) * width;
        for_each_flag(flags.data(), width, [&](int x) {
            if (sign == 0 || (own[x] > 0) == (sign > 0)) peaks.push_back(row[x + 1]);
        });
        above = row;
        row = below;
    }
}

}  // namespace

float strength_of_peak(const float* value, int height, int width, int sign, long long count) {
    std::vector<float> peaks;
    std::mutex lock;
    parallel_for((height + kRows - 1) / kRows, 1.0 * kRows * width, [&](int band) {
        std::vector<float> found;
        const int top = band * kRows;
        collect_peaks(value, height, width, sign, top, std::min(top + kRows, height), found);
        std::lock_guard<std::mutex> guard(lock);
        peaks.insert(peaks.end(), found.begin(), found.end());
    });
    if (static_cast<long long>(peaks.size()) < count) return 0;
    const auto last = peaks.begin() + (count - 1);
    std::nth_element(peaks.begin(), last, peaks.end(), std::greater<float>());
    return *last;
}

}  // namespace imtorque
