// Minimum cuts of capacities of any range, infinite ones too, by flows of whole numbers.
//
// A capacity becomes a whole number of steps, rounded down; a step is a power of two, so that integers and halves stay
// what they are. `limit` has kCapacityBits bits, and links wider than that are made just wider than `limit`: where no
// cheapest cut costs as much, none holds them, and "never cut here" costs no precision.
// Rounded down, the flow found is one of the real network, so no cut costs less. The cut found costs more only by what
// rounding took from its own links: the error is known. While it is too much, that cut's cost is the next limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace imtorque {

class Steps {
   public:
    explicit Steps(double limit) {
        const int exponent = limit > 0 ? kCapacityBits - 1 - std::ilogb(limit) : 0;
        first_ = std::ldexp(1.0, exponent / 2);  // both at once may be more than a double holds
        second_ = std::ldexp(1.0, exponent - exponent / 2);
        widest_ = std::floor(1.001 * of(limit)) + 1;  // the limit is a sum, and may be off by its rounding
    }
    double of(double capacity) const { return capacity * first_ * second_; }
    std::int64_t link(double capacity) const { return static_cast<std::int64_t>(std::min(of(capacity), widest_)); }

   private:
    static constexpr int kCapacityBits = 59;  // of eight links the sum has 62
    double first_, second_, widest_;
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
    problem.arcs([&](std::int64_t node, int direction, double forth, double back) {
        const bool here = flow.on_source_side(node);
        if (here != flow.on_source_side(flow.neighbour(node, direction))) found.add(here ? forth : back, steps);
    });
    problem.terminals([&](std::int64_t node, double excess) {
        if ((excess > 0) != flow.on_source_side(node)) found.add(std::abs(excess), steps);
    });
    return found;
}

// Leaves the cheapest cut in `flow` and returns its cost, infinite where no cut is finite. The cheapest cut must not cost
// more than `limit`, unless no link is wider than that. Problem::arcs() calls back with (node, direction, capacity forth,
// and back), Problem::terminals() with (node, what the source gives less what the sink takes). At most 1e-12 of the cost
// is lost, or one step per link of the cut where 2^58 steps make the limit and that is not twice the cost.
template <class Flow, class Problem>
double cheapest_cut(Flow& flow, const Problem& problem, double limit) {
    for (;;) {
        const Steps steps(limit);
        flow.clear();
        problem.arcs([&](std::int64_t node, int direction, double forth, double back) {
            flow.set_arc(node, direction, steps.link(forth), steps.link(back));
        });
        problem.terminals([&](std::int64_t node, double excess) { flow.set_terminal(node, steps.of(excess)); });
        flow.solve();
        const CutCost found = cost_of_cut(flow, problem, steps);
        const double cost = found.cost.value();
        if (found.exact() || limit <= 2 * cost) return cost;
        limit = cost;
    }
}

}  // namespace imtorque
