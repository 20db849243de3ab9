// Both passes of smooth_plane sum from the farthest pair of neighbours to the nearest, after the middle, as SciPy's
// correlate1d does: the bits are the same. Naive twins: naive.smooth_plane, naive.box_mean.
#include "detection/smoothing.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 16;      // of one task
constexpr int kColumns = 256;  // as well

int mirrored(int at, int length) {
    const int period = 2 * length, place = ((at % period) + period) % period;
    return place < length ? place : period - 1 - place;
}

// A row with so many pixels more before and after it.
void lengthen(const float* row, int width, int before, int after, float* line) {
    for (int x = -before; x < 0; ++x) line[before + x] = row[mirrored(x, width)];
    std::copy(row, row + width, line + before);
    for (int x = width; x < width + after; ++x) line[before + x] = row[mirrored(x, width)];
}

// Pairs of neighbours, farthest first, and what each weighs.
struct Pairs {
    std::vector<const float*> a, b;
    std::vector<double> weight;
};

// A few pairs at a time, so that the sums stay in registers meanwhile.
template <int kTaps>
IMTORQUE_INLINE void add_taps(const Pairs& pairs, int first, int width, double* sums) {
    const float *a[kTaps], *b[kTaps];
    double weight[kTaps];
    for (int k = 0; k < kTaps; ++k)
        a[k] = pairs.a[first + k], b[k] = pairs.b[first + k], weight[k] = pairs.weight[first + k];
    for (int x = 0; x < width; ++x) {
        double sum = sums[x];
        for (int k = 0; k < kTaps; ++k)
            sum += (static_cast<double>(a[k][x]) + static_cast<double>(b[k][x])) * weight[k];
        sums[x] = sum;
    }
}

IMTORQUE_INLINE void correlate_impl(const float* middle, double weight, const Pairs& pairs, int width, double* sums,
                                    float* out) {
    for (int x = 0; x < width; ++x) sums[x] = middle[x] * weight;
    const int count = static_cast<int>(pairs.weight.size());
    int k = 0;
    for (; k + 4 <= count; k += 4) add_taps<4>(pairs, k, width, sums);
    for (; k < count; ++k) add_taps<1>(pairs, k, width, sums);
    for (int x = 0; x < width; ++x) out[x] = static_cast<float>(sums[x]);
}
IMTORQUE_DISPATCH(static, correlate,
                  (const float* middle, double weight, const Pairs& pairs, int width, double* sums, float* out),
                  (middle, weight, pairs, width, sums, out))

// Room for the work on one row.
struct Row {
    int width;
    const std::vector<double>& weights;
    Pairs pairs;
    std::vector<double> sums;
    std::vector<float> line;

    Row(int w, const std::vector<double>& half) : width(w), weights(half), sums(w), line(w + 2 * half.size()) {
        pairs.a.resize(half.size() - 1), pairs.b.resize(half.size() - 1);
        pairs.weight.assign(half.rbegin(), half.rend() - 1);
    }

    // `place` tells where the row, or the pixels, this far away begin.
    template <class Place>
    void smooth(const Place& place, float* out) {
        const int reach = static_cast<int>(weights.size()) - 1;
        for (int k = 0; k < reach; ++k) pairs.a[k] = place(k - reach), pairs.b[k] = place(reach - k);
        correlate(place(0), weights[0], pairs, width, sums.data(), out);
    }

    // The columns' pass of row y, then the rows'.
    void smooth(const float* plane, int y, int height, float* out) {
        smooth([&](int k) { return plane + static_cast<std::size_t>(mirrored(y + k, height)) * width; }, out);
        const int reach = static_cast<int>(weights.size());
        lengthen(out, width, reach, reach, line.data());
        smooth([&](int k) { return line.data() + reach + k; }, out);
    }
};

// Columns x0 to x1: the mean of `size` rows around each. As SciPy's uniform_filter1d, the sum changes by what comes in
// and what leaves.
void mean_down(const float* plane, int height, int width, int size, int x0, int x1, float* out) {
    const auto row = [&](int at) { return plane + static_cast<std::size_t>(mirrored(at, height)) * width; };
    std::vector<double> sums(x1 - x0, 0.0);
    for (int k = 0; k < size; ++k)
        for (int x = x0; x < x1; ++x) sums[x - x0] += row(k - size / 2)[x];
    for (int y = 0; y < height; ++y) {
        float* to = out + static_cast<std::size_t>(y) * width;
        for (int x = x0; x < x1; ++x) to[x] = static_cast<float>(sums[x - x0] / size);
        const float *in = row(y + size - size / 2), *gone = row(y - size / 2);
        for (int x = x0; x < x1; ++x) sums[x - x0] += static_cast<double>(in[x]) - static_cast<double>(gone[x]);
    }
}

// The mean of `size` pixels along one row, in place; `line` has room for it and `size` pixels more.
void mean_along(int width, int size, float* line, float* row) {
    lengthen(row, width, size / 2, size - size / 2, line);
    double sum = 0;
    for (int x = 0; x < size; ++x) sum += line[x];
    for (int x = 0; x < width; ++x) {
        row[x] = static_cast<float>(sum / size);
        sum += static_cast<double>(line[x + size]) - static_cast<double>(line[x]);
    }
}

}  // namespace

void box_mean(const float* plane, int height, int width, int size, float* out) {
    parallel_for((width + kColumns - 1) / kColumns, 1.0 * kColumns * height, [&](int task) {
        mean_down(plane, height, width, size, task * kColumns, std::min(width, (task + 1) * kColumns), out);
    });
    parallel_for((height + kRows - 1) / kRows, 2.0 * kRows * width, [&](int task) {
        std::vector<float> line(static_cast<std::size_t>(width) + size);
        for (int y = task * kRows; y < std::min(height, (task + 1) * kRows); ++y)
            mean_along(width, size, line.data(), out + static_cast<std::size_t>(y) * width);
    });
}

void smooth_plane(const float* plane, int height, int width, const std::vector<double>& weights, float* out) {
    const double row_time = 1.0 * static_cast<double>(weights.size()) * width;
    parallel_for((height + kRows - 1) / kRows, kRows * row_time, [&](int task) {
        Row row(width, weights);
        for (int y = task * kRows; y < std::min(height, (task + 1) * kRows); ++y)
            row.smooth(plane, y, height, out + static_cast<std::size_t>(y) * width);
    });
}

}  // namespace imtorque
