// Forces and first moments of single boxes: a visit to every pixel of each, in exact integers. For the few patches that
// are left of many, where tables over the whole image would cost more. Naive twin: naive.openness.
#include "core/moments_at.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

// Pixels a side of what is summed at a time: rounded forces below kQuickRounding have sums along it that fit 32 bits.
constexpr int kBlock = 256;

struct Span {
    long long from, to;  // half-open
};
Span clip(long long centre, long long reach, int length) {
    return {std::max<long long>(0, centre - reach), std::min<long long>(length, centre + reach + 1)};
}

// Sums of one force component over rows and columns of a block.
template <class Int>
struct BlockSums {
    Int rows[kBlock], columns[kBlock];
};

IMTORQUE_INLINE int32_t whole(float force, float steps, int32_t) { return round_quickly(force, steps); }
IMTORQUE_INLINE int64_t whole(float force, float steps, int64_t) { return round_force(force, steps); }

template <class Int>
IMTORQUE_INLINE void sum_block_impl(const float* forces, int stride, int height, int width, float steps,
                                    BlockSums<Int>& sums) {
    std::fill_n(sums.columns, width, Int{0});
    for (int v = 0; v < height; ++v) {
        const float* row = forces + static_cast<size_t>(v) * stride;
        Int sum = 0;
        IMTORQUE_IVDEP
        for (int u = 0; u < width; ++u) {
            const Int force = whole(row[u], steps, Int{});
            sums.columns[u] += force;
            sum += force;
        }
        sums.rows[v] = sum;
    }
}
IMTORQUE_DISPATCH(template <class Int> static, sum_block,
                  (const float* forces, int stride, int height, int width, float steps, BlockSums<Int>& sums),
                  (forces, stride, height, width, steps, sums))

// Sums of F, dx F and dy F over a box, F being one component, with (dx, dy) the lever from (y, x).
struct Moments {
    int64_t force = 0, across = 0, down = 0;
};
template <class Int>
Moments moments_of(const Field& field, const float* forces, const Span& rows, const Span& columns, long long y,
                   long long x) {
    Moments found;
    BlockSums<Int> sums;
    for (long long v = rows.from; v < rows.to; v += kBlock)
        for (long long u = columns.from; u < columns.to; u += kBlock) {
            check_interrupt();
            const int height = static_cast<int>(std::min<long long>(kBlock, rows.to - v));
            const int width = static_cast<int>(std::min<long long>(kBlock, columns.to - u));
            sum_block(forces + static_cast<size_t>(v) * field.width + u, field.width, height, width,
                      static_cast<float>(field.steps), sums);
            for (int i = 0; i < height; ++i) {
                found.force += sums.rows[i];
                found.down += (v + i - y) * sums.rows[i];
            }
            for (int i = 0; i < width; ++i) found.across += (u + i - x) * sums.columns[i];
        }
    return found;
}

}  // namespace

void moments_at(const Field& field, const Boxes& boxes, double* sums) {
    double pixels = 0;  // of all boxes, half a nanosecond each
    for (long long k = 0; k < boxes.count; ++k)
        pixels += static_cast<double>(std::min<long long>(boxes.height[k], field.height)) *
                  std::min<long long>(boxes.width[k], field.width);
    const double unit = 1 / field.steps;
    const auto of = field.fine ? moments_of<int64_t> : moments_of<int32_t>;
    parallel_for(static_cast<int>(boxes.count), 0.5 * pixels / std::max<long long>(boxes.count, 1), [&](int k) {
        const Span rows = clip(boxes.y[k], boxes.height[k] / 2, field.height);
        const Span columns = clip(boxes.x[k], boxes.width[k] / 2, field.width);
        const Moments fx = of(field, field.fx, rows, columns, boxes.y[k], boxes.x[k]);
        const Moments fy = of(field, field.fy, rows, columns, boxes.y[k], boxes.x[k]);
        const int64_t found[6] = {fx.force, fy.force, fx.across, fy.across, fx.down, fy.down};
        for (int i = 0; i < 6; ++i) sums[6 * static_cast<size_t>(k) + i] = static_cast<double>(found[i]) * unit;
    });
}

}  // namespace imtorque
