// Links between the pixels of a grid, as the graph cuts take them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace imtorque {

// Links between the pixels of a grid of `height` x `width`, each the same either way, maybe infinite. Stored densely:
//     right[y][x]       links (y, x) and (y, x + 1)         width - 1 columns
//     down[y][x]        links (y, x) and (y + 1, x)         height - 1 rows; height rows where rows wrap around
//     down_right[y][x]  links (y, x) and (y + 1, x + 1)     read only if `diagonal`
//     down_left[y][x]   links (y, x + 1) and (y + 1, x)
struct GridLinks {
    int height, width;
    const double *right, *down, *down_right, *down_left;
    bool diagonal, wrap_rows;
};

// The links of one direction: from (y, x + from_x) by (dy, dx), for y < rows and x < columns.
struct LinkFamily {
    const double* weight;
    int direction;  // of GridFlow
    int rows, columns, from_x, dy, dx;
};

inline std::array<LinkFamily, 4> families_of(const GridLinks& links) {
    const int rows = links.wrap_rows ? links.height : links.height - 1, columns = links.width - 1;
    const int rings = links.wrap_rows && links.height == 1 ? 0 : rows;  // a pixel is no neighbour of its own
    const int diagonals = links.diagonal ? rows : 0;
    return {{{links.right, 0, links.height, columns, 0, 0, 1},
             {links.down, 2, rings, links.width, 0, 1, 0},
             {links.down_right, 4, diagonals, columns, 0, 1, 1},
             {links.down_left, 6, diagonals, columns, 1, 1, -1}}};
}

// How many links there are between four neighbours.
inline std::int64_t straight_links(const GridLinks& links) {
    const auto families = families_of(links);
    return static_cast<std::int64_t>(families[0].rows) * families[0].columns +
           static_cast<std::int64_t>(families[1].rows) * families[1].columns;
}

inline double largest_weight(const std::array<LinkFamily, 4>& families) {
    double top[4] = {};  // in turn, so that one comparison need not wait for another
    for (const LinkFamily& family : families) {
        const std::int64_t count = static_cast<std::int64_t>(family.rows) * family.columns;
        std::int64_t i = 0;
        for (; i + 4 <= count; i += 4)
            for (int k = 0; k < 4; ++k) top[k] = std::max(top[k], family.weight[i + k]);
        for (; i < count; ++i) top[0] = std::max(top[0], family.weight[i]);
    }
    return *std::max_element(top, top + 4);
}

}  // namespace imtorque
