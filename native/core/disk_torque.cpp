// Torque of disk patches, exactly, in O(radius) per pixel and size.
//
// A disk is a stack of row runs. With row prefixes PX, PY of Fx, Fy and G as in box_tables.hpp, twice the moment of the
// run of half-width w at height dy is  -[G(h) - G(l)] + (2w + 1) [PY(h) + PY(l)] - 2 dy [PX(h) - PX(l)].  Rows +dy and
// -dy share w, so their sums are formed once,
//     A = -(G+ + G-) - 2 dy (PX+ - PX-),   B = PY+ + PY-,
// and serve every radius: twice the moment is the sum over dy of A(h) - A(l) + (2w + 1) (B(h) + B(l)).
// Naive twin: naive.torque_map(..., patch="disk").
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/disk_arcs.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

constexpr double kArcs = 0.85;  // a look-up by arcs takes a little longer: the rows lie in the second-level cache

struct Job {
    Field field;
    const Patch* patches;
    int count;
    const int32_t* half_widths;  // [patch][dy], -1 where the disk has no row
    int rows_of_widths;
    ArcPlan plan;
    bool by_arcs;
    int top, bottom;  // of the output
    float* tau;
};

// PX, PY, G of the rows that a tile's patches touch; those outside the image are one row of zeros.
template <class Number>
class RowPrefixes {
  public:
    using Uint = typename Number::Uint;
    RowPrefixes(const Field& field, const Tile& tile)
        : field_(field),
          steps_(static_cast<float>(field.steps)),
          tile_(tile),
          first_(std::max(0, tile.top - tile.reach_y)),
          last_(std::min(field.height, tile.bottom + tile.reach_y)),
          width_(tile.right - tile.left + 2 * tile.reach_x + 1),
          none_(static_cast<size_t>(width_) * 3, Uint{0}),
          cells_(new Uint[static_cast<size_t>(width_) * 3 * (last_ - first_)]) {
        parallel_for(last_ - first_, 3.0 * width_, [&](int i) { build(first_ + i); });
    }

    int width() const { return width_; }
    const Uint* row(int y) const { return y < first_ || y >= last_ ? none_.data() : cells(y); }

  private:
    Uint* cells(int y) const { return cells_.get() + static_cast<size_t>(width_) * 3 * (y - first_); }

    void build(int y) {
        Uint *px = cells(y), *py = px + width_, *g = py + width_;
        const size_t at = static_cast<size_t>(y) * field_.width;
        Uint sum_x = 0, sum_y = 0, sum_g = 0;
        for (int n = 0; n < width_; ++n) {
            px[n] = sum_x;
            py[n] = sum_y;
            g[n] = sum_g;
            const int x = tile_.left - tile_.reach_x + n;
            const bool force = x >= 0 && x < field_.width;
            const auto rounded = [&](const float* f) {
                return force ? static_cast<Uint>(round_force(f[at + x], steps_)) : Uint{0};
            };
            const Uint force_y = rounded(field_.fy);
            sum_x += rounded(field_.fx);
            sum_g += 2 * sum_y + force_y;
            sum_y += force_y;
        }
    }

    Field field_;
    float steps_;
    Tile tile_;
    int first_, last_, width_;
    std::vector<Uint> none_;
    std::unique_ptr<Uint[]> cells_;
};

// kFixed: with M of disk_arcs.hpp in the place of A.
template <class Uint, bool kFixed = false>
IMTORQUE_INLINE void pair_rows(const Uint* below, const Uint* above, int dy, int width, Uint* __restrict a,
                               Uint* __restrict b) {
    const Uint lever = 2 * static_cast<Uint>(dy);
    const Uint *px1 = below, *py1 = below + width, *g1 = below + 2 * width;
    const Uint *px0 = above, *py0 = above + width, *g0 = above + 2 * width;
    const auto fixed = [](int n, Uint sum) { return kFixed ? (2 * static_cast<Uint>(n) - 1) * sum : Uint{0}; };
    if (dy == 0) {
        IMTORQUE_IVDEP
        for (int n = 0; n < width; ++n) {
            a[n] = fixed(n, py1[n]) - g1[n];
            b[n] = py1[n];
        }
        return;
    }
    IMTORQUE_IVDEP
    for (int n = 0; n < width; ++n) {
        const Uint sum = py1[n] + py0[n];
        a[n] = fixed(n, sum) - g1[n] - g0[n] - lever * (px1[n] - px0[n]);
        b[n] = sum;
    }
}

template <class Uint>
struct Run {  // one pair of rows of one disk: where its ends lie in A and B, and the lever of B
    const Uint *ah, *al, *bh, *bl;
    Uint lever;
    Run(const Uint* a, const Uint* b, int reach, int w)
        : ah(a + reach + w + 1),
          al(a + reach - w),
          bh(b + reach + w + 1),
          bl(b + reach - w),
          lever(2 * static_cast<Uint>(w) + 1) {}
    IMTORQUE_INLINE Uint at(int x) const { return ah[x] - al[x] + lever * (bh[x] + bl[x]); }
};

