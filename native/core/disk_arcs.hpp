// Torque of disks whose radii follow each other closely: each disk from the one before.
//
// Where the radius grows by g, the runs of most rows near the middle grow by g at either end. Seen from the disk's own
// end, x + r to the right and x - r to the left, those of its runs stay where they are. So prefixes at the runs' ends
// are summed for each place of the disk's end, and from one disk to the next only the runs that do not stay are moved.
// What is left is the top and the bottom, where runs grow by more: their ends are looked up for each disk.
//
// With pairs of rows as in disk_torque.cpp, and levers from a fixed column: with M = A + (2n - 1) B for the prefixes at
// n, twice the moment of the run from l to h around column x is M(h) - M(l) - 2 x (B(h) - B(l)).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/torque.hpp"

namespace imtorque {

// How the ends of disks' runs move, counted from the disk's end: a run of half-width w ends at w - r.
struct ArcPlan {
    static constexpr int kNowhere = 1;
    struct Move {
        int dy, from, to;  // kNowhere: it was not, or is no longer, among the sums
    };
    struct Disk {
        int radius;
        std::vector<Move> moves;
        std::vector<int> rows, half_widths;  // whose ends are looked up
    };
    std::vector<Disk> disks;
    double look_ups = 0;  // for each pixel
};

// `dear`: how much of what it takes to look up a run for a disk it takes to move one.
inline ArcPlan plan_arcs(const std::vector<Patch>& patches, double dear) {
    const int count = static_cast<int>(patches.size());
    ArcPlan plan;
    std::vector<int> ends(static_cast<size_t>(patches.back().rx) + 1, ArcPlan::kNowhere);
    for (int k = 0; k < count; ++k) {
        const int radius = patches[k].rx, before = k > 0 ? k - 1 : 0, after = k > 0 || count == 1 ? k : 1;
        const long long gap = patches[after].rx - patches[before].rx;
        ArcPlan::Disk disk{radius, {}, {}, {}};
        for (int dy = 0; dy <= radius; ++dy) {
            const int w = disk_half_width(radius, dy);
            // A run moves in g (r / w - 1) of the cases.
            const bool stays = dear * static_cast<double>(gap * (radius - w)) <= w;
            const int end = stays ? w - radius : ArcPlan::kNowhere;
            if (end != ends[dy]) disk.moves.push_back({dy, ends[dy], end});
            if (!stays) {
                disk.rows.push_back(dy);
                disk.half_widths.push_back(w);
            }
            ends[dy] = end;
        }
        plan.look_ups +=
            8.0 * static_cast<double>(disk.moves.size()) + 4.0 * static_cast<double>(disk.rows.size()) + 16;
        plan.disks.push_back(std::move(disk));
    }
    return plan;
}

// The pairs of rows around one row, [dy][M, B][n], and what is summed at the ends of disks, likewise.
template <class Number>
class Arcs {
  public:
    using Uint = typename Number::Uint;

    Arcs(int columns, int radius)
        : count_(columns),
          reach_(radius),
          stride_((columns + 2 * radius + 1 + 2 * kLanes) / kLanes * kLanes),
          pairs_(new Uint[2 * stride_ * (radius + 1)]()),
          ends_(new Uint[6 * stride_]()),
          right_(ends_.get()),
          left_(right_ + 2 * stride_),
          nothing_(left_ + 2 * stride_),
          sums_(new Uint[2 * stride_]) {}

    Uint* pair(int dy) const { return pairs_.get() + 2 * stride_ * dy; }
    ptrdiff_t stride() const { return stride_; }

    // Begin with the first disk of a row.
    IMTORQUE_INLINE void clear() const { std::fill_n(right_, 4 * stride_, Uint{0}); }

    // Right ends are summed at x + r, left ones at x + reach - r; those that no larger disk needs are left out.
    IMTORQUE_INLINE void move(const ArcPlan::Disk& disk) const {
        // In whole vectors: rows have room for them.
        const int n = (count_ + reach_ - disk.radius + kLanes - 1) / kLanes * kLanes;
        const int moves = static_cast<int>(disk.moves.size());
        for (int i = 0; i < moves; i += kTogether) {
            const int some = std::min(kTogether, moves - i);
            Ends rights[kTogether], lefts[kTogether];
            for (int k = 0; k < some; ++k) {
                const auto [dy, from, to] = disk.moves[i + k];
                const auto at = [&, dy = dy](int end, int offset) {
                    return end == ArcPlan::kNowhere ? nothing_ : pair(dy) + offset;
                };
                rights[k] = {at(to, reach_ + 1 + to + disk.radius), at(from, reach_ + 1 + from + disk.radius)};
                lefts[k] = {at(to, -to), at(from, -from)};
            }
            move_some(rights, some, n, right_ + disk.radius);
            move_some(lefts, some, n, left_);
        }
    }

