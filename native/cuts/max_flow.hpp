// Maximum flow and minimum cut on a pixel grid.
#pragma once

#include <cstdint>

#include "cuts/grid_links.hpp"

namespace imtorque {

// Fills mask with 1 on the source side (the smallest, where several cuts are minimal), 0 elsewhere; returns what the
// cut costs, which is the flow. It is infinite where infinite links join an infinite source to an infinite sink.
double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask);

}  // namespace imtorque
