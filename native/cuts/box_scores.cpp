// Gradient torque of any list of boxes, and the same force side by side.
//
// By the appendix's identity the torque of a box's gradient is its mean minus half the means of the lines of pixels
// just outside, so three tables of prefix sums (rows, columns, both) give it in O(1), whatever the box. The normal
// force summed over a strip along a side telescopes: it is the difference of the means of the strip's outer and inner
// line. A closed contour has it on all four sides, a lone edge on one: the weakest side tells them apart. Beyond the
// border the image repeats its border pixels. Naive twin: naive.box_scores.
#include "cuts/box_scores.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

int clamp(long long i, int n) { return static_cast<int>(std::min<long long>(std::max<long long>(i, 0), n - 1)); }

struct Plane {
    int height, width;
    std::vector<double> rows;     // (height, width + 1): prefix sums along each row
    std::vector<double> columns;  // (height + 1, width): down each column
    std::vector<double> both;     // (height + 1, width + 1)

    Plane(int h, int w)
        : height(h),
          width(w),
          rows(static_cast<std::size_t>(h) * (w + 1)),
          columns(static_cast<std::size_t>(h + 1) * w),
          both(static_cast<std::size_t>(h + 1) * (w + 1)) {}

    void fill(const double* plane) {
        for (int y = 0; y < height; ++y) {
            const double* values = plane + static_cast<std::size_t>(y) * width;
            double* row = rows.data() + static_cast<std::size_t>(y) * (width + 1);
            const double* above = both.data() + static_cast<std::size_t>(y) * (width + 1);
            double* below = both.data() + static_cast<std::size_t>(y + 1) * (width + 1);
            const double* column = columns.data() + static_cast<std::size_t>(y) * width;
            double* next = columns.data() + static_cast<std::size_t>(y + 1) * width;
            for (int x = 0; x < width; ++x) row[x + 1] = row[x] + values[x];
            for (int x = 0; x < width; ++x) next[x] = column[x] + values[x];
            for (int x = 1; x <= width; ++x) below[x] = above[x] + row[x];
        }
    }

    double row_mean(long long y, int x0, int x1) const {
        const double* row = rows.data() + static_cast<std::size_t>(clamp(y, height)) * (width + 1);
        return (row[x1] - row[x0]) / (x1 - x0);
    }
    double column_mean(long long x, int y0, int y1) const {
        const double* column = columns.data() + clamp(x, width);
        return (column[static_cast<std::size_t>(y1) * width] - column[static_cast<std::size_t>(y0) * width]) /
               (y1 - y0);
    }
    double mean(int y0, int x0, int y1, int x1) const {
        const double* top = both.data() + static_cast<std::size_t>(y0) * (width + 1);
        const double* bottom = both.data() + static_cast<std::size_t>(y1) * (width + 1);
        return (bottom[x1] - bottom[x0] - top[x1] + top[x0]) / (static_cast<double>(y1 - y0) * (x1 - x0));
    }
};

// A box, and the lines at which the contrast across its sides is taken.
struct Box {
    int y0, x0, y1, x1;
    long outer_y[2], inner_y[2], outer_x[2], inner_x[2];

    Box(const int64_t* box, double inside, double outside)
        : y0(static_cast<int>(box[0])),
          x0(static_cast<int>(box[1])),
          y1(static_cast<int>(box[2])),
          x1(static_cast<int>(box[3])) {
        const double cy = 0.5 * (y0 + y1 - 1), cx = 0.5 * (x0 + x1 - 1), hy = 0.5 * (y1 - y0), hx = 0.5 * (x1 - x0);
        for (int k = 0; k < 2; ++k) {
            const double sign = k == 0 ? -1 : 1;
            outer_y[k] = std::lround(cy + sign * outside * hy);
            inner_y[k] = std::lround(cy + sign * inside * hy);
            outer_x[k] = std::lround(cx + sign * outside * hx);
            inner_x[k] = std::lround(cx + sign * inside * hx);
        }
    }

    double torque(const Plane& plane) const {
        return std::fabs(plane.mean(y0, x0, y1, x1) -
                         0.25 * (plane.column_mean(x0 - 1, y0, y1) + plane.column_mean(x1, y0, y1)) -
                         0.25 * (plane.row_mean(y0 - 1, x0, x1) + plane.row_mean(y1, x0, x1)));
    }

    void add_sides(const Plane& plane, double* side) const {
        for (int k = 0; k < 2; ++k) {
            side[k] += std::fabs(plane.row_mean(outer_y[k], x0, x1) - plane.row_mean(inner_y[k], x0, x1));
            side[2 + k] += std::fabs(plane.column_mean(outer_x[k], y0, y1) - plane.column_mean(inner_x[k], y0, y1));
        }
    }
};

}  // namespace

void box_scores(const double* planes, int count, int height, int width, const BoxList& boxes, double inside,
                double outside, double* torque, double* sides) {
    std::fill_n(torque, boxes.count, 0.0);
    std::fill_n(sides, 4 * boxes.count, 0.0);
    Plane table(height, width);  // one for all planes in turn: memory that is there already is quicker
    for (int k = 0; k < count; ++k) {
        check_interrupt();
        table.fill(planes + static_cast<std::size_t>(k) * height * width);
        constexpr long long kChunk = 4096;
        parallel_for(static_cast<int>((boxes.count + kChunk - 1) / kChunk), 50.0 * kChunk, [&](int chunk) {
            const long long end = std::min(boxes.count, (chunk + 1) * kChunk);
            for (long long i = chunk * kChunk; i < end; ++i) {
                const Box box(boxes.boxes + 4 * i, inside, outside);
                torque[i] += box.torque(table);
                box.add_sides(table, sides + 4 * i);
            }
        });
    }
}

}  // namespace imtorque