    // The torque of a disk.
    IMTORQUE_INLINE void torque(const ArcPlan::Disk& disk, float norm, float* out) const {
        const int rows = static_cast<int>(disk.rows.size());
        Ends ends[kTogether];
        ends[0] = {right_ + disk.radius, left_ + reach_ - disk.radius};
        const int first = rows % kTogether;  // with the sums of the ends; more rows come kTogether at a time
        look_up(disk, 0, std::min(first, kTogether - 1), ends + 1);
        const bool more = rows > first;
        if (first == 0) pass<1, true>(ends, !more, norm, out);
        if (first == 1) pass<2, true>(ends, !more, norm, out);
        if (first == 2) pass<3, true>(ends, !more, norm, out);
        if (first == 3) pass<4, true>(ends, !more, norm, out);
        for (int i = first; i < rows; i += kTogether) {
            look_up(disk, i, kTogether, ends);
            pass<kTogether, false>(ends, i + kTogether == rows, norm, out);
        }
    }

  private:
    static constexpr int kTogether = 4;  // runs, so that the sums are touched less often
    struct Ends {
        const Uint *plus, *minus;  // M there; B lies a stride further
    };

    IMTORQUE_INLINE void look_up(const ArcPlan::Disk& disk, int first, int some, Ends* ends) const {
        for (int k = 0; k < some; ++k) {
            const int dy = disk.rows[first + k], w = disk.half_widths[first + k];
            ends[k] = {pair(dy) + reach_ + w + 1, pair(dy) + reach_ - w};
        }
    }

    template <int kRuns>
    IMTORQUE_INLINE void add(const Ends* ends, int x, Uint& m, Uint& b) const {
        for (int k = 0; k < kRuns; ++k) {
            m += ends[k].plus[x] - ends[k].minus[x];
            b += ends[k].plus[x + stride_] - ends[k].minus[x + stride_];
        }
    }

    template <int kRuns>
    IMTORQUE_INLINE void move_runs(const Ends* ends, int n, Uint* __restrict sum) const {
        Ends own[kRuns];
        std::copy_n(ends, kRuns, own);
        IMTORQUE_IVDEP
        for (int x = 0; x < n; ++x) {
            Uint m = sum[x], b = sum[x + stride_];
            add<kRuns>(own, x, m, b);
            sum[x] = m;
            sum[x + stride_] = b;
        }
    }
    IMTORQUE_INLINE void move_some(const Ends* ends, int some, int n, Uint* sum) const {
        if (some == 1) move_runs<1>(ends, n, sum);
        if (some == 2) move_runs<2>(ends, n, sum);
        if (some == 3) move_runs<3>(ends, n, sum);
        if (some == 4) move_runs<4>(ends, n, sum);
    }

    // kOpen: these are the first runs of a disk; `last`: they are its last.
    template <int kRuns, bool kOpen>
    IMTORQUE_INLINE void pass(const Ends* ends, bool last, float norm, float* __restrict out) const {
        Ends own[kRuns];
        std::copy_n(ends, kRuns, own);
        Uint* __restrict sum_m = sums_.get(), * __restrict sum_b = sum_m + stride_;
        if (last) {
            IMTORQUE_IVDEP
            for (int x = 0; x < count_; ++x) {
                Uint m = kOpen ? 0 : sum_m[x], b = kOpen ? 0 : sum_b[x];
                add<kRuns>(own, x, m, b);
                out[x] = Number::to_float(m - 2 * static_cast<Uint>(x + reach_) * b) * norm;
            }
            return;
        }
        IMTORQUE_IVDEP
        for (int x = 0; x < count_; ++x) {
            Uint m = kOpen ? 0 : sum_m[x], b = kOpen ? 0 : sum_b[x];
            add<kRuns>(own, x, m, b);
            sum_m[x] = m;
            sum_b[x] = b;
        }
    }

    int count_, reach_;  // columns, and the radius of the largest disk
    ptrdiff_t stride_;
    std::unique_ptr<Uint[]> pairs_, ends_;
    Uint *right_, *left_, *nothing_;
    std::unique_ptr<Uint[]> sums_;
};

}  // namespace imtorque
