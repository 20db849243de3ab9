// Maximum flow and minimum cut on a pixel grid.
#pragma once

#include <cstdint>

#include "cuts/grid_links.hpp"

namespace imtorque {

// Fills mask with 1 on the source side (the smallest, where several cuts are minimal), 0 elsewhere; returns what the
// cut costs, which is the flow. It is infinite where infinite links join an infinite source to an infinite sink.
double max_flow(const GridLinks& links, const double* source, const double* sink, std::uint8_t* mask);

// A flow between four neighbours in whole steps of 2^-shift: what flows along each link to the right, then down.
struct GridSteps {
    std::int64_t shift;
    std::int64_t* links;
};

// The same between four neighbours, begun with the flow of a problem that is much alike: any gives the same mask, one
// that is nearly the maximum gives it sooner. What flows in the end, or nearly so, takes its place.
void max_flow_from(const GridLinks& links, const double* source, const double* sink, GridSteps& flow,
                   std::uint8_t* mask);

}  // namespace imtorque
