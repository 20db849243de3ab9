// A task takes a few rows of all outputs. It copies the rows of all channels that they need between borders of zeros,
// then sums for kTogether outputs and two vectors of columns at a time, which stay in registers; the weights of
// these outputs for one place of the window lie side by side.
#include "edges/plane_convolution.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kTogether = 4, kVectors = 2, kColumns = kVectors * kLanes;
constexpr int kRows = 4;            // of a task
constexpr double kTermTime = 0.03;  // nanoseconds for a product and its sum, about

// Rows of all channels, (channels, rows + 2 r, stride), with borders of zeros.
struct Band {
    const float* values;
    int rows, stride;
};

// (outputs / kTogether, channels, side, side, kTogether); outputs that there are not have zeros.
std::vector<float> side_by_side(const PlaneConvolution& job) {
    const int terms = job.channels * job.side * job.side;
    std::vector<float> packed(static_cast<size_t>(job.outputs + kTogether - 1) / kTogether * terms * kTogether);
    for (int o = 0; o < job.outputs; ++o)
        for (int t = 0; t < terms; ++t)
            packed[(static_cast<size_t>(o / kTogether) * terms + t) * kTogether + o % kTogether] =
                job.weight[static_cast<size_t>(o) * terms + t];
    return packed;
}

std::vector<float> rows_of(const PlaneConvolution& job, int top, int rows, int stride) {
    const int reach = job.side / 2, tall = rows + 2 * reach;
    std::vector<float> values(static_cast<size_t>(job.channels) * tall * stride);
    const int first = std::max(0, top - reach), last = std::min(job.height, top + rows + reach);
    for (int c = 0; c < job.channels; ++c)
        for (int y = first; y < last; ++y) {
            const float* from = job.in + (static_cast<size_t>(c) * job.height + y) * job.width;
            float* to = &values[(static_cast<size_t>(c) * tall + y - top + reach) * stride + reach];
            std::copy(from, from + job.width, to);
        }
    return values;
}

template <int kSide>
IMTORQUE_INLINE void sum_rows(const PlaneConvolution& job, const Band& band, const float* packed, int top) {
    const size_t plane = static_cast<size_t>(band.rows + kSide - 1) * band.stride;
    for (int o = 0; o < job.outputs;
         o += kTogether, packed += static_cast<size_t>(job.channels) * kSide * kSide * kTogether) {
        const int outputs = std::min(kTogether, job.outputs - o);
        for (int y = 0; y < band.rows; ++y)
            for (int x = 0; x < job.width; x += kColumns) {
                Lanes<float> sums[kTogether][kVectors] = {};
                const float *from = band.values + static_cast<size_t>(y) * band.stride + x, *weight = packed;
                for (int c = 0; c < job.channels; ++c, from += plane)
                    for (int i = 0; i < kSide; ++i)
                        for (int j = 0; j < kSide; ++j, weight += kTogether) {
                            Lanes<float> values[kVectors];
                            for (int v = 0; v < kVectors; ++v) load(from + i * band.stride + j + v * kLanes, values[v]);
                            for (int k = 0; k < kTogether; ++k)
                                for (int v = 0; v < kVectors; ++v) sums[k][v] += weight[k] * values[v];
                        }
                float line[kTogether][kColumns];
                for (int k = 0; k < kTogether; ++k)
                    for (int v = 0; v < kVectors; ++v) store(sums[k][v], line[k] + v * kLanes);
                const int columns = std::min(kColumns, job.width - x);
                for (int k = 0; k < outputs; ++k) {
                    const size_t at = (static_cast<size_t>(o + k) * job.height + top + y) * job.width + x;
                    for (int n = 0; n < columns; ++n) {
                        float value = line[k][n] + job.bias[o + k];
                        if (job.added) value += job.added[at + n];
                        job.out[at + n] = job.rectified ? std::max(value, 0.0f) : value;
                    }
                }
            }
    }
}

IMTORQUE_INLINE void sum_band_impl(const PlaneConvolution& job, const Band& band, const float* packed, int top) {
    if (job.side == 1)
        sum_rows<1>(job, band, packed, top);
    else
        sum_rows<3>(job, band, packed, top);
}
IMTORQUE_DISPATCH_REGISTERS(static, sum_band,
                            (const PlaneConvolution& job, const Band& band, const float* packed, int top),
                            (job, band, packed, top))

}  // namespace

void convolve_planes(const PlaneConvolution& job) {
    const std::vector<float> packed = side_by_side(job);
    const int stride = (job.width + kColumns - 1) / kColumns * kColumns + job.side - 1;
    const double terms = static_cast<double>(job.channels) * job.outputs * job.side * job.side;
    parallel_for((job.height + kRows - 1) / kRows, terms * kRows * job.width * kTermTime, [&](int task) {
        const int top = task * kRows, rows = std::min(kRows, job.height - top);
        const std::vector<float> values = rows_of(job, top, rows, stride);
        sum_band(job, {values.data(), rows, stride}, packed.data(), top);
    });
}

}  // namespace imtorque
