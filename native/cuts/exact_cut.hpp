// Minimum cuts of capacities of any range, infinite ones too, by flows of whole numbers.
//
// A capacity becomes a whole number of steps, rounded down. A step is a power of two, so that integers and halves stay
// what they are, and such that `limit` has kCapacityBits bits. Links wider than that are made just wider than `limit`:
// where the cheapest cut costs less, it holds none of them, and "never cut here" costs no precision. Rounded down, the
// flow found is one of the real network, so no cut costs less. The cut found costs more only by what rounding took from
// its own links: the error is known, and is a limit of what may still flow. While it is too much, steps are divided so
// that this limit has as many bits, every link gets back what it lost, and the flow goes on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/parallel.hpp"

namespace imtorque {

// A power of two that may be more than a double holds.
class PowerOfTwo {
  public:
    explicit PowerOfTwo(int exponent)
        : first_(std::ldexp(1.0, exponent / 2)), second_(std::ldexp(1.0, exponent - exponent / 2)) {}
    double times(double value) const { return value * first_ * second_; }

  private:
    double first_, second_;
};

// Capacities as whole steps, in one round after another of ever finer ones.
class Steps {
  public:
    explicit Steps(double limit)
        : shift_(shift_for(limit)),
          exponent_(shift_),
          before_(0),
          scale_(exponent_),
          factor_(shift_),
          widest_(wider_than(limit)) {}

    // The next round: divide steps so that `limit` of them have kCapacityBits bits.
    void refine(double limit) {
        first_round_ = false;
        shift_ = shift_for(limit);
        before_ = scale_;
        exponent_ += shift_;
        scale_ = PowerOfTwo(exponent_);
        factor_ = PowerOfTwo(shift_);
        widest_ = wider_than(limit);
    }

    double of(double capacity) const { return scale_.times(capacity); }

    // What the round adds to a link: all of its capacity, or what the rounds before did not count.
    std::int64_t link(double capacity) const { return static_cast<std::int64_t>(std::min(added(capacity), widest_)); }
    std::int64_t terminal(double excess) const {
        const auto steps =
            static_cast<std::int64_t>(std::min(added(std::abs(excess)), first_round_ ? kMostGiven : widest_));
        return excess < 0 ? -steps : steps;
    }

    // By how many bits the round divides steps, and what is wider than all that may flow.
    int shift() const { return shift_; }
    std::int64_t widest() const { return static_cast<std::int64_t>(widest_); }

  private:
    static constexpr double kMostGiven = 0x1p63 - 0x1p10;  // more than eight links carry
    static constexpr int kCapacityBits =
        60;  // 62 are an arc and the one back after a round added to both, 63 eight links
    static constexpr double kMargin = 1.001;  // a limit is a sum, and may be off by its rounding

    static int shift_for(double limit) { return limit > 0 ? kCapacityBits - 1 - std::ilogb(kMargin * limit) : 0; }
    double wider_than(double limit) const { return std::floor(kMargin * factor_.times(limit)) + 1; }

    double added(double capacity) const {
        if (first_round_) return of(capacity);
        const double counted = before_.times(capacity);
        return counted < 0x1p53 ? factor_.times(counted - std::floor(counted)) : 0;
    }

    int shift_, exponent_;
    PowerOfTwo before_, scale_, factor_;
    double widest_;
    bool first_round_ = true;
};

// A sum that keeps what rounding takes from it (Neumaier).
class Sum {
  public:
    void add(double value) {
        const double total = total_ + value;
        rest_ += std::abs(total_) >= std::abs(value) ? (total_ - total) + value : (value - total) + total_;
        total_ = total;
    }
    double value() const { return std::isfinite(total_) ? total_ + rest_ : total_; }

  private:
    double total_ = 0, rest_ = 0;
};

// What a cut costs, and in steps, what rounding left of it and what it took.
struct CutCost {
    Sum cost;
    double kept = 0, lost = 0;

    void add(double capacity, const Steps& steps) {
        const double scaled = steps.of(capacity), whole = std::floor(scaled);
        cost.add(capacity);
        kept += whole;
        lost += scaled - whole;
    }
    bool exact() const { return cost.value() == 0 || (kept > 0 && lost <= 1e-12 * kept); }
};

template <class Flow, class Problem>
CutCost cost_of_cut(const Flow& flow, const Problem& problem, const Steps& steps) {
    CutCost found;
    problem.arcs([&](const auto& arc, double forth, double back) {
        const bool here = flow.on_source_side(arc.node);
        if (here != flow.on_source_side(arc.other)) found.add(here ? forth : back, steps);
    });
    problem.terminals([&](std::int64_t node, double excess) {
        if ((excess > 0) != flow.on_source_side(node)) found.add(std::abs(excess), steps);
    });
    return found;
}

// No flow to begin with, and none to keep.
struct NoStart {
    void before(const Steps&) const {}
    void after() const {}
};

// Leaves the cheapest cut in `flow` and returns its cost, to 1e-12 of it; infinite where no cut is finite. The cheapest
// cut must not cost more than `limit`, unless no link is wider than that. Problem::arcs() calls back with (arc,
// capacity forth, and back), Problem::terminals() with (node, what the source gives less what the sink
// takes). `start` is called before flow is pushed first, and after: it may let some flow beforehand, and see what
// flows.
template <class Flow, class Problem, class Start = NoStart>
double cheapest_cut(Flow& flow, const Problem& problem, double limit, Start start = {}) {
    Steps steps(limit);
    flow.clear();
    for (bool first = true;; first = false) {
        check_interrupt();
        const Steps now = steps;  // which nobody else can change, so that the loops need not look
        problem.arcs([&flow, now](const auto& arc, double forth, double back) {
            flow.add_arc(arc, now.link(forth), now.link(back));
        });
        problem.terminals([&flow, now](auto node, double excess) { flow.add_terminal(node, now.terminal(excess)); });
        if (first) start.before(steps);
        flow.solve();
        if (first) start.after();
        const CutCost found = cost_of_cut(flow, problem, steps);
        const double cost = found.cost.value();
        if (!std::isfinite(cost) || found.exact()) return cost;
        if (found.kept > 0) {
            steps.refine(found.lost);
            flow.refine(steps.shift(), steps.widest());
        } else {  // nothing flowed, and the steps may be too large to tell what was lost
            steps = Steps(cost);
            flow.clear();
        }
    }
}

}  // namespace imtorque
