// Which candidates stay: those connected to strong ones, one pixel wide.
#pragma once

#include <cstddef>
#include <vector>

#include "edges/candidates.hpp"

namespace imtorque {

// Weak edges survive where they touch, over any chain of weak ones, a strong one. In a part of an image, `seeds` are
// the places of edges known to survive by what lies outside.
BitPlane keep_connected(const BitPlane& weak, const BitPlane& strong, const std::vector<size_t>& seeds = {});

// Make stairs of edges one pixel wide: of adjacent spare corners the weakest goes first, until none is left.
// Which goes depends on strength, not on the order of the pixels, so the result turns and mirrors with the image.
// In a part of an image only so many rounds count, each of which sees two pixels far: returns the places of the spare
// corners left.
std::vector<size_t> remove_spare_corners(BitPlane& edges, const Candidates& candidates, int rounds = -1);

}  // namespace imtorque
