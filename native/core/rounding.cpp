// The choice of steps per unit of force, from the statistics of a field.
#include "core/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace imtorque {
namespace {

constexpr double kSparseSteps = 4096;    // bound: per unit of force; 32-bit sums hold to about size 100 on real edges
constexpr double kDenseSteps = 1 << 21;  // bound: where errors of neighbours do not average out
constexpr int kSmallestUnit = -100;      // bound: as an exponent; keeps the number of steps inside a float32
constexpr double kSparsePixels = 2.5;    // convention: least for each force of a sparse field, over its bounding box
constexpr int kNegligibleOctaves = 40;   // convention: a force 2^40 times smaller than the largest counts as none
constexpr double kShortestLever = 2048;  // bound: a patch's mass, in 1/1024 of a step, needs as much room as this lever
constexpr double kFewSteps[][2] = {{0.5, 8},
                                   {0.95, 256}};  // a share of the forces, and the least steps of its strongest

long long forces_of(const ForceStatistics& s, int from = -1000) {
    long long count = 0;
    for (const auto& [octave, forces] : s.octaves) count += octave >= from ? forces : 0;
    return count;
}

// The octave in or below which a share of the forces lies.
int octave_of(const ForceStatistics& s, double share) {
    const int from = unit_exponent(s.largest) - kNegligibleOctaves;
    const double wanted = share * static_cast<double>(forces_of(s, from));
    long long total = 0;
    for (const auto& [octave, forces] : s.octaves) {
        total += octave >= from ? forces : 0;
        if (octave >= from && static_cast<double>(total) >= wanted) return octave;
    }
    return s.octaves.back().first;
}

bool is_dense(const ForceStatistics& s) {
    const double box = static_cast<double>(s.bottom - s.top) * (s.right - s.left);
    return kSparsePixels * static_cast<double>(forces_of(s)) >= box;
}

}  // namespace

int unit_exponent(double largest) {
    int exponent;
    const double mantissa = std::frexp(largest * (1 - 1e-6), &exponent);
    return std::max(exponent - (mantissa == 0.5 ? 1 : 0), kSmallestUnit);
}

double finest_steps(const ForceStatistics& s, int height, int width) {
    if (s.octaves.empty()) return kMostSteps;
    // |Fx| + |Fy| < 2^(e + 2) in octave e, rounding adds a step per pixel, and twice the moment enters the sum. What an
    // addition loses is kept apart (Neumaier), so that the sum does not depend on how the parts of a field were merged.
    double mass = 0, lost = 0;
    for (const auto& [octave, forces] : s.octaves) {
        const double part = std::ldexp(static_cast<double>(forces), octave + 2), sum = mass + part;
        lost += std::abs(mass) >= std::abs(part) ? (mass - sum) + part : (part - sum) + mass;
        mass = sum;
    }
    const double h = height, w = width;
    const double room = 0x1p62 / (2.02 * std::max({h, w, kShortestLever})) - h * w;
    // Or, without looking at the forces: the largest everywhere, as far from the centre as can be.
    const double worst = 2 * h * w * std::max(std::hypot(h, w), kShortestLever);
    return std::min(
        {std::max(room / (mass + lost), 0x1p62 / worst / std::ldexp(1.0, unit_exponent(s.largest))), kMostSteps});
}

double choose_steps(const ForceStatistics& s, int height, int width) {
    if (s.octaves.empty()) return 1;
    const int exponent = unit_exponent(s.largest);
    const double unit = std::ldexp(1.0, exponent);
    int above;
    std::frexp(finest_steps(s, height, width), &above);
    const double finest = std::ldexp(1.0, above - 1);
    if (std::ldexp(kSparseSteps / unit, s.grain) >= 1) return std::min(kSparseSteps / unit, finest);
    const double per_unit = is_dense(s) ? kDenseSteps : kSparseSteps;
    const bool pell = std::find(s.not_pell.begin(), s.not_pell.end(), exponent) == s.not_pell.end();
    double steps = (pell ? kPellSteps : per_unit) / unit;
    for (const auto& [share, least] : kFewSteps)
        if (std::ldexp(steps, octave_of(s, share)) < least)
            return std::min({std::ldexp(per_unit, -octave_of(s, 0.5) - 1), kMostSteps, finest});
    return std::min(steps, finest);
}

}  // namespace imtorque
