// Morphological thinning: reduce a binary image to lines one pixel wide.
#pragma once

#include <cstdint>

namespace imtorque {

// Thin until nothing changes. `image` holds 0 and 1, (height, width), and is changed in place.
void thin(std::uint8_t* image, int height, int width);

}  // namespace imtorque
