// Maximum flow and minimum cut on a pixel grid.
#pragma once

#include <cstdint>

#include "cuts/grid_links.hpp"

namespace imtorque {

// Fills mask with 1 on the source side (the smallest, where several cuts are minimal), 0 elsewhere; returns the flow.
double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask);

}  // namespace imtorque
