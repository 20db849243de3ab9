// How finely the forces of a field are rounded: what imtorque.core.quantisation promises, and why.
#pragma once

#include "core/forces.hpp"

namespace imtorque {

constexpr double kMostSteps = 0x1p112;  // bound: of steps that are float32 numbers, as are their inverses
constexpr double kPellSteps = 3363;     // derived: 3363 / sqrt(2) = 2378.0002: axis and diagonal unit forces are whole

// The exponent of the power of two above the largest force component.
int unit_exponent(double largest);

// Steps per unit of force of an image of this size: `statistics` are those of all its forces.
double choose_steps(const ForceStatistics& statistics, int height, int width);

// The most of them at which every sum over a patch is exact.
double finest_steps(const ForceStatistics& statistics, int height, int width);

}  // namespace imtorque
