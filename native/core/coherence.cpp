// Torque over edge mass for every pixel, and its adjoint: what each edge pixel does for all those patches.
//
// Both need sums over the square around every pixel. A sum moves to the next row by adding the row that enters and
// taking away the one that leaves, column by column, and to the next pixel likewise: O(1) per pixel, whatever the size.
// Summands are rounded to integers, so the running sums are exact and do not depend on the bands the rows are cut into.
// Naive twins: naive.torque_coherence, naive.closure_coherence, naive.dense_contribution.
#include "core/coherence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/free_tables.hpp"
#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kBandRows = 64;
constexpr double kPi = 3.14159265358979323846;
constexpr double kMassSteps = 1024;     // of |F|, per step of F
constexpr double kVoteSteps = 1 << 18;  // of the coherence, which stays below 2
using Sum = uint64_t;                   // wraps around: a difference that fits is exact

// Call emit(y, columns) for each row of a band, where columns[u * kFields + i] is the sum of summand(row, u, i) over
// the rows from y - half to y + half that exist.
template <int kFields, class Sum = uint64_t, class Summand, class Emit>
void slide_rows(int height, int width, int half, int band, const Summand& summand, const Emit& emit) {
    std::vector<Sum> columns(static_cast<size_t>(width) * kFields, 0);
    const auto add = [&](int row, bool enters) {
        if (row < 0 || row >= height) return;
        for (int u = 0; u < width; ++u)
            for (int i = 0; i < kFields; ++i) {
                const Sum value = static_cast<Sum>(summand(row, u, i));
                columns[static_cast<size_t>(u) * kFields + i] += enters ? value : Sum{0} - value;
            }
    };
    const int top = band * kBandRows, bottom = std::min(top + kBandRows, height);
    for (int row = std::max(0, top - half); row < std::min<long long>(height, static_cast<long long>(top) + half);
         ++row)
        add(row, true);
    for (int y = top; y < bottom; ++y) {
        check_interrupt();
        if (half < height - y) add(y + half, true);
        emit(y, columns.data());
        add(y - half, false);
    }
}

// Call emit(x, sums) for each pixel of a row, where sums[i] is the sum of columns from x - half to x + half.
template <int kFields, class Sum, class Emit>
void slide_columns(const Sum* columns, int width, int half, const Emit& emit) {
    Sum sums[kFields] = {};
    const auto add = [&](long long u, bool enters) {
        if (u < 0 || u >= width) return;
        for (int i = 0; i < kFields; ++i) {
            const Sum value = columns[static_cast<size_t>(u) * kFields + i];
            sums[i] += enters ? value : Sum{0} - value;
        }
    };
    for (int u = 0; u < std::min(half, width); ++u) add(u, true);
    for (int x = 0; x < width; ++x) {
        add(static_cast<long long>(x) + half, true);
        emit(x, sums);
        add(static_cast<long long>(x) - half, false);
    }
}

int bands(int height) { return (height + kBandRows - 1) / kBandRows; }

double as_number(Sum sum) { return static_cast<double>(static_cast<int64_t>(sum)); }

}  // namespace

void divide_by_mass(const Field& field, int half, float* tau) {
    const size_t count = static_cast<size_t>(field.height) * field.width;
    const double unit = field.steps * kMassSteps, side = 2.0 * half + 1;
    std::vector<int64_t> mass(count);
    parallel_for(field.height, 2.0 * field.width, [&](int y) {
        for (size_t i = static_cast<size_t>(y) * field.width; i < static_cast<size_t>(y + 1) * field.width; ++i) {
            const double fx = field.fx[i], fy = field.fy[i];
            mass[i] = fx == 0 && fy == 0 ? 0 : std::llround(std::sqrt(fx * fx + fy * fy) * unit);
        }
    });
    const double factor = kMeanLever / (2 * side * unit);
    parallel_for(bands(field.height), 5.0 * kBandRows * field.width, [&](int band) {
        slide_rows<1>(
            field.height, field.width, half, band,
            [&](int row, int u, int) { return mass[static_cast<size_t>(row) * field.width + u]; },
            [&](int y, const Sum* columns) {
                float* row = tau + static_cast<size_t>(y) * field.width;
                slide_columns<1>(columns, field.width, half, [&](int x, const Sum* sum) {
                    row[x] = static_cast<float>(row[x] / (factor * as_number(sum[0]) + kLeastMass));
                });
            });
    });
}

