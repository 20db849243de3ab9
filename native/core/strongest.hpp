// The next level of a map's pyramid.
#pragma once

namespace imtorque {

// Of each 2 x 2 pixels the values of the strongest, the first of equal ones; a pixel's strength is the sum of |value|
// over its planes. `values` is (planes, height, width); over the rim there is nothing.
template <class T>
void strongest_of_four(const T* values, int planes, int height, int width, T* out);

}  // namespace imtorque
