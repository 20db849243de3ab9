// Hands the capacities of a grid to exact_cut.hpp.
#include "cuts/max_flow.hpp"

#include <limits>
#include <vector>

#include "cuts/exact_cut.hpp"
#include "cuts/grid_flow.hpp"

namespace imtorque {
namespace {

// Steps of one size as steps of another, none so many that they would not fit.
class Rescaled {
  public:
    Rescaled(std::int64_t to, std::int64_t from)
        : up_(to > from ? static_cast<int>(std::min<std::int64_t>(to - from, kBits)) : 0),
          down_(to < from ? static_cast<int>(std::min<std::int64_t>(from - to, kBits)) : 0),
          most_((std::int64_t{1} << kBits) >> up_) {}
    std::int64_t operator()(std::int64_t steps) const {
        return std::min(std::max(steps, -most_), most_) * (std::int64_t{1} << up_) >> down_;
    }

  private:
    static constexpr int kBits = 62;
    int up_, down_;
    std::int64_t most_;
};

template <int kDirections, bool kWrap>
class GridCut {
  public:
    GridCut(const GridLinks& links, const double* source, const double* sink)
        : links_(links),
          families_(families_of(links)),
          source_(source),
          sink_(sink),
          flow_(links.height, links.width) {}

    template <class Start = NoStart>
    double solve(std::uint8_t* mask, Start start = {}) {
        const double cost = cheapest_cut(flow_, *this, limit(), start);
        Sum total;
        total.add(cost);
        std::int64_t i = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < links_.width; ++x, ++i) {
                total.add(std::min(source_[i], sink_[i]));  // from the source straight to the sink
                mask[i] = flow_.on_source_side(flow_.node(y, x));
            }
        return total.value();
    }

    // Begins with a flow, and keeps what flows.
    struct Going {
        GridCut& cut;
        GridSteps& flow;

        void before(const Steps& steps) const {
            const Rescaled rescaled(steps.shift(), flow.shift);
            cut.flow_.begin_with([&](auto let_flow) {
                const std::int64_t* amount = flow.links;
                cut.arcs([&](const Arc& arc, double, double) { let_flow(arc, rescaled(*amount++)); });
            });
            flow.shift = steps.shift();
        }
        void after() const {
            std::int64_t* amount = flow.links;
            cut.arcs([&](const Arc& arc, double, double) { *amount++ = cut.flow_.flowing(arc); });
        }
    };

    template <class Visit>
    void arcs(Visit visit) const {
        for (int k = 0; k < kDirections / 2; ++k) {
            const LinkFamily& family = families_[k];
            const double* capacity = family.weight;
            Poll poll(16);
            for (int y = 0; y < family.rows; ++y) {
                poll();
                Arc arc = flow_.arc(flow_.node(y, family.from_x), family.direction);
                for (int x = 0; x < family.columns; ++x, ++arc.node, ++arc.other, ++capacity)
                    visit(arc, *capacity, *capacity);
            }
        }
    }

    template <class Visit>
    void terminals(Visit visit) const {
        std::int64_t i = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < links_.width; ++x, ++i) visit(flow_.node(y, x), source_[i] - sink_[i]);
    }

  private:
    // As much as the widest link or, if less, as the cheapest cut may cost: a straight one, or where those are
    // infinite, everything that is not.
    double limit() const {
        const double bound = cheapest_straight_cut(), widest = largest_weight(families_);
        const double limit = bound > 0 ? std::min(bound, widest) : widest;
        return std::isfinite(limit) ? limit : everything_finite();
    }

    // Of all cuts between the columns before some x and the rest, either way round.
    double cheapest_straight_cut() const {
        const int width = links_.width;
        std::vector<double> given(width), taken(width), forth(width + 1);
        std::int64_t i = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < width; ++x, ++i) {
                const double excess = source_[i] - sink_[i];
                given[x] += std::max(excess, 0.0);
                taken[x] += std::max(-excess, 0.0);
            }
        for (const LinkFamily& family : families_) {
            if (family.dx == 0) continue;
            const double* capacity = family.weight;
            for (int y = 0; y < family.rows; ++y)
                for (int x = 0; x < family.columns; ++x) forth[x + 1] += *capacity++;
        }
        std::vector<double> back = forth;
        add_sums_before(given, back);
        add_sums_before(taken, forth);
        for (std::vector<double>* all : {&given, &taken, &forth, &back}) std::reverse(all->begin(), all->end());
        add_sums_before(given, forth);
        add_sums_before(taken, back);
        return std::min(*std::min_element(forth.begin(), forth.end()), *std::min_element(back.begin(), back.end()));
    }

    static void add_sums_before(const std::vector<double>& values, std::vector<double>& sums) {
        double total = 0;
        for (std::size_t i = 0; i < values.size(); ++i) sums[i + 1] += total += values[i];
    }

    double everything_finite() const {
        double total = 0;
        const auto add = [&](double capacity) { total += std::isfinite(capacity) ? capacity : 0; };
        arcs([&](const Arc&, double forth, double) { add(forth); });
        terminals([&](std::int64_t, double excess) { add(std::abs(excess)); });
        return std::min(total, std::numeric_limits<double>::max());
    }

    const GridLinks& links_;
    const std::array<LinkFamily, 4> families_;
    const double *source_, *sink_;
    GridFlow<kDirections, kWrap> flow_;
};

}  // namespace

double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask) {
    if (links.diagonal)
        return links.wrap_rows ? GridCut<8, true>(links, source, sink).solve(mask)
                               : GridCut<8, false>(links, source, sink).solve(mask);
    return links.wrap_rows ? GridCut<4, true>(links, source, sink).solve(mask)
                           : GridCut<4, false>(links, source, sink).solve(mask);
}

void max_flow_from(const GridLinks& links, const double* source, const double* sink, GridSteps& flow,
                   std::uint8_t* mask) {
    const auto solve = [&](auto cut) { cut.solve(mask, typename decltype(cut)::Going{cut, flow}); };
    if (links.wrap_rows)
        solve(GridCut<4, true>(links, source, sink));
    else
        solve(GridCut<4, false>(links, source, sink));
}

}  // namespace imtorque
