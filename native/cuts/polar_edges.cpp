// An edge map in polar coordinates, without gaps (Mishra, Aloimonos, Fah, ICCV 2009, in the form of its authors' code).
//
// Sampled plainly, an edge one pixel wide falls apart far from the fixation, where a degree spans several pixels, and
// is a broad band close to it. So each edge pixel is drawn as a Gaussian: 2 pixels of variance across the edge, and
// along it the longer the closer it is and the more it lies across the line of sight. With the cell's offset from the
// edge pixel a along and b across the edge, d the pixel's distance, and phi the angle of the edge to the cell's
// direction of sight in (-90, 90] degrees,
//
//     value * exp(-a^2 / (2 v^2) - b^2 / 4),   v = (1 + |phi|) / d^(0.7 |sin phi|),
//
// for the cells within max(4, 90 / d^0.7) rows and columns. Along a row the exponent is a quadratic in the column, so
// the terms follow from each other by two products, outwards from the largest of them: five exponentials a row, not one
// a cell. Each step is taken for all rows of a pixel before the next, so that one row need not wait for another. Naive
// twin: naive.polar_edges.
#include "cuts/polar_edges.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 360;
constexpr int kMostRows = 181;  // of a pixel: it reaches no further than 90 either way
constexpr double kDegree = 3.14159265358979323846 / 180;
constexpr double kNegligible = 1e-14;  // of the pixel's value: the rest of the row is left out

// An edge pixel with its unit direction, its place along and across that, and the rows and columns it reaches.
struct EdgePixel {
    double value, ex, ey, along0, across0, log_d;
    int first_row, rows, from, to;
};

class Splat {
  public:
    Splat() {
        for (int i = 0; i < kRows; ++i) {
            cosine_[i] = std::cos(i * kDegree);
            sine_[i] = -std::sin(i * kDegree);  // y points down
        }
    }

    void add(const EdgePixel& pixel, int columns, double* polar) {
        find_widths(pixel);
        find_exponents(pixel);
        for (double* row : {first_, bend_, forth_, back_})
            for (int i = 0; i < pixel.rows; ++i) row[i] = std::exp(row[i]);
        for (int i = 0; i < pixel.rows; ++i)
            add_row(pixel, i, polar + static_cast<std::size_t>((pixel.first_row + i) % kRows) * columns);
    }

  private:
    void find_widths(const EdgePixel& pixel) {
        for (int i = 0; i < pixel.rows; ++i) {
            const int row = (pixel.first_row + i) % kRows;
            along_[i] = cosine_[row] * pixel.ex + sine_[row] * pixel.ey;
            across_[i] = cosine_[row] * pixel.ey - sine_[row] * pixel.ex;
            const double sin_phi = std::min(std::fabs(across_[i]), 1.0);
            width_[i] = (1 + std::asin(sin_phi) / kDegree) * std::exp(-pixel.log_d * sin_phi);
        }
    }

    // Of exp(-(p r^2 - 2 q r + s)) at the integer r nearest to the peak q / p, of its ratios to the terms on either
    // side, and of what the ratios change by.
    void find_exponents(const EdgePixel& pixel) {
        for (int i = 0; i < pixel.rows; ++i) {
            const double wa = 1 / (2 * width_[i] * width_[i]), wb = 0.25;
            const double p = wa * along_[i] * along_[i] + wb * across_[i] * across_[i];
            const double q = wa * along_[i] * pixel.along0 + wb * across_[i] * pixel.across0;
            const double s = wa * pixel.along0 * pixel.along0 + wb * pixel.across0 * pixel.across0;
            const double peak = p > 0 ? q / p : pixel.from;
            const double within = std::min<double>(std::max<double>(peak, pixel.from), pixel.to);
            const int whole = static_cast<int>(within), start = whole + (within - whole >= 0.5 ? 1 : 0);
            start_[i] = start;
            first_[i] = -((p * start - 2 * q) * start + s);
            bend_[i] = -2 * p;
            forth_[i] = 2 * q - p * (2 * start + 1);
            back_[i] = -2 * q + p * (2 * start - 1);
        }
    }

    void add_row(const EdgePixel& pixel, int i, double* row) const {
        const double first = pixel.value * first_[i], bend = bend_[i], least = kNegligible * pixel.value;
        double term = first, ratio = forth_[i];
        for (int r = start_[i]; r <= pixel.to && term > least; ++r) {
            row[r] += term;
            term *= ratio;
            ratio *= bend;
        }
        ratio = back_[i];
        term = first * ratio;
        for (int r = start_[i] - 1; r >= pixel.from && term > least; --r) {
            row[r] += term;
            ratio *= bend;
            term *= ratio;
        }
    }

    double cosine_[kRows], sine_[kRows];
    // By row of the pixel; the last four first as exponents.
    double along_[kMostRows], across_[kMostRows], width_[kMostRows];
    double first_[kMostRows], bend_[kMostRows], forth_[kMostRows], back_[kMostRows];
    int start_[kMostRows];
};

}  // namespace

void splat_polar_edges(const EdgePoints& edges, int fixation_y, int fixation_x, double threshold, int columns,
                       double* polar) {
    Splat splat;
    for (int y = 0; y < edges.height; ++y) {
        check_interrupt();
        for (int x = 0; x < edges.width; ++x) {
            const std::size_t at = static_cast<size_t>(y) * edges.width + x;
            const double value = edges.strength[at];
            if (!(value > threshold) || (y == fixation_y && x == fixation_x)) continue;
            const double px = x - fixation_x, py = y - fixation_y, d = std::hypot(px, py);
            if (d > columns - 1 - 5) continue;
            const double dx = edges.dx[at], dy = edges.dy[at], length = std::hypot(dx, dy);
            // An edge without direction is drawn across the line of sight.
            const double ex = length > 0 ? dx / length : -py / d, ey = length > 0 ? dy / length : px / d;
            const double log_d = 0.7 * std::log(d);
            const int reach = static_cast<int>(std::max(4.0, 90 * std::exp(-log_d)));
            const int centre = static_cast<int>(std::lround(std::atan2(-py, px) / kDegree));
            const int column = static_cast<int>(std::lround(d));
            const int from = std::max(0, column - reach), to = std::min(columns - 1, column + reach);
            const double along0 = px * ex + py * ey, across0 = px * ey - py * ex;
            splat.add({value, ex, ey, along0, across0, log_d, centre - reach + kRows, 2 * reach + 1, from, to}, columns,
                      polar);
        }
    }
}

}  // namespace imtorque
