// Closure of disk patches, exactly, in O(radius) per pixel and size.
//
// A disk is a stack of row runs. With the sums of a row about a corner as in free_tables.hpp (RowSums), four times the
// part of E in the run of half-width w at height dy is, for L = 2w + 1 and k = 2 dy,
//     [iib]h - [iib]l + 2 L ([ib]h + [ib]l) + (L^2 - k^2) ([b]h - [b]l) - 2 k ([ic]h - [ic]l + L ([c]h + [c]l)).
// Rows +dy and -dy share w and have opposite k, so their sums are formed once and serve every radius:
//     S = iib+ + iib- - 2 k (ic+ - ic-) - k^2 T,   R = 2 (ib+ + ib-) - 2 k (c+ - c-),   T = b+ + b-,
// and 4 E is the sum over dy of S(h) - S(l) + L (R(h) + R(l)) + L^2 (T(h) - T(l)).
// Naive twin: naive.closure_map(..., patch="disk").
#include <algorithm>
#include <memory>

#include "core/ellipse_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kRowSums = 5;

struct Job {
    Field field;
    const std::vector<Patch>& patches;
    std::vector<int> reaches;  // of the patches, in rows
    int left, right;           // the columns it works on
    int reach_x, width;        // of the runs beyond them, and of a row of sums
    int top, bottom;
    float* tau;
};

template <class Uint>
void sum_row(const Job& job, int y, Uint* sums) {
    const int w = job.width, first = job.left - job.reach_x;
    const ptrdiff_t at = static_cast<ptrdiff_t>(y) * job.field.width;
    const float steps = static_cast<float>(job.field.steps);
    RowSums<Uint> sum;
    for (int n = 0; n < w; ++n) {
        sums[n] = sum.b;
        sums[n + w] = sum.ib;
        sums[n + 2 * w] = sum.iib;
        sums[n + 3 * w] = sum.c;
        sums[n + 4 * w] = sum.ic;
        const int x = first + n;
        if (x < 0 || x >= job.field.width)
            sum.step({0, 0});
        else
            sum.step(doubled<Uint>(job.field.fx[at + x], job.field.fy[at + x], steps));
    }
}

template <class Uint>
IMTORQUE_INLINE void pair_rows_impl(const Uint* below, const Uint* above, int dy, int w, Uint* __restrict pair) {
    const Uint k = 2 * static_cast<Uint>(dy);
    Uint *s = pair, *r = pair + w, *t = pair + 2 * w;
    IMTORQUE_IVDEP
    for (int n = 0; n < w; ++n) {
        const Uint mass = dy == 0 ? below[n] : below[n] + above[n];
        const Uint lever = dy == 0 ? below[n + w] : below[n + w] + above[n + w];
        const Uint square = dy == 0 ? below[n + 2 * w] : below[n + 2 * w] + above[n + 2 * w];
        t[n] = mass;
        r[n] = 2 * lever - 2 * k * (below[n + 3 * w] - above[n + 3 * w]);
        s[n] = square - 2 * k * (below[n + 4 * w] - above[n + 4 * w]) - k * k * mass;
    }
}
IMTORQUE_DISPATCH(template <class Uint> static, pair_rows,
                  (const Uint* below, const Uint* above, int dy, int w, Uint* pair), (below, above, dy, w, pair))

template <class Uint>
IMTORQUE_INLINE void add_run_impl(const Uint* pair, int w, int h, int l, Uint length, int count, Uint* __restrict sum) {
    const Uint *s = pair, *r = pair + w, *t = pair + 2 * w;
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x)
        sum[x] += s[h + x] - s[l + x] + length * (r[h + x] + r[l + x]) + length * length * (t[h + x] - t[l + x]);
}
IMTORQUE_DISPATCH(template <class Uint> static, add_run,
                  (const Uint* pair, int w, int h, int l, Uint length, int count, Uint* sum),
                  (pair, w, h, l, length, count, sum))

// The closure of all disks in one row; `rows(y)` are the sums of a row, zero outside the image.
template <class Number, class Rows>
void run_row(const Job& job, int y, const Rows& rows) {
    using Uint = typename Number::Uint;
    const int count = job.right - job.left, disks = static_cast<int>(job.patches.size());
    std::vector<Uint> sums(static_cast<size_t>(disks) * count, 0), pair(3 * static_cast<size_t>(job.width));
    Poll poll(16);
    for (int dy = 0; dy <= job.reaches.back(); ++dy) {
        poll();
        pair_rows<Uint>(rows(y + dy), rows(y - dy), dy, job.width, pair.data());
        for (int k = 0; k < disks; ++k) {
            if (dy > job.reaches[k]) continue;
            const int half = std::min(disk_half_width(job.patches[k].rx, dy), job.field.width - 1);
            add_run<Uint>(pair.data(), job.width, job.reach_x + half + 1, job.reach_x - half,
                          2 * static_cast<Uint>(half) + 1, count, sums.data() + static_cast<size_t>(k) * count);
        }
    }
    for (int k = 0; k < disks; ++k) {
        const size_t slice = static_cast<size_t>(k) * (job.bottom - job.top) + y - job.top;
        float* out = job.tau + slice * job.field.width + job.left;
        const Uint* sum = sums.data() + static_cast<size_t>(k) * count;
        const double factor = closure_factor(job.field, job.patches[k]);
        for (int x = 0; x < count; ++x) out[x] = static_cast<float>(Number::to_double(sum[x]) * factor);
    }
}

// Rows [from, to) of a strip, which share the sums of the rows around them.
template <class Number>
void run_rows(const Job& job, int from, int to) {
    using Uint = typename Number::Uint;
    const int reach = job.reaches.back();
    const int first = std::max(0, from - reach), last = std::min(job.field.height, to + reach);
    const size_t stride = static_cast<size_t>(job.width) * kRowSums;
    std::unique_ptr<Uint[]> sums(new Uint[stride * (last - first)]);
    const std::vector<Uint> none(stride, 0);
    parallel_for(last - first, 5.0 * job.width, [&](int i) { sum_row(job, first + i, sums.get() + i * stride); });
    const auto rows = [&](int y) {
        return y < first || y >= last ? none.data() : sums.get() + static_cast<size_t>(y - first) * stride;
    };
    double runs = 0;
    for (const int rows_of_disk : job.reaches) runs += rows_of_disk + 1;
    parallel_for(to - from, 2.0 * runs * (job.right - job.left), [&](int i) { run_row<Number>(job, from + i, rows); });
}

}  // namespace

void disk_closure(const Field& field, const std::vector<Patch>& patches, int top, int bottom, float* tau) {
    constexpr int kRowsTogether = 128;
    std::vector<int> reaches;
    for (const Patch& patch : patches) reaches.push_back(std::min(patch.ry, field.height - 1));
    const int reach_x = std::min(patches.back().rx, field.width - 1);
    const int strip = std::max(kStrip, 2 * reach_x);
    with_width_of_closure(field, patches, [&](auto number) {
        for (int left = 0; left < field.width; left += strip) {
            const int right = std::min(left + strip, field.width);
            const Job job{field, patches, reaches, left, right, reach_x, right - left + 2 * reach_x + 1,
                          top,   bottom,  tau};
            for (int y = top; y < bottom; y += kRowsTogether)
                run_rows<decltype(number)>(job, y, std::min(y + kRowsTogether, bottom));
        }
    });
}

}  // namespace imtorque
