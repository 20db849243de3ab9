// Torque over edge mass for every pixel, and its adjoint: what each edge pixel does for all those patches.
//
// Both need sums over the square around every pixel. The mass has a table of prefix sums, one for all sizes. Other sums
// move to the next row by adding the row that enters and taking away the one that leaves, column by column, and to the
// next pixel likewise or by prefix sums of the row: O(1) per pixel, whatever the size. Summands are rounded to
// integers, so the sums are exact and do not depend on the bands the rows are cut into.
// Naive twins: naive.torque_coherence, naive.closure_coherence, naive.dense_contribution.
#include "core/coherence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/free_tables.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"

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

// Rows that one task takes: all of them where one thread works, for the first row of a band is dear.
int rows_per_task(int height, int width, double nanoseconds) {
    return useful_threads(nanoseconds * height * width) == 1 ? height : kBandRows;
}

IMTORQUE_INLINE void add_row_impl(const Sum* above, Sum* __restrict row, int count) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) row[x] += above[x];
}
IMTORQUE_DISPATCH(static, add_row, (const Sum* above, Sum* row, int count), (above, row, count))

IMTORQUE_INLINE void divide_row_impl(const double* sums, double factor, int count, float* __restrict tau) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) tau[x] = static_cast<float>(tau[x] / (factor * sums[x] + kLeastMass));
}
IMTORQUE_DISPATCH(static, divide_row, (const double* sums, double factor, int count, float* tau),
                  (sums, factor, count, tau))

// Sums over squares, from the prefix sums above and below them. Adding 1.5 * 2^52 puts an integer below 2^51 into a
// double's mantissa, in any vector width.
constexpr Sum kQuick = Sum{1} << 51;
IMTORQUE_INLINE void add_up_quickly_impl(const Sum* above, const Sum* below, int count, int side,
                                         double* __restrict sums) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        const Sum bits = below[x + side] - below[x] - above[x + side] + above[x] + 0x4338000000000000ull;
        double shifted;
        std::memcpy(&shifted, &bits, sizeof shifted);
        sums[x] = shifted - 6755399441055744.0;
    }
}
IMTORQUE_DISPATCH(static, add_up_quickly, (const Sum* above, const Sum* below, int count, int side, double* sums),
                  (above, below, count, side, sums))

// Prefix sums of |F|, in steps.
class MassTable {
  public:
    explicit MassTable(const Field& field)
        : height_(field.height),
          width_(field.width),
          unit_(field.steps * kMassSteps),
          table_(static_cast<size_t>(height_ + 1) * (width_ + 1), 0) {
        parallel_for(height_, 2.0 * width_, [&](int y) {
            const float *fx = field.fx + static_cast<size_t>(y) * width_,
                        *fy = field.fy + static_cast<size_t>(y) * width_;
            Sum* sums = row(y + 1);
            for (int x = 0; x < width_; ++x) {
                const double u = fx[x], v = fy[x];
                const int64_t mass = u == 0 && v == 0 ? 0 : std::llround(std::sqrt(u * u + v * v) * unit_);
                sums[x + 1] = sums[x] + static_cast<Sum>(mass);
            }
        });
        for (int y = 1; y <= height_; ++y) add_row(row(y - 1), row(y), width_ + 1);
    }

    void divide(int half, float* tau) const {
        const double factor = kMeanLever / (2 * (2.0 * half + 1) * unit_);
        parallel_for((height_ + kBandRows - 1) / kBandRows, 2.0 * kBandRows * width_, [&](int band) {
            std::vector<double> sums(width_);
            for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height_); ++y) {
                add_up(y, half, sums.data());
                divide_row(sums.data(), factor, width_, tau + static_cast<size_t>(y) * width_);
            }
        });
    }

  private:
    Sum* row(int y) { return table_.data() + static_cast<size_t>(y) * (width_ + 1); }
    const Sum* row(long long y) const { return table_.data() + static_cast<size_t>(y) * (width_ + 1); }

    void add_up(int y, long long half, double* sums) const {
        const Sum *top = row(std::max(0LL, y - half)), *bottom = row(std::min<long long>(height_, y + half + 1));
        const int from = static_cast<int>(std::min<long long>(half, width_));  // where the square has a left side
        const int to = static_cast<int>(std::max<long long>(from, width_ - half));
        const auto clipped = [&](int x) {
            const size_t l = static_cast<size_t>(std::max(0LL, x - half)),
                         r = static_cast<size_t>(std::min<long long>(width_, x + half + 1));
            sums[x] = as_number(bottom[r] - bottom[l] - top[r] + top[l]);
        };
        for (int x = 0; x < from; ++x) clipped(x);
        const Sum *above = top + from - half, *below = bottom + from - half;
        if (row(static_cast<long long>(height_))[width_] < kQuick)
            add_up_quickly(above, below, to - from, static_cast<int>(2 * half + 1), sums + from);
        else
            for (int x = from; x < to; ++x) clipped(x);
        for (int x = to; x < width_; ++x) clipped(x);
    }

    int height_, width_;
    double unit_;
    std::vector<Sum> table_;
};

}  // namespace

void divide_by_mass(const Field& field, int half, float* tau) { MassTable(field).divide(half, tau); }

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

