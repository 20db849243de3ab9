// Closure of disk patches, exactly, in O(radius) per pixel and size.
//
// A disk is a stack of row runs. With u counted from where a row of sums begins, b and c as in free_tables.hpp and
// k = q_y - y, the closure of the disk around x is, over its runs,
//     E = sum (u^2 - k^2) b - 2 k u c  -  2 x sum (u b - k c)  +  x^2 sum b.
// So the sums of a run are differences of prefixes, and x enters once for several runs. Rows +k and -k have runs of the
// same length, so their prefixes are added once and serve every radius:
//     S = u^2 b+ + u^2 b- - 2 k (u c+ - u c-) - k^2 T,   R = u b+ + u b- - k (c+ - c-),   T = b+ + b-.
// Integers wrap around, harmlessly: E fits (width_of_closure). Naive twin: naive.closure_map(..., patch="disk").
#include <algorithm>
#include <memory>

#include "core/ellipse_tables.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr int kRowSums = 5;
constexpr int kPairs = 3;  // of rows at a time: the sums of the disks are touched a third as often

struct Job {
    Field field;
    const std::vector<Patch>& patches;
    std::vector<int> reaches;  // of the patches, in rows
    int left, right;           // the columns it works on
    int reach_x, width;        // of the runs beyond them, and of a row of sums
    int top, bottom;
    float* tau;
};

// Prefixes of b, u b, u^2 b, c and u c over a row.
template <class Uint>
void sum_row(const Job& job, int y, Uint* sums) {
    const int w = job.width, first = job.left - job.reach_x;
    const ptrdiff_t at = static_cast<ptrdiff_t>(y) * job.field.width + first;
    const int from = std::max(0, -first), to = std::min(w, job.field.width - first);
    const float steps = static_cast<float>(job.field.steps);
    Uint sum[kRowSums] = {};
    for (int n = 0; n < w; ++n) {
        for (int i = 0; i < kRowSums; ++i) sums[n + i * w] = sum[i];
        if (n < from || n >= to) continue;
        const Doubled<Uint> pixel = doubled<Uint>(job.field.fx[at + n], job.field.fy[at + n], steps);
        const Uint u = static_cast<Uint>(n);
        sum[0] += pixel.b;
        sum[1] += u * pixel.b;
        sum[2] += u * u * pixel.b;
        sum[3] += pixel.c;
        sum[4] += u * pixel.c;
    }
}

template <class Uint>
IMTORQUE_INLINE void pair_rows_impl(const Uint* below, const Uint* above, int dy, int w, Uint* __restrict pair) {
    const Uint k = static_cast<Uint>(dy);
    Uint *s = pair, *r = pair + w, *t = pair + 2 * w;
    const Uint half = dy == 0 ? 0 : ~Uint{0};  // the middle row is its own pair
    IMTORQUE_IVDEP
    for (int n = 0; n < w; ++n) {
        const Uint mass = below[n] + (above[n] & half);
        t[n] = mass;
        r[n] = below[n + w] + (above[n + w] & half) - k * (below[n + 3 * w] - above[n + 3 * w]);
        s[n] =
            below[n + 2 * w] + (above[n + 2 * w] & half) - k * (2 * (below[n + 4 * w] - above[n + 4 * w]) + k * mass);
    }
}
IMTORQUE_DISPATCH(template <class Uint> static, pair_rows,
                  (const Uint* below, const Uint* above, int dy, int w, Uint* pair), (below, above, dy, w, pair))

template <class Uint>
struct Run {  // where the ends of a pair of runs lie in its prefixes S, for the centre 0
    const Uint *high, *low;
};

// Adds the closure of the first kRuns of `runs` around `count` centres, the first of which lies at `centre`.
template <int kRuns, class Uint>
IMTORQUE_INLINE void add_runs(const Run<Uint>* runs, int w, int centre, int count, Uint* __restrict sum) {
    Run<Uint> own[kRuns];
    std::copy_n(runs, kRuns, own);
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        Uint s = 0, r = 0, t = 0;
        for (int i = 0; i < kRuns; ++i) {
            s += own[i].high[x] - own[i].low[x];
            r += own[i].high[x + w] - own[i].low[x + w];
            t += own[i].high[x + 2 * w] - own[i].low[x + 2 * w];
        }
        const Uint at = static_cast<Uint>(centre + x);
        sum[x] += s - at * (2 * r - at * t);
    }
}

