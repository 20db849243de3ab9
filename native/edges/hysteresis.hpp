// Which thinned edges stay: those connected to strong ones, one pixel wide.
#pragma once

#include <cstddef>
#include <vector>

namespace imtorque {

// Weak edges survive where they touch, over any chain of weak ones, a strong one (above `high`). `thinned` is zero on
// the outermost rows and columns. Survivors are marked by a negative strength, and listed by band of rows. In a part of
// a picture, `seeds` are edges known to survive by what lies outside.
std::vector<std::vector<size_t>> keep_connected(float* thinned, int height, int width, float high,
                                                const std::vector<size_t>& seeds = {});

// Make stairs of marked edges one pixel wide: of adjacent spare corners the weakest goes first, until none is left.
// Which goes depends on strength, not on the order of the pixels, so the result turns and mirrors with the image.
// In a part of a picture only so many rounds count, each of which sees two pixels far: returns the spare corners left.
std::vector<size_t> remove_spare_corners(float* edges, const std::vector<std::vector<size_t>>& listed, int height,
                                         int width, int rounds = -1);

}  // namespace imtorque