template <class Uint>
IMTORQUE_INLINE void add_runs(const Run<Uint>& first, const Run<Uint>& second, int count, Uint* __restrict sum) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) sum[x] += first.at(x) + second.at(x);
}

template <class Uint>
IMTORQUE_INLINE void add_run(const Run<Uint>& run, int count, Uint* __restrict sum) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) sum[x] += run.at(x);
}

template <class Uint>
IMTORQUE_INLINE void add_arrays(const Uint* first, const Uint* second, int count, Uint* __restrict sum) {
    IMTORQUE_IVDEP
    for (int n = 0; n < count; ++n) sum[n] = first[n] + second[n];
}

template <class Number>
IMTORQUE_INLINE void run_rows_impl(const RowPrefixes<Number>& prefixes, const Job& job, const Tile& tile, int from,
                                   int to) {
    using Uint = typename Number::Uint;
    const int width = prefixes.width(), count = tile.right - tile.left, reach = tile.reach_x;
    const size_t cells = static_cast<size_t>(job.count) * count;
    std::unique_ptr<Uint[]> sums(new Uint[cells]), pairs(new Uint[6 * static_cast<size_t>(width)]);
    Poll poll(16);
    Uint *a0 = pairs.get(), *b0 = a0 + width, *a1 = b0 + width, *b1 = a1 + width, *both = b1 + width;
    for (int y = from; y < to; ++y) {
        std::fill_n(sums.get(), cells, Uint{0});
        // Two pairs of rows at a time: the sums are touched half as often, and where a disk is as wide in both, which
        // it is in a third of them, one run of their sum does.
        for (int dy = 0; dy <= tile.reach_y; dy += 2) {
            poll();
            pair_rows<Uint>(prefixes.row(y + dy), prefixes.row(y - dy), dy, width, a0, b0);
            const bool more = dy < tile.reach_y;
            if (more) {
                pair_rows<Uint>(prefixes.row(y + dy + 1), prefixes.row(y - dy - 1), dy + 1, width, a1, b1);
                add_arrays<Uint>(a0, a1, 2 * width, both);
            }
            for (int k = 0; k < job.count; ++k) {
                const int32_t* w = job.half_widths + static_cast<size_t>(k) * job.rows_of_widths + dy;
                Uint* sum = sums.get() + static_cast<size_t>(k) * count;
                if (w[0] < 0) continue;
                if (more && w[1] == w[0])
                    add_run<Uint>({both, both + width, reach, w[0]}, count, sum);
                else if (more && w[1] >= 0)
                    add_runs<Uint>({a0, b0, reach, w[0]}, {a1, b1, reach, w[1]}, count, sum);
                else
                    add_run<Uint>({a0, b0, reach, w[0]}, count, sum);
            }
        }
        for (int k = 0; k < job.count; ++k) {
            const size_t slice = static_cast<size_t>(k) * (job.bottom - job.top);
            float* out = job.tau + (slice + y - job.top) * job.field.width + tile.left;
            const Uint* sum = sums.get() + static_cast<size_t>(k) * count;
            const float norm = job.patches[k].norm;
            for (int x = 0; x < count; ++x) out[x] = Number::to_float(sum[x]) * norm;
        }
    }
}

IMTORQUE_DISPATCH(template <class Number> static, run_rows,
                  (const RowPrefixes<Number>& prefixes, const Job& job, const Tile& tile, int from, int to),
                  (prefixes, job, tile, from, to))

// The same by arcs.
template <class Number>
IMTORQUE_INLINE void run_arcs_impl(const RowPrefixes<Number>& prefixes, const Job& job, const Tile& tile, int from,
                                   int to) {
    using Uint = typename Number::Uint;
    const Arcs<Number> arcs(tile.right - tile.left, tile.reach_x);
    Poll poll(16);
    for (int y = from; y < to; ++y) {
        for (int dy = 0; dy <= tile.reach_y; ++dy) {
            poll();
            Uint* pair = arcs.pair(dy);
            pair_rows<Uint, true>(prefixes.row(y + dy), prefixes.row(y - dy), dy, prefixes.width(), pair,
                                  pair + arcs.stride());
        }
        arcs.clear();
        for (int k = 0; k < job.count; ++k) {
            poll();
            arcs.move(job.plan.disks[k]);
            const size_t row = static_cast<size_t>(k) * (job.bottom - job.top) + y - job.top;
            arcs.torque(job.plan.disks[k], job.patches[k].norm, job.tau + row * job.field.width + tile.left);
        }
    }
}
IMTORQUE_DISPATCH(template <class Number> static, run_arcs,
                  (const RowPrefixes<Number>& prefixes, const Job& job, const Tile& tile, int from, int to),
                  (prefixes, job, tile, from, to))

