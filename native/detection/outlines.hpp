// Outlines that a centre sees whole: a radius for each of `angles` directions, angle k at 2 pi k / angles from +x to
// +y.
//
// A corner is (y + r sin a, x + r cos a); pixel centres lie at whole numbers; a pixel belongs to the outline where its
// centre does (even-odd), so an outline of any radii has one set of pixels, also beyond the image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace imtorque {

// What std::lround gives, without a call.
inline int nearest(float value) { return static_cast<int>(static_cast<double>(value) + (value < 0 ? -0.5 : 0.5)); }

struct Outlines {
    const float *y, *x;  // (count) centres
    const float* radii;  // (count, angles)
    int count, angles;
};

struct Directions {
    std::vector<float> sine, cosine;
    explicit Directions(int angles);
};

struct Run {
    int y, x0, x1;  // pixels x0 <= x < x1 of row y
};

struct Plane32 {
    const float* values;
    int height, width;
    bool holds(float y, float x) const { return y >= 0 && x >= 0 && y <= height - 1 && x <= width - 1; }

    // Bilinear; (y, x) must lie within.
    float at(float y, float x) const {
        const int top = std::min(static_cast<int>(y), std::max(height - 2, 0)),
                  left = std::min(static_cast<int>(x), std::max(width - 2, 0));
        const float fy = y - top, fx = x - left;
        const float* row = values + static_cast<std::size_t>(top) * width + left;
        const int right = width > 1 ? 1 : 0, below = height > 1 ? width : 0;
        return (1 - fy) * ((1 - fx) * row[0] + fx * row[right]) +
               fy * ((1 - fx) * row[below] + fx * row[below + right]);
    }
};

// The pixels of outline `i`, cut at the image, in rows from the top.
void runs_of(const Outlines& outlines, int i, const Directions& directions, int height, int width,
             std::vector<Run>& runs);

struct Search {
    float low, high;   // radii looked at, as parts of the expected one
    int steps;         // how many of them
    float stiffness;   // what a change of one step between neighbouring directions costs
    float attraction;  // what leaving the expected radius by its whole length costs, per direction
};

// The closed outline around each centre that collects most of the field (gx, gy) pointing inwards (sign > 0: brighter
// inside) or outwards: the best cyclic path over directions by dynamic programming. `radii` (count, angles) gets it,
// `mean` the mean of the field along it.
void find_outlines(const float* gx, const float* gy, int height, int width, const float* y, const float* x,
                   const float* radius, const int8_t* sign, int count, int angles, const Search& search, float* radii,
                   float* mean);

// Radii, up to `reach`, at which rays from the centres last leave the region whose number the centre is given.
void label_outlines(const int32_t* labels, int height, int width, const int32_t* number, const float* y, const float* x,
                    int count, int angles, const float* reach, float* radii);

// Means and standard deviations over directions of each plane at `parts` of the radius: (count, planes, parts, 2).
// Directions beyond the image do not count; 0 where none is left.
void outline_profiles(const float* planes, int plane_count, int height, int width, const Outlines& outlines,
                      const float* parts, int part_count, float* profiles);

// Whether something runs through the middle, in each plane: the lowest and the highest mean along a diameter less the
// mean over all diameters, and how the plane changes once and twice around half way out: (count, planes, 4).
void outline_diameters(const float* planes, int plane_count, int height, int width, const Outlines& outlines,
                       float* lines);

// The field across the outline, inwards: mean, standard deviation, mean of the weakest of four quarters, lower
// quartile, part of the directions inside the image: (count, 5).
void outline_contrasts(const float* gx, const float* gy, int height, int width, const Outlines& outlines,
                       float* contrasts);

// Area, centroid (y, x), box (y0, x0, y1, x1) and second moments (yy, xx, xy) of each outline within the image:
// (count, 10). Zeros for one without pixels.
void outline_shapes(const Outlines& outlines, int height, int width, double* shapes);

struct Pairs {
    std::vector<int32_t> first, second;  // first < second
    std::vector<int32_t> common;         // pixels
};

// Pairs of outlines that share more than `part` of the smaller one's pixels.
Pairs outline_overlaps(const Outlines& outlines, int height, int width, double part);

// Paint outlines with 1, 2, ... onto `labels`, earlier ones over later ones.
void paint_outlines(const Outlines& outlines, int height, int width, int32_t* labels);

}  // namespace imtorque
