// Naive twin: naive.summits.
#include "detection/hills.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr float kGround = -std::numeric_limits<float>::infinity();  // no pixel climbs there

// Of the next eight pixels of a row, or of as many as are left.
IMTORQUE_INLINE bool none_inside(const uint8_t* inside, int left) {
    uint64_t eight = 0;
    std::memcpy(&eight, inside, left < kLanes ? left : kLanes);
    return !eight;
}

// The heights of a row's pixels, ground where they are not inside.
IMTORQUE_INLINE void heights_of_impl(const float* plane, const uint8_t* inside, int width, float* __restrict heights) {
    IMTORQUE_IVDEP
    for (int x = 0; x < width; ++x) {
        const float there = plane[x];
        heights[x] = inside[x] ? there : kGround;
    }
}
IMTORQUE_DISPATCH(static, heights_of, (const float* plane, const uint8_t* inside, int width, float* heights),
                  (plane, inside, width, heights))

struct ThreeRows {
    const float *above, *here, *below;  // with a pixel of ground before the first and kLanes after the last
};

// Where the pixels inside go: the distance in memory to the highest of the nine around each, the first of those as
// high, 0 where none is higher. Nothing is written where eight pixels in a row are outside.
IMTORQUE_INLINE void steps_up_impl(const ThreeRows& rows, const uint8_t* inside, int width, int32_t* up) {
    for (int x = 0; x < width; x += kLanes) {
        if (none_inside(inside + x, width - x)) continue;
        Lanes<float> highest;
        Lanes<int32_t> best = {};
        load(rows.here + x, highest);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                Lanes<float> there;
                load((dy < 0 ? rows.above : dy ? rows.below : rows.here) + x + dx, there);
                const Lanes<int32_t> higher = there > highest;
                best = higher ? best * 0 + (dy * width + dx) : best;
                highest = higher ? there : highest;
            }
        store(best, up + x);
    }
}
IMTORQUE_DISPATCH(static, steps_up, (const ThreeRows& rows, const uint8_t* inside, int width, int32_t* up),
                  (rows, inside, width, up))

// Call use(x) for each pixel inside of a row.
template <class Use>
void for_inside(const uint8_t* inside, int width, const Use& use) {
    for (int x = 0; x < width; x += kLanes) {
        if (none_inside(inside + x, width - x)) continue;
        for (int i = x; i < std::min(x + kLanes, width); ++i)
            if (inside[i]) use(i);
    }
}

// Steps up of all rows, from the first.
class StepRows {
  public:
    StepRows(const float* plane, const uint8_t* inside, int height, int width)
        : plane_(plane),
          inside_(inside),
          height_(height),
          width_(width),
          pitch_(static_cast<std::size_t>(width) + 2 * kLanes),
          values_(3 * pitch_, kGround) {
        take(0);
    }
    void next(int y, int32_t* up) {
        take(y + 1);
        steps_up({row(y - 1), row(y), row(y + 1)}, inside_ + static_cast<std::size_t>(y) * width_, width_, up);
    }

  private:
    float* row(int y) { return values_.data() + static_cast<std::size_t>((y + 3) % 3) * pitch_ + 1; }
    void take(int y) {
        const std::size_t from = static_cast<std::size_t>(y) * width_;
        if (y < height_)
            heights_of(plane_ + from, inside_ + from, width_, row(y));
        else
            std::fill_n(row(y), width_, kGround);
    }

    const float* plane_;
    const uint8_t* inside_;
    int height_, width_;
    std::size_t pitch_;
    std::vector<float> values_;  // three rows
};

void widen(Hill& hill, int y, int x) {
    if (!hill.area) hill.y0 = y, hill.x0 = x;
    ++hill.area, hill.y += y, hill.x += x;
    hill.y1 = y + 1;  // rows come in order
    hill.x0 = std::min<int64_t>(hill.x0, x), hill.x1 = std::max<int64_t>(hill.x1, x + 1);
}

}  // namespace

std::vector<Hill> label_hills(const float* plane, const uint8_t* inside, int height, int width, int32_t* labels) {
    const std::size_t pixels = static_cast<std::size_t>(height) * width;
    const std::unique_ptr<int32_t[]> up(new int32_t[pixels + kLanes]);  // only what lies inside is ever looked at
    std::fill(labels, labels + pixels, 0);
    int32_t summits = 0;
    StepRows steps(plane, inside, height, width);
    for (int y = 0; y < height; ++y) {
        check_interrupt();
        const std::size_t row = static_cast<std::size_t>(y) * width;
        steps.next(y, up.get() + row);
        for_inside(inside + row, width, [&](int x) {
            if (!up[row + x]) labels[row + x] = ++summits;
        });
    }
    std::vector<Hill> hills(summits);
    for (int y = 0; y < height; ++y) {
        const std::size_t row = static_cast<std::size_t>(y) * width;
        for_inside(inside + row, width, [&](int x) {
            std::size_t q = row + x;
            while (!labels[q]) q += up[q];
            const int32_t label = labels[q];
            for (q = row + x; !labels[q]; q += up[q]) labels[q] = label;
            widen(hills[label - 1], y, x);
        });
    }
    return hills;
}

}  // namespace imtorque
