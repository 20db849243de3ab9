// Torque over edge mass, and the edges' share in it.
#pragma once

#include <vector>

#include "core/forces.hpp"

namespace imtorque {

// The least mass a patch is taken to have, so that a patch of almost no edges does not count as a coherent one.
constexpr double kLeastMass = 1e-3;
// Mean distance of a square's points to its centre, over its side.
constexpr double kMeanLever = 0.38;

// coherence[p] = tau[p] / (mass(p) + kLeastMass), mass(p) = kMeanLever L / (2 L^2) * sum over q in P of |F_q|, for the
// square of side L = 2 half + 1. In place: tau becomes the coherence.
void divide_by_mass(const Field& field, int half, float* tau);

// The same of the closure of squares: closure[p] / (mass(p) + kLeastMass), mass(p) = 1 / (2 pi (L / 2)^3) * sum over q
// in P of |q - p|^2 |F_q|^2.
void divide_by_second_mass(const Field& field, int half, float* closure);

// For each size, tau of the squares of side L = 2 half + 1 becomes their coherence, and then votes for the edges:
// total[q] += 1 / L^3 * sum over pixels p whose square holds q of coherence[p] * (q - p) x F_q / |F_q|; 0 where F is 0.
void add_coherent_votes(const Field& field, const std::vector<int>& halves, float* tau, double* total);

}  // namespace imtorque
