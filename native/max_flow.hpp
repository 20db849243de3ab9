// Maximum flow and minimum cut on a pixel grid.
#pragma once

#include <cstdint>

namespace imtorque {

// Links between the pixels of a grid of `height` x `width`, each carrying as much either way. Stored densely:
//     right[y][x]       links (y, x) and (y, x + 1)         width - 1 columns
//     down[y][x]        links (y, x) and (y + 1, x)         height - 1 rows; height rows where rows wrap around
//     down_right[y][x]  links (y, x) and (y + 1, x + 1)     read only if `diagonal`
//     down_left[y][x]   links (y, x + 1) and (y + 1, x)
struct GridLinks {
    int height, width;
    const double *right, *down, *down_right, *down_left;
    bool diagonal, wrap_rows;
};

// Fills mask with 1 on the source side (the smallest, where several cuts are minimal), 0 elsewhere; returns the flow.
double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask);

}  // namespace imtorque
