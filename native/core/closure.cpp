// How wide the integers of a closure must be.
#include <cmath>

#include "core/free_tables.hpp"

namespace imtorque {

// |E| <= sum |d|^2 |F|^2 <= (longest lever)^2 * (largest force) * (largest mass in any such patch), each rounded force
// longer by at most a step.
ClosureWidth width_of_closure(const Field& f, const std::vector<Patch>& patches) {
    Patch cover = patches.front();
    for (const Patch& patch : patches) {
        cover.ry = std::max(cover.ry, patch.ry);
        cover.rx = std::max(cover.rx, patch.rx);
    }
    const double lever = std::hypot(std::min(cover.ry, f.height - 1), std::min(cover.rx, f.width - 1));
    const double pixels = std::min(2.0 * cover.ry + 1, 1.0 * f.height) * std::min(2.0 * cover.rx + 1, 1.0 * f.width);
    const double force = 2 * f.largest * f.steps + 1;
    // Four times E enters the sum; a margin of 1 % covers the arithmetic of the bound.
    const double bound = 4.04 * lever * lever * force * (largest_mass(f, cover) * f.steps + pixels);
    if (bound < std::exp2(51)) return ClosureWidth::quick;
    return bound < std::exp2(62) ? ClosureWidth::bits64 : ClosureWidth::bits128;
}

}  // namespace imtorque
