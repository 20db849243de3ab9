// Edges as seen from a point: rows of degrees, columns of distance.
#pragma once

namespace imtorque {

struct EdgePoints {
    const float* strength;  // (height, width)
    const float* dx;        // direction along the edge, of any length; its sign does not matter
    const float* dy;
    int height, width;
};

// Add every edge pixel stronger than `threshold`, smeared along its direction, to `polar`, (360, columns), which the
// caller clears: row i is the direction of i degrees, counter-clockwise on the screen, column j the distance j from
// the fixation. Pixels at the fixation, and those within 5 columns of the last, are left out.
void splat_polar_edges(const EdgePoints& edges, int fixation_y, int fixation_x, double threshold, int columns,
                       double* polar);

}  // namespace imtorque
