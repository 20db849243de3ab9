// Many labels on a pixel grid by a sequence of cuts.
#pragma once

#include <cstdint>

#include "cuts/grid_links.hpp"

namespace imtorque {

// Lowers  E(f) = sum_p unary[f_p][p] + sum over links (p, q) of weight(p, q) * metric[f_p][f_q]  by expansion moves
// until no label can gain, or after `cycles` rounds over all labels. unary is (count, height, width), metric (count,
// count); `labels` (height, width) holds the start and receives the result. E of the start is finite: no link of
// infinite weight joins labels that differ by the metric. Returns E of the result.
double alpha_expansion(const GridLinks& links, const double* unary, const double* metric, int count, int cycles,
                       std::int32_t* labels);

}  // namespace imtorque
