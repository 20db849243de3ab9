// An estimate of the strength of the strongest extrema, which saves computing most of the torque.
//
// The forces are summed over blocks of kBlock x kBlock pixels, and the value map of this small field is computed as
// usual. Its peaks are about as strong as the extrema of the field; what is lost in it are small ones.
#include <algorithm>
#include <cmath>

#include "core/bounded_search.hpp"
#include "core/parallel.hpp"
#include "core/peaks.hpp"

namespace imtorque {
namespace {

constexpr int kBlock = 4;

struct SmallField {
    int height, width;
    std::vector<float> fx, fy;
};

// `sums` has room for a row, and zeros behind it. The rows of a whole block are added in one pass.
IMTORQUE_INLINE void sum_blocks_impl(const float* rows, int count, int width, float* __restrict sums,
                                     float* __restrict out) {
    if (count == kBlock) {
        const float *second = rows + width, *third = second + width, *fourth = third + width;
        for (int x = 0; x < width; ++x) sums[x] = ((rows[x] + second[x]) + third[x]) + fourth[x];
    } else {
        std::copy_n(rows, width, sums);
        for (int y = 1; y < count; ++y)
            for (int x = 0; x < width; ++x) sums[x] += rows[static_cast<size_t>(y) * width + x];
    }
    for (int u = 0; kBlock * u < width; ++u) {
        const float* block = sums + kBlock * u;
        out[u] = (block[0] + block[1]) + (block[2] + block[3]);
    }
}
IMTORQUE_DISPATCH(static, sum_blocks, (const float* rows, int count, int width, float* sums, float* out),
                  (rows, count, width, sums, out))

SmallField shrink(const Field& field) {
    const int height = (field.height + kBlock - 1) / kBlock, width = (field.width + kBlock - 1) / kBlock;
    const size_t pixels = static_cast<size_t>(height) * width;
    SmallField small{height, width, std::vector<float>(pixels), std::vector<float>(pixels)};
    parallel_for(height, 0.7 * kBlock * field.width, [&](int v) {
        std::vector<float> sums(static_cast<size_t>(width) * kBlock);
        const int top = v * kBlock, count = std::min(kBlock, field.height - top);
        const size_t from = static_cast<size_t>(top) * field.width, to = static_cast<size_t>(v) * width;
        sum_blocks(field.fx + from, count, field.width, sums.data(), small.fx.data() + to);
        sum_blocks(field.fy + from, count, field.width, sums.data(), small.fy.data() + to);
    });
    return small;
}

// Patches of the small field, of those that are large enough to be seen in it; `coarser`: how many times fewer steps
// make a unit of force there.
std::vector<Patch> shrink(const std::vector<Patch>& patches, double coarser) {
    std::vector<Patch> result;
    for (const Patch& patch : patches) {
        const double side = 2 * patch.ry + 1;
        const int r = static_cast<int>(std::lround((side / kBlock - 1) / 2));
        if (r == 0 || (!result.empty() && r == result.back().ry)) continue;
        const double area = side / (kBlock * (2.0 * r + 1));
        result.push_back({r, r, static_cast<float>(patch.norm * area * area * kBlock * coarser)});
    }
    return result;
}

// The value map of the small field. Its forces are rounded to so few steps that the sums fit 32 bits; with no mass in
// its blocks, the kernel takes them to do so.
std::vector<float> value_map(const SmallField& small, const Field& field, double steps,
                             const std::vector<Patch>& patches) {
    std::vector<float> value(small.fx.size());
    std::vector<int32_t> sizes;
    for (const Patch& patch : patches) sizes.push_back(2 * patch.rx + 1);
    const std::vector<double> blocks(static_cast<size_t>(block_rows(small.height)) * block_rows(small.width));
    const Field shrunk{small.fx.data(), small.fy.data(), small.height, small.width,  steps,
                       blocks.data(),   false,           false,        field.largest};
    value_and_scale(shrunk, clip_patches(patches, Shape::box, shrunk), Shape::box, sizes.data(), value.data(), nullptr);
    return value;
}

// Steps per unit of force of the small field.
double steps_of_small(const Field& field, const Patch& largest) {
    const int r = largest.ry + 2 * kBlock;
    const double mass = largest_mass(field, {r, r, 0}), lever = static_cast<double>(r) / kBlock;
    return std::min({field.steps, std::exp2(29) / (lever * mass), kQuickRounding / (64 * field.largest)});
}

}  // namespace

float estimated_strength(const Field& field, const std::vector<Patch>& patches, const Request& request) {
    if (!(field.largest > 0)) return 0;
    const double steps = steps_of_small(field, patches.back());
    const std::vector<Patch> seen = shrink(patches, field.steps / steps);
    if (seen.empty()) return 0;
    const SmallField small = shrink(field);
    const std::vector<float> value = value_map(small, field, steps, seen);
    // Small extrema are lost in the small copy: of many the last one is stronger than it shows there.
    const auto share = 0.92 + 0.09 * std::log10(static_cast<double>(request.count));
    return static_cast<float>(share) *
           strength_of_peak(value.data(), small.height, small.width, request.sign, request.count);
}

}  // namespace imtorque
