// Rounds capacities to integers and hands them to the flow of grid_flow.hpp.
//
// The unit is a power of two set by the largest link, so that integers and halves stay what they are. Terminal capacities
// beyond what a node's links can carry change nothing and are cut to one step more than that; so they may be infinite.
// A link wider than all the flow there can be is cut likewise, so that huge "never cut here" links cost no precision.
#include "cuts/max_flow.hpp"

#include "cuts/grid_flow.hpp"

namespace imtorque {
namespace {

// What the source can give in all, and what the sink can take: neither can the flow exceed.
struct Terminals {
    double given = 0, taken = 0;
};

Terminals sum_of_terminals(const double* source, const double* sink, std::int64_t count) {
    Terminals sum;
    for (std::int64_t i = 0; i < count; ++i) {
        const double excess = source[i] - sink[i];
        (excess > 0 ? sum.given : sum.taken) += std::abs(excess);
    }
    return sum;
}

template <int kDirections, bool kWrap>
double solve(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask) {
    const auto families = families_of(links);
    const Terminals sum = sum_of_terminals(source, sink, static_cast<std::int64_t>(links.height) * links.width);
    const double bound = std::min(sum.given, sum.taken);
    const double steps = steps_for(std::min(largest_weight(families), bound > 0 ? bound : std::max(sum.given, sum.taken)));

    GridFlow<kDirections, kWrap> flow(links.height, links.width);
    const double widest = 1.001 * bound * steps + 1;  // more than rounded terminals add up to
    for (int k = 0; k < kDirections / 2; ++k) {
        const LinkFamily& family = families[k];
        const double* capacity = family.weight;
        for (int y = 0; y < family.rows; ++y) {
            std::int64_t node = flow.node(y, family.from_x);
            for (int x = 0; x < family.columns; ++x, ++node) {
                const auto whole = static_cast<std::int64_t>(std::min(*capacity++ * steps, widest) + 0.5);
                flow.set_arc(node, family.direction, whole, whole);
            }
        }
    }
    double through = 0;  // from the source straight to the sink
    std::int64_t i = 0;
    for (int y = 0; y < links.height; ++y)
        for (int x = 0; x < links.width; ++x, ++i) {
            through += std::min(source[i], sink[i]);
            flow.set_terminal(flow.node(y, x), (source[i] - sink[i]) * steps);
        }
    const double pushed = flow.solve();
    i = 0;
    for (int y = 0; y < links.height; ++y)
        for (int x = 0; x < links.width; ++x, ++i) mask[i] = flow.on_source_side(flow.node(y, x));
    return through + pushed / steps;
}

}  // namespace

double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask) {
    if (links.diagonal)
        return links.wrap_rows ? solve<8, true>(links, source, sink, mask) : solve<8, false>(links, source, sink, mask);
    return links.wrap_rows ? solve<4, true>(links, source, sink, mask) : solve<4, false>(links, source, sink, mask);
}

}  // namespace imtorque