namespace {

// Halves go away from zero. A float times a power of two has 24 bits, so the sum with a half is exact enough.
IMTORQUE_INLINE void round_votes_impl(const float* coherence, int count, int32_t* __restrict votes) {
    IMTORQUE_IVDEP
    for (int i = 0; i < count; ++i) {
        const double steps = coherence[i] * kVoteSteps;
        votes[i] = static_cast<int32_t>(steps + (steps < 0 ? -0.5 : 0.5));
    }
}
IMTORQUE_DISPATCH(static, round_votes, (const float* coherence, int count, int32_t* votes), (coherence, count, votes))

// Sums over the rows around one, column by column: of the votes, and of the votes times the rows down to it.
struct Columns {
    std::vector<Sum> votes, levers;
};

// Move on by a row: `leaving` was `half` above the row before, `entering` is as far below the next.
IMTORQUE_INLINE void move_down_impl(const int32_t* leaving, const int32_t* entering, int half, int width,
                                    Sum* __restrict votes, Sum* __restrict levers) {
    const int32_t next = half + 1;
    IMTORQUE_IVDEP
    for (int u = 0; u < width; ++u) {
        const int64_t gone = leaving[u], come = entering[u];
        levers[u] += votes[u] - static_cast<Sum>(static_cast<int64_t>(next) * leaving[u]) -
                     static_cast<Sum>(static_cast<int64_t>(half) * entering[u]);
        votes[u] += static_cast<Sum>(come - gone);
    }
}
IMTORQUE_DISPATCH(static, move_down,
                  (const int32_t* leaving, const int32_t* entering, int half, int width, Sum* votes, Sum* levers),
                  (leaving, entering, half, width, votes, levers))

// The edges of a field, in lists, as all sizes vote for them.
class VotedEdges {
  public:
    explicit VotedEdges(const Field& field)
        : height_(field.height), width_(field.width), first_(static_cast<size_t>(height_) + 1, 0) {
        for (int y = 0; y < height_; ++y) {
            const size_t at = static_cast<size_t>(y) * width_;
            for (int x = 0; x < width_; ++x) {
                const double fx = field.fx[at + x], fy = field.fy[at + x];
                if (fx != 0 || fy != 0) edges_.push_back({x, fx, fy, std::sqrt(fx * fx + fy * fy)});
            }
            first_[y + 1] = edges_.size();
        }
    }

    // `votes` has room for a plane.
    void add(const float* coherence, int half, std::vector<int32_t>& votes, double* total) const {
        parallel_for(height_, 0.5 * width_, [&](int y) {
            const size_t at = static_cast<size_t>(y) * width_;
            round_votes(coherence + at, width_, votes.data() + at);
        });
        const int rows = rows_per_task(height_, width_, 2);
        parallel_for((height_ + rows - 1) / rows, 2.0 * rows * width_, [&](int task) {
            add_band(votes, half, task * rows, std::min((task + 1) * rows, height_), total);
        });
    }

  private:
    struct Edge {
        int x;
        double fx, fy, length;
    };

    void add_band(const std::vector<int32_t>& votes, int half, int top, int bottom, double* total) const {
        const std::vector<int32_t> none(width_, 0);
        const auto row = [&](long long y) {
            return y < 0 || y >= height_ ? none.data() : votes.data() + static_cast<size_t>(y) * width_;
        };
        Columns columns{std::vector<Sum>(width_, 0), std::vector<Sum>(width_, 0)};
        const long long first = std::max(0, top - half), last = std::min<long long>(height_ - 1, 0LL + top + half);
        for (long long y = first; y <= last; ++y)
            for (int u = 0; u < width_; ++u) {
                columns.votes[u] += static_cast<Sum>(row(y)[u]);
                columns.levers[u] += static_cast<Sum>((top - y) * row(y)[u]);
            }
        std::vector<Sum> sums(3 * static_cast<size_t>(width_ + 1), 0);
        for (int y = top; y < bottom; ++y) {
            check_interrupt();
            add_row_of_edges(y, columns, half, sums.data(), total + static_cast<size_t>(y) * width_);
            move_down(row(y - half), row(0LL + y + 1 + half), half, width_, columns.votes.data(),
                      columns.levers.data());
        }
    }

    // By prefix sums of the row: of the votes, of these times x, and of the levers down.
    void add_row_of_edges(int y, const Columns& columns, long long half, Sum* sums, double* total) const {
        if (first_[y] == first_[y + 1]) return;
        for (int u = 0; u < width_; ++u) {
            const Sum* before = sums + 3 * static_cast<size_t>(u);
            sums[3 * u + 3] = before[0] + columns.votes[u];
            sums[3 * u + 4] = before[1] + columns.votes[u] * static_cast<Sum>(u);
            sums[3 * u + 5] = before[2] + columns.levers[u];
        }
        const double side = 2.0 * static_cast<double>(half) + 1, factor = 1 / (side * side * side * kVoteSteps);
        for (size_t i = first_[y]; i < first_[y + 1]; ++i) {
            const Edge& edge = edges_[i];
            const Sum* from = sums + 3 * std::max(0LL, edge.x - half);
            const Sum* to = sums + 3 * std::min<long long>(width_, edge.x + half + 1);
            const double lever_x = as_number(static_cast<Sum>(edge.x) * (to[0] - from[0]) - (to[1] - from[1]));
            const double lever_y = as_number(to[2] - from[2]);
            total[edge.x] += factor * (lever_x * edge.fy - lever_y * edge.fx) / edge.length;
        }
    }

    int height_, width_;
    std::vector<size_t> first_;  // of each row's edges
    std::vector<Edge> edges_;
};

}  // namespace

void add_coherent_votes(const Field& field, const std::vector<int>& halves, float* tau, double* total) {
    const MassTable mass(field);
    const VotedEdges edges(field);
    std::vector<int32_t> votes(static_cast<size_t>(field.height) * field.width);
    for (const int half : halves) {
        mass.divide(half, tau);
        edges.add(tau, half, votes, total);
        tau += static_cast<size_t>(field.height) * field.width;
    }
}

}  // namespace imtorque
