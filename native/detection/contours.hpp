// Closed contours around points, and their suppression by edge ownership.
#pragma once

#include <cstdint>

namespace imtorque {

// An image at its working size: the direction and weight of its gradient (length below 1), and its grey values.
struct GradientField {
    const float* gx;
    const float* gy;
    const float* grey;
    int height, width;
};

// Where to look for contours, `count` of them. `turn` (radians) and `aspect` (long over short axis) say how the circle
// of `radius` around (y, x) is stretched before the search; sign +1 for bright objects, -1 for dark ones. Of contours
// whose mean evidence is below `worth` no grey is read.
struct Seeds {
    const double *y, *x, *radius, *turn, *aspect, *sign, *worth;
    int count;
};

// Radii searched, as shares of the seed's radius, spaced evenly in their logarithm; `slope` is the cost of a change by
// one step of radius from one direction to the next.
struct Rays {
    int angles, radii;
    double nearest, farthest, slope;
};

struct ContourOut {
    double *y, *x;            // (count, angles): the contour
    float* evidence;          // (count, angles): gradient across it, towards the object's own sign, in [-1, 1]
    bool* seen;               // (count, angles): whether the point lies in the image; evidence is 0 where not
    float *inside, *outside;  // (count,): mean grey in a band inside and outside the contour, or NaN
};

void closed_contours(const GradientField& field, const Seeds& seeds, const Rays& rays, const ContourOut& out);

// Contours by falling score: earlier ones own edges first.
struct RankedContours {
    const double *y, *x;     // (count, angles), in cells of the grid
    const float* evidence;   // (count, angles)
    const double* sign;      // (count,)
    const double* diameter;  // (count,), in cells
    int count, angles, height, width;
};

struct SuppressionRules {
    double own_share;   // least share of a contour's evidence on edges that no earlier contour owns
    double overlap;     // largest share of the smaller area that two of like size may have in common
    double size_ratio;  // ratio of areas from which one may lie in another
    double margin;      // how far beside its contour an object owns edges, in diameters
};

// Write the labels of the kept contours, from 1 in the order given, to `labels` (height, width), cleared here; nested
// objects lie on top. `label_of[i]` becomes the label of contour i, 0 where it is suppressed. Returns their number.
int suppress_by_edges(const RankedContours& contours, const SuppressionRules& rules, int32_t* labels,
                      int32_t* label_of);

}  // namespace imtorque