// |q - p|^2 |F|^2 is a polynomial of q, so four sums over the square, of a = |F|^2 and of a times u, v and u^2 + v^2,
// make that of any p. They wrap around; the final sum is below 2^127, as that of the closure is.
void divide_by_second_mass(const Field& field, int half, float* closure) {
    const float steps = static_cast<float>(field.steps);
    const double radius = half + 0.5, cube = radius * radius * radius;
    const double factor = 1 / (2 * kPi * cube * field.steps * field.steps);
    parallel_for(bands(field.height), 20.0 * kBandRows * field.width, [&](int band) {
        slide_rows<4, Uint128>(
            field.height, field.width, half, band,
            [&](int row, int u, int i) {
                const size_t at = static_cast<size_t>(row) * field.width + u;
                const Uint128 fx = static_cast<Uint128>(round_force(field.fx[at], steps)),
                              fy = static_cast<Uint128>(round_force(field.fy[at], steps)), a = fx * fx + fy * fy;
                const Uint128 x = static_cast<Uint128>(u), y = static_cast<Uint128>(row);
                return i == 0 ? a : i == 1 ? a * x : i == 2 ? a * y : a * (x * x + y * y);
            },
            [&](int y, const Uint128* columns) {
                float* out = closure + static_cast<size_t>(y) * field.width;
                slide_columns<4>(columns, field.width, half, [&](int x, const Uint128* sum) {
                    const Uint128 px = static_cast<Uint128>(x), py = static_cast<Uint128>(y);
                    const Uint128 mass = sum[3] - 2 * (px * sum[1] + py * sum[2]) + (px * px + py * py) * sum[0];
                    out[x] = static_cast<float>(out[x] / (factor * static_cast<double>(mass) + kLeastMass));
                });
            });
    });
}

void add_coherent_votes(const Field& field, const float* coherence, int half, double* total) {
    const size_t count = static_cast<size_t>(field.height) * field.width;
    std::vector<int64_t> votes(count);
    parallel_for(field.height, 1.0 * field.width, [&](int y) {
        for (size_t i = static_cast<size_t>(y) * field.width; i < static_cast<size_t>(y + 1) * field.width; ++i)
            votes[i] = std::llround(coherence[i] * kVoteSteps);
    });
    const double side = 2.0 * half + 1, factor = 1 / (side * side * side * kVoteSteps);
    parallel_for(bands(field.height), 10.0 * kBandRows * field.width, [&](int band) {
        slide_rows<3>(
            field.height, field.width, half, band,
            [&](int row, int u, int i) {
                const int64_t vote = votes[static_cast<size_t>(row) * field.width + u];
                return i == 0 ? vote : i == 1 ? vote * u : vote * row;
            },
            [&](int v, const Sum* columns) {
                const size_t at = static_cast<size_t>(v) * field.width;
                slide_columns<3>(columns, field.width, half, [&](int u, const Sum* sum) {
                    const double fx = field.fx[at + u], fy = field.fy[at + u];
                    if (fx == 0 && fy == 0) return;
                    const double lever_x = as_number(static_cast<Sum>(u) * sum[0] - sum[1]);
                    const double lever_y = as_number(static_cast<Sum>(v) * sum[0] - sum[2]);
                    total[at + u] += factor * (lever_x * fy - lever_y * fx) / std::sqrt(fx * fx + fy * fy);
                });
            });
    });
}

}  // namespace imtorque
