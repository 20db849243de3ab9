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
    const double* image;
    int height, width;
    std::vector<double> rows;     // (height, width + 1): prefix sums along each row
    std::vector<double> columns;  // (height + 1, width): down each column
    std::vector<double> both;     // (height + 1, width + 1)

    Plane(const double* plane, int h, int w)
        : image(plane),
          height(h),
          width(w),
          rows(static_cast<std::size_t>(h) * (w + 1)),
          columns(static_cast<std::size_t>(h + 1) * w),
          both(static_cast<std::size_t>(h + 1) * (w + 1)) {
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                const double value = plane[static_cast<std::size_t>(y) * w + x];
                const std::size_t row = static_cast<std::size_t>(y) * (w + 1) + x, below = row + w + 1;
                const std::size_t column = static_cast<std::size_t>(y) * w + x;
                rows[row + 1] = rows[row] + value;
                columns[column + w] = columns[column] + value;
                both[below + 1] = both[row + 1] + rows[row + 1];
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

}  // namespace

void box_scores(const double* planes, int count, int height, int width, const BoxList& boxes, double inside,
                double outside, double* torque, double* sides) {
    std::vector<Plane> tables;
    for (int k = 0; k < count; ++k)
        tables.emplace_back(planes + static_cast<std::size_t>(k) * height * width, height, width);
    constexpr long long kChunk = 4096;
    parallel_for(static_cast<int>((boxes.count + kChunk - 1) / kChunk), 100.0 * count * kChunk, [&](int chunk) {
        const long long end = std::min(boxes.count, (chunk + 1) * kChunk);
        for (long long i = chunk * kChunk; i < end; ++i) {
            const int64_t* box = boxes.boxes + 4 * i;
            const int y0 = static_cast<int>(box[0]), x0 = static_cast<int>(box[1]), y1 = static_cast<int>(box[2]),
                      x1 = static_cast<int>(box[3]);
            const double cy = 0.5 * (y0 + y1 - 1), cx = 0.5 * (x0 + x1 - 1), hy = 0.5 * (y1 - y0), hx = 0.5 * (x1 - x0);
            double total = 0, side[4] = {0, 0, 0, 0};
            for (const Plane& plane : tables) {
                total += std::fabs(plane.mean(y0, x0, y1, x1) -
                                   0.25 * (plane.column_mean(x0 - 1, y0, y1) + plane.column_mean(x1, y0, y1)) -
                                   0.25 * (plane.row_mean(y0 - 1, x0, x1) + plane.row_mean(y1, x0, x1)));
                for (int k = 0; k < 2; ++k) {
                    const double sign = k == 0 ? -1 : 1;
                    side[k] += std::fabs(plane.row_mean(std::lround(cy + sign * outside * hy), x0, x1) -
                                         plane.row_mean(std::lround(cy + sign * inside * hy), x0, x1));
                    side[2 + k] += std::fabs(plane.column_mean(std::lround(cx + sign * outside * hx), y0, y1) -
                                             plane.column_mean(std::lround(cx + sign * inside * hx), y0, y1));
                }
            }
            torque[i] = total;
            std::copy(side, side + 4, sides + 4 * i);
        }
    });
}

}  // namespace imtorque
