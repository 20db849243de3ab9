// Rounds capacities to integers and hands them to the flow of grid_flow.hpp.
//
// The unit is a power of two set by the largest link, so that integers and halves stay what they are. Terminal capacities
// beyond what a node's links can carry change nothing and are cut to one step more than that; so they may be infinite.
// A link wider than all the flow there can be is cut likewise, so that huge "never cut here" links cost no precision.
#include "max_flow.hpp"

#include <algorithm>
#include <cmath>

#include "grid_flow.hpp"

namespace imtorque {
namespace {

double largest(const double* values, std::int64_t count) {
    double top = 0;
    for (std::int64_t i = 0; i < count; ++i) top = std::max(top, values[i]);
    return top;
}

using Capacity = std::int64_t;
constexpr int kBits = 49;  // of the largest link: eight of them and one step more are exact in a double

struct Problem : GridLinks {
    const double *source, *sink;
};

struct Family {
    const double* capacity;
    int direction, rows, columns, from_x;
};

// What the source can give in all, and what the sink can take: neither can the flow exceed.
struct Terminals {
    double given = 0, taken = 0;
};

Terminals sum_of_terminals(const Problem& grid) {
    Terminals sum;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(grid.height) * grid.width; ++i) {
        const double excess = grid.source[i] - grid.sink[i];
        (excess > 0 ? sum.given : sum.taken) += std::abs(excess);
    }
    return sum;
}

template <int kDirections, bool kWrap>
double solve(const Problem& grid, std::uint8_t* mask) {
    const int height = grid.height, width = grid.width, rows = kWrap ? height : height - 1;
    const Family links[4] = {{grid.right, 0, height, width - 1, 0},
                            {grid.down, 2, kWrap && height == 1 ? 0 : rows, width, 0},  // a node is no neighbour of its own
                            {grid.down_right, 4, rows, width - 1, 0},
                            {grid.down_left, 6, rows, width - 1, 1}};
    double top = 0;
    for (int k = 0; k < kDirections / 2; ++k)
        top = std::max(top, largest(links[k].capacity, static_cast<std::int64_t>(links[k].rows) * links[k].columns));
    const Terminals sum = sum_of_terminals(grid);
    const double bound = std::min(sum.given, sum.taken);
    const double unit = std::min(top, bound > 0 ? bound : std::max(sum.given, sum.taken));
    const int exponent = unit > 0 ? kBits - 1 - std::ilogb(unit) : 0;
    const double steps = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));

    GridFlow<Capacity, kDirections, kWrap> flow(height, width);
    for (int k = 0; k < kDirections / 2; ++k) {
        const Family& family = links[k];
        const double* capacity = family.capacity;
        const double most = 1.001 * bound * steps + 1;  // more than rounded terminals add up to
        for (int y = 0; y < family.rows; ++y) {
            std::int64_t node = flow.node(y, family.from_x);
            for (int x = 0; x < family.columns; ++x, ++node) {
                const auto whole = static_cast<Capacity>(std::min(*capacity++ * steps, most) + 0.5);
                flow.set_arc(node, family.direction, whole, whole);
            }
        }
    }

    double through = 0;
    for (int y = 0; y < height; ++y) {
        double through_row = 0;
        for (int x = 0; x < width; ++x) {
            const std::int64_t i = static_cast<std::int64_t>(y) * width + x;
            const std::int64_t node = flow.node(y, x);
            const double excess = grid.source[i] - grid.sink[i];
            through_row += std::min(grid.source[i], grid.sink[i]);
            const Capacity throughput = flow.throughput(node);
            if (throughput == 0) {
                flow.set_terminal(node, (excess > 0) - (excess < 0));
                continue;
            }
            const double most = static_cast<double>(throughput) + 1;
            flow.set_terminal(node, static_cast<Capacity>(std::floor(std::clamp(excess * steps, -most, most) + 0.5)));
        }
        through += through_row;
    }

    const double pushed = flow.solve();
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            mask[static_cast<std::int64_t>(y) * width + x] = flow.on_source_side(flow.node(y, x));
    return through + pushed / steps;
}

}  // namespace

double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask) {
    const Problem grid{links, source, sink};
    if (links.diagonal) return links.wrap_rows ? solve<8, true>(grid, mask) : solve<8, false>(grid, mask);
    return links.wrap_rows ? solve<4, true>(grid, mask) : solve<4, false>(grid, mask);
}

}  // namespace imtorque