template <class Uint>
IMTORQUE_INLINE void add_some_runs_impl(const Run<Uint>* runs, int some, int w, int centre, int count, Uint* sum) {
    if (some == 3) add_runs<3>(runs, w, centre, count, sum);
    if (some == 2) add_runs<2>(runs, w, centre, count, sum);
    if (some == 1) add_runs<1>(runs, w, centre, count, sum);
}
IMTORQUE_DISPATCH(template <class Uint> static, add_some_runs,
                  (const Run<Uint>* runs, int some, int w, int centre, int count, Uint* sum),
                  (runs, some, w, centre, count, sum))

template <class Number>
IMTORQUE_INLINE void write_row_impl(Number, const typename Number::Uint* sum, double factor, int count, float* out) {
    for (int x = 0; x < count; ++x) out[x] = static_cast<float>(Number::to_double(4 * sum[x]) * factor);
}
IMTORQUE_DISPATCH(template <class Number> static, write_row,
                  (Number number, const typename Number::Uint* sum, double factor, int count, float* out),
                  (number, sum, factor, count, out))

// The closure of all disks in one row; `rows(y)` are the sums of a row, zero outside the image.
template <class Number, class Rows>
void run_row(const Job& job, int y, const Rows& rows) {
    using Uint = typename Number::Uint;
    const int count = job.right - job.left, disks = static_cast<int>(job.patches.size()), w = job.width;
    std::vector<Uint> sums(static_cast<size_t>(disks) * count, 0), pairs(kPairs * 3 * static_cast<size_t>(w));
    Poll poll(4);
    for (int top = 0; top <= job.reaches.back(); top += kPairs) {
        poll();
        for (int i = 0; i < kPairs && top + i <= job.reaches.back(); ++i)
            pair_rows<Uint>(rows(y + top + i), rows(y - top - i), top + i, w, pairs.data() + 3 * i * w);
        for (int k = 0; k < disks; ++k) {
            Run<Uint> runs[kPairs];
            int some = 0;
            for (; some < kPairs && top + some <= job.reaches[k]; ++some) {
                const int half = std::min(disk_half_width(job.patches[k].rx, top + some), job.field.width - 1);
                const Uint* pair = pairs.data() + 3 * some * w;
                runs[some] = {pair + job.reach_x + half + 1, pair + job.reach_x - half};
            }
            add_some_runs<Uint>(runs, some, w, job.reach_x, count, sums.data() + static_cast<size_t>(k) * count);
        }
    }
    for (int k = 0; k < disks; ++k) {
        const size_t slice = static_cast<size_t>(k) * (job.bottom - job.top) + y - job.top;
        float* out = job.tau + slice * job.field.width + job.left;
        const double factor = closure_factor(job.field, job.patches[k]);
        write_row(Number{}, sums.data() + static_cast<size_t>(k) * count, factor, count, out);
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

void disk_closure(const Field& field, const std::vector<Patch>& patches, const DiskRows& out) {
    constexpr int kRowsTogether = 128;
    if (width_of_closure(field, patches) != ClosureWidth::bits128 && sparse_disk_closure(field, patches, out)) return;
    std::vector<int> reaches;
    for (const Patch& patch : patches) reaches.push_back(std::min(patch.ry, field.height - 1));
    const int reach_x = std::min(patches.back().rx, field.width - 1);
    const int strip = even_part(field.width, std::max(kStrip, 2 * reach_x));
    const auto run_band = [&](const DiskRows& band) {
        with_width_of_closure(field, patches, [&](auto number) {
            for (int left = 0; left < field.width; left += strip) {
                const int right = std::min(left + strip, field.width);
                const Job job{field,    patches,     reaches, left, right, reach_x, right - left + 2 * reach_x + 1,
                              band.top, band.bottom, band.tau};
                for (int y = band.top; y < band.bottom; y += kRowsTogether)
                    run_rows<decltype(number)>(job, y, std::min(y + kRowsTogether, band.bottom));
            }
        });
    };
    out.tau ? run_band(out) : run_in_bands(field, static_cast<int>(patches.size()), out, run_band);
}

}  // namespace imtorque
