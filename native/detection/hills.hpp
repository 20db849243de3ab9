// Hills of a plane by steepest ascent.
#pragma once

#include <cstdint>
#include <vector>

namespace imtorque {

struct Hill {
    int64_t area = 0, y = 0, x = 0;          // of its pixels: how many, and the sums of their places
    int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;  // the box around them, y1 and x1 exclusive
};

// Pixels where `inside` is not 0 climb to the highest of their eight neighbours inside until none is higher; those that
// reach one summit get its number, from 1 in order of the summits' places; others 0. Returns the hills in this order.
std::vector<Hill> label_hills(const float* plane, const uint8_t* inside, int height, int width, int32_t* labels);

}  // namespace imtorque
