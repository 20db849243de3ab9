// Which edges made an extremum.
#pragma once

#include "core/torque.hpp"

namespace imtorque {

struct Votes {  // one per patch
    const int64_t *y, *x, *height, *width;
    const double* weight;
    long long count;
};

// total[q] += sum over patches k that hold q of weight_k * (q - p_k) x F_q.
void add_contributions(const Field& field, const Votes& votes, Shape shape, double* total);

// The same with |(q - p_k) x F_q|: moments that oppose each other do not cancel.
void add_absolute_contributions(const Field& field, const Votes& votes, Shape shape, double* total);

}  // namespace imtorque