// A few rows of a strip at a time: threads share its tables, which are then small beside the image.
template <class Number>
void run(Number, const Job& job) {
    constexpr int kTableRows = 512, kTaskRows = 4;
    const int radius = job.patches[job.count - 1].rx, width = job.field.width;
    const int reach_y = std::min(radius, job.field.height - 1), reach_x = std::min(radius, width - 1);
    const int strip = even_part(width, std::max(kStrip, 2 * reach_x)),
              rows = std::max(kDiskRows, kTableRows - 2 * reach_y);
    double pairs = 0;  // of rows, for each pixel, each about half a nanosecond
    for (int k = 0; k < job.count; ++k) pairs += std::min(job.patches[k].rx, reach_y) + 1;
    for (int left = 0; left < width; left += strip)
        for (int top = job.top; top < job.bottom; top += rows) {
            const Tile tile{top,    std::min(top + rows, job.bottom), left, std::min(left + strip, width), reach_y,
                            reach_x};
            const RowPrefixes<Number> prefixes(job.field, tile);
            const double task_time = 0.5 * pairs * kTaskRows * (tile.right - left);
            parallel_for((tile.bottom - top + kTaskRows - 1) / kTaskRows, task_time, [&](int i) {
                const int from = top + i * kTaskRows;
                const int to = std::min(from + kTaskRows, tile.bottom);
                job.by_arcs ? run_arcs(prefixes, job, tile, from, to) : run_rows(prefixes, job, tile, from, to);
            });
        }
}

// [patch][dy], -1 where a disk has no row.
std::vector<int32_t> list_half_widths(const Field& field, const std::vector<Patch>& patches, int rows) {
    std::vector<int32_t> half_widths(patches.size() * rows, -1);
    for (size_t k = 0; k < patches.size(); ++k)
        for (int dy = 0; dy < rows && dy <= patches[k].rx; ++dy)
            half_widths[k * rows + dy] = std::min(disk_half_width(patches[k].rx, dy), field.width - 1);
    return half_widths;
}

// Of run_rows, for each pixel.
double count_look_ups(const std::vector<int32_t>& half_widths, int rows) {
    double runs = 0;
    for (size_t disk = 0; disk < half_widths.size(); disk += rows)
        for (int dy = 0; dy < rows && half_widths[disk + dy] >= 0; ++dy)
            runs += dy % 2 == 0 || half_widths[disk + dy] != half_widths[disk + dy - 1];
    return 4 * runs;
}

// Disks whose sums fit `width`, in the quickest way.
void run_disks(const Field& field, const std::vector<Patch>& patches, Width width, const DiskRows& out) {
    const int radius = patches.back().rx, rows = std::min(radius, field.height - 1) + 1;
    const std::vector<int32_t> half_widths = list_half_widths(field, patches, rows);
    double look_ups = count_look_ups(half_widths, rows);
    const bool whole = radius < std::min(field.height, field.width);  // no disk reaches beyond what rows there are
    ArcPlan plan = whole ? plan_arcs(patches, 2) : ArcPlan{};  // ends are looked up where they were and where they are
    const bool by_arcs = whole && plan.look_ups < kArcs * look_ups;
    if (by_arcs) look_ups = plan.look_ups;
    if (sparse_disk_torque(field, patches, width, look_ups, out)) return;
    Job job{field,
            patches.data(),
            static_cast<int>(patches.size()),
            half_widths.data(),
            rows,
            std::move(plan),
            by_arcs,
            out.top,
            out.bottom,
            out.tau};
    const auto run_job = [&](const DiskRows& band) {
        job.top = band.top;
        job.bottom = band.bottom;
        job.tau = band.tau;
        if (width == Width::bits32) run(Narrow{}, job);
        if (width == Width::bits64) run(Wide{}, job);
        if (width == Width::bits64_long) run(WideLong{}, job);
    };
    out.tau ? run_job(out) : run_in_bands(field, job.count, out, run_job);
}

}  // namespace

int even_part(int length, int about) {
    const int parts = std::max(1, (length + about / 2) / about);
    return (length + parts - 1) / parts;
}

int disk_half_width(long long radius, long long dy) {
    const long long square = radius * radius - dy * dy;
    if (square < 0) return -1;
    auto w = static_cast<long long>(std::sqrt(static_cast<double>(square)));
    while (w * w > square) --w;
    while ((w + 1) * (w + 1) <= square) ++w;
    return static_cast<int>(w);
}

double pairs_of_rows(const Field& field, const std::vector<Patch>& patches) {
    double pairs = 0;
    for (const Patch& disk : patches) pairs += std::min(disk.ry, field.height - 1) + 1;
    return pairs;
}

void disk_torque(const Field& field, const std::vector<Patch>& patches, const DiskRows& out) {
    if (field.free) return disk_closure(field, patches, out);
    const Widths widths = choose_widths(field, patches);
    const auto wide = patches.begin() + widths.narrow;
    if (widths.narrow > 0) run_disks(field, {patches.begin(), wide}, Width::bits32, out);
    if (wide == patches.end()) return;
    DiskRows rest = out;
    if (out.tau)
        rest.tau += static_cast<size_t>(widths.narrow) * (out.bottom - out.top) * field.width;
    else
        rest.labels += widths.narrow;
    run_disks(field, {wide, patches.end()}, widths.long_sums ? Width::bits64_long : Width::bits64, rest);
}

}  // namespace imtorque
