// Peaks of the value map.
#pragma once

#include <vector>

namespace imtorque {

struct Peak {
    float strength;
    int y, x;
};

inline bool stronger_peak(const Peak& a, const Peak& b) { return a.strength > b.strength; }

// The pixels where |value| exceeds that of all eight neighbours, and value has the sign (0: either one), in any order.
std::vector<Peak> peaks_of(const float* value, int height, int width, int sign);

}  // namespace imtorque
