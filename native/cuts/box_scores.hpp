// How much boxes look like objects: their gradient torque, and the contrast across each of their sides.
#pragma once

#include <cstdint>

namespace imtorque {

struct BoxList {
    const int64_t* boxes;  // (count, 4): y0, x0 and, just beyond the box, y1, x1; within the image and not empty
    long long count;
};

// For each box, `torque` gets the sum over the planes of |gradient torque|, and `sides`, (count, 4), the sums over the
// planes of the contrast across its top, bottom, left and right side: |mean of the line of pixels `outside` of the box
// minus that of the line `inside`|, as parts of half the box's height or width from its centre (1.15 and 0.75, say).
void box_scores(const double* planes, int count, int height, int width, const BoxList& boxes, double inside,
                double outside, double* torque, double* sides);

// Go through boxes in the given order and keep those that overlap none kept before by more than `overlap` (area of the
// intersection over that of the union), until there are `most`. `kept` gets their places; returns how many.
long long distinct_boxes(const BoxList& boxes, double overlap, long long most, int64_t* kept);

}  // namespace imtorque
