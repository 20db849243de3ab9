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
// the terms follow from each other by two products, outwards from the largest of them: three exponentials a row, not
// one a cell. Naive twin: naive.polar_edges.
#include "cuts/polar_edges.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kRows = 360;
constexpr double kDegree = 3.14159265358979323846 / 180;
constexpr double kNegligible = 1e-14;  // of the pixel's value: the rest of the row is left out

// Add value * exp(-(p r^2 - 2 q r + s)) for r = from ... to: start at the integer nearest to the peak r = q / p.
void add_row(double value, double p, double q, double s, int from, int to, double* row) {
    const double peak = p > 0 ? q / p : from;
    const int start = static_cast<int>(std::lround(std::min<double>(std::max<double>(peak, from), to)));
    const double first = value * std::exp(-((p * start - 2 * q) * start + s));
    const double bend = std::exp(-2 * p), least = kNegligible * value;
    double term = first, ratio = std::exp(2 * q - p * (2 * start + 1));
    for (int r = start; r <= to && term > least; ++r) {
        row[r] += term;
        term *= ratio;
        ratio *= bend;
    }
    ratio = std::exp(-2 * q + p * (2 * start - 1));
    term = first * ratio;
    for (int r = start - 1; r >= from && term > least; --r) {
        row[r] += term;
        ratio *= bend;
        term *= ratio;
    }
}

}  // namespace

void splat_polar_edges(const EdgePoints& edges, int fixation_y, int fixation_x, double threshold, int columns,
                       double* polar) {
    double cosine[kRows], sine[kRows];
    for (int i = 0; i < kRows; ++i) {
        cosine[i] = std::cos(i * kDegree);
        sine[i] = -std::sin(i * kDegree);  // y points down
    }
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
            for (int i = centre - reach; i <= centre + reach; ++i) {
                const int row = ((i % kRows) + kRows) % kRows;
                const double along = cosine[row] * ex + sine[row] * ey, across = cosine[row] * ey - sine[row] * ex;
                const double sin_phi = std::min(std::fabs(across), 1.0);
                const double v = (1 + std::asin(sin_phi) / kDegree) * std::exp(-log_d * sin_phi);
                const double wa = 1 / (2 * v * v), wb = 0.25;
                add_row(value, wa * along * along + wb * across * across, wa * along * along0 + wb * across * across0,
                        wa * along0 * along0 + wb * across0 * across0, from, to,
                        polar + static_cast<std::size_t>(row) * columns);
            }
        }
    }
}

}  // namespace imtorque
