// Peaks of the value map.
#pragma once

namespace imtorque {

// Of the pixels where |value| exceeds that of all eight neighbours, and value has the sign (0: either one), the
// count-th largest |value|; 0 where there are fewer.
float strength_of_peak(const float* value, int height, int width, int sign, long long count);

}  // namespace imtorque
