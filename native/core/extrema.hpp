// Local extrema of the torque over space and scale, and the suppression of overlapping ones.
#pragma once

#include <cstdint>
#include <vector>

#include "core/torque.hpp"

namespace imtorque {

struct Extremum {
    float value;
    int32_t k, y, x;
};

struct UnmergedExtremum : Extremum {
    bool tied;  // has a neighbour of equal value
};

// Sign of the extrema asked for: +1 maxima, -1 minima, 0 both. `count` < 0 asks for all.
struct Request {
    int sign;
    long long count;
    bool end_scales;    // whether extrema at the first and the last size count
    float least;        // |value| of the weakest asked for
    bool near = false;  // whether about `count` are that strong: then no better bound is looked for to begin with
};

// Both give the same result: sorted by falling |value|, then by (k, y, x). `visited` becomes the number of patches
// whose torque was computed.
std::vector<Extremum> extrema_of_volume(const float* tau, int count, int height, int width, const Request& request);
std::vector<Extremum> extrema_of_field(const Field& field, const std::vector<Patch>& patches, Shape shape,
                                       const Request& request, long long* visited);

// The same in parts of an image: all of a part's field, adjacent equal ones not yet merged, in any order; and what
// the parts found together made one result.
std::vector<UnmergedExtremum> unmerged_extrema(const Field& field, const std::vector<Patch>& patches, Shape shape,
                                               const Request& request);
void sort_and_merge(std::vector<UnmergedExtremum>& found);

// Which boxes (centre y, x; sides height, width) to keep, in the given order: a box goes when it shares more than
// `overlap` of the smaller one's area with a kept box of the same sign.
std::vector<bool> suppress_overlaps(const int64_t* y, const int64_t* x, const int64_t* height, const int64_t* width,
                                    const float* value, int count, double overlap);

}  // namespace imtorque
