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

// Whether a patch of this reach, with a pixel around it, lies in the image.
inline bool lies_inside(const Reach& half, int y, int x, int height, int width) {
    return y > half.y && y < height - 1 - half.y && x > half.x && x < width - 1 - half.x;
}

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
    // Whether extrema are strictly above the pixels up to kCrossReach away along the axes and themselves at the sizes
    // beside theirs, instead of not below their 26 neighbours.
    bool cross = false;
    bool inside = false;  // whether patches with a pixel around them must lie in the image
};
constexpr int kCrossReach = 3;
// How far away an extremum's neighbours are.
inline int margin_of(const Request& request) { return request.cross ? kCrossReach : 1; }
// Whether each peak of the value map holds an extremum that may be returned.
inline bool peaks_count(const Request& request) { return request.end_scales && !request.cross && !request.inside; }

// Both give the same result: sorted by falling |value|, then by (k, y, x). `visited` becomes the number of patches
// whose torque was computed. `halves` are the patches' reaches.
std::vector<Extremum> extrema_of_volume(const float* tau, const std::vector<Reach>& halves, int height, int width,
                                        const Request& request);
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
