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

// std::lround without a call: what trunc leaves of a double is exact.
long round_away(double value) {
    const long whole = static_cast<long>(value);
    const double rest = value - static_cast<double>(whole);
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

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

    double row_sum(long long y, int x0, int x1) const {
        const double* row = rows.data() + static_cast<std::size_t>(clamp(y, height)) * (width + 1);
        return row[x1] - row[x0];
    }
    double column_sum(long long x, int y0, int y1) const {
        const double* column = columns.data() + clamp(x, width);
        return column[static_cast<std::size_t>(y1) * width] - column[static_cast<std::size_t>(y0) * width];
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
            outer_y[k] = round_away(cy + sign * outside * hy);
            inner_y[k] = round_away(cy + sign * inside * hy);
            outer_x[k] = round_away(cx + sign * outside * hx);
            inner_x[k] = round_away(cx + sign * inside * hx);
        }
    }

    double torque(const Plane& plane) const {
        const double columns[2] = {plane.column_sum(x0 - 1, y0, y1), plane.column_sum(x1, y0, y1)};
        const double rows[2] = {plane.row_sum(y0 - 1, x0, x1), plane.row_sum(y1, x0, x1)};
        double across[2], down[2];
        divide<2>(columns, y1 - y0, across);
        divide<2>(rows, x1 - x0, down);
        return std::fabs(plane.mean(y0, x0, y1, x1) - 0.25 * (across[0] + across[1]) - 0.25 * (down[0] + down[1]));
    }

    void add_sides(const Plane& plane, double* side) const {
        double rows[4], columns[4], down[4], across[4];
        for (int k = 0; k < 2; ++k) {
            rows[k] = plane.row_sum(outer_y[k], x0, x1);
            rows[2 + k] = plane.row_sum(inner_y[k], x0, x1);
            columns[k] = plane.column_sum(outer_x[k], y0, y1);
            columns[2 + k] = plane.column_sum(inner_x[k], y0, y1);
        }
        divide<4>(rows, x1 - x0, down);
        divide<4>(columns, y1 - y0, across);
        for (int k = 0; k < 2; ++k) {
            side[k] += std::fabs(down[k] - down[2 + k]);
            side[2 + k] += std::fabs(across[k] - across[2 + k]);
        }
    }

  private:
    // Several quotients at a time: the compiler makes vectors of them.
    template <int kCount>
    static void divide(const double* sums, int count, double* means) {
        for (int i = 0; i < kCount; ++i) means[i] = sums[i] / count;
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
