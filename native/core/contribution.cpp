// Contribution of each edge pixel to a set of patches.
//
// The contribution of q is linear in three sums over the patches that hold it: of w, w x and w y; without polarity,
// where moments are squared, in five. All patches, of any size, enter the same tables as differences at the ends of
// their row runs (boxes: at their four corners), and one prefix pass turns the differences into the sums: O(pixels +
// patches), where a table per size or a visit to every pixel of every patch would cost many times that. Naive twin:
// naive.contribution_map.
#include "core/contribution.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

struct Cell {  // sums of w, w x, w y, w (x^2 - y^2) and w x y; the last two only where moments are squared
    double w, x, y, d, xy;
};

void add(Cell& cell, double w, double x, double y) {
    cell.w += w;
    cell.x += w * x;
    cell.y += w * y;
    cell.d += w * (x * x - y * y);
    cell.xy += w * x * y;
}

void add(Cell& cell, const Cell& other) {
    cell.w += other.w;
    cell.x += other.x;
    cell.y += other.y;
    cell.d += other.d;
    cell.xy += other.xy;
}

// What a force at (u, v) adds to the closure of all patches together: see free_tables.hpp.
double closure_of(const Cell& s, double u, double v, double fx, double fy) {
    const double b = fy * fy - fx * fx, c = 2 * fx * fy;
    return b * ((u * u - v * v) * s.w - 2 * u * s.x + 2 * v * s.y + s.d) -
           2 * c * (u * v * s.w - u * s.y - v * s.x + s.xy);
}

struct Table {
    int height, width;
    std::unique_ptr<Cell[]> cells;  // (height + 1) x (width + 1)
    Table(int h, int w) : height(h), width(w), cells(new Cell[(static_cast<size_t>(h) + 1) * (w + 1)]()) {}
    Cell* row(long long y) { return cells.get() + static_cast<size_t>(y) * (static_cast<size_t>(width) + 1); }
};

struct Span {
    long long from, to;  // half-open
};
Span clip(long long centre, long long reach, int length) {
    return {std::max<long long>(0, centre - reach), std::min<long long>(length, centre + reach + 1)};
}

}  // namespace

void add_contributions(const Field& field, const Votes& votes, Shape shape, double* total) {
    Table table(field.height, field.width);
    Poll poll(64);
    for (long long k = 0; k < votes.count; ++k) {
        poll();
        const long long ry = votes.height[k] / 2, rx = votes.width[k] / 2;
        const double w = votes.weight[k], x = static_cast<double>(votes.x[k]), y = static_cast<double>(votes.y[k]);
        const Span rows = clip(votes.y[k], ry, field.height);
        if (rows.from >= rows.to) continue;
        if (shape == Shape::box) {
            const Span columns = clip(votes.x[k], rx, field.width);
            if (columns.from >= columns.to) continue;
            add(table.row(rows.from)[columns.from], w, x, y);
            add(table.row(rows.from)[columns.to], -w, x, y);
            add(table.row(rows.to)[columns.from], -w, x, y);
            add(table.row(rows.to)[columns.to], w, x, y);
            continue;
        }
        for (long long v = rows.from; v < rows.to; ++v) {
            const Span columns = clip(votes.x[k], disk_half_width(rx, v - votes.y[k]), field.width);
            if (columns.from >= columns.to) continue;
            add(table.row(v)[columns.from], w, x, y);
            add(table.row(v)[columns.to], -w, x, y);
        }
    }
    for (int v = 0; v < field.height; ++v) {
        poll();
        Cell* row = table.row(v);
        if (shape == Shape::box && v > 0) {
            const Cell* above = table.row(v - 1);
            for (int u = 0; u <= field.width; ++u) add(row[u], above[u]);
        }
        Cell sum{0, 0, 0, 0, 0};
        const size_t at = static_cast<size_t>(v) * field.width;
        for (int u = 0; u < field.width; ++u) {
            add(sum, row[u]);
            const double fx = field.fx[at + u], fy = field.fy[at + u];
            total[at + u] +=
                field.free ? closure_of(sum, u, v, fx, fy) : (u * sum.w - sum.x) * fy - (v * sum.w - sum.y) * fx;
        }
    }
}

void add_absolute_contributions(const Field& field, const Votes& votes, Shape shape, double* total) {
    // An absolute value does not add up over patches, so every patch is visited; bands of rows are independent.
    constexpr int kBandRows = 16;
    const int bands = (field.height + kBandRows - 1) / kBandRows;
    double pixels = 0;  // of all patches, a nanosecond each
    for (long long k = 0; k < votes.count; ++k)
        pixels += static_cast<double>(std::min<long long>(votes.height[k], field.height)) *
                  std::min<long long>(votes.width[k], field.width);
    parallel_for(bands, pixels / bands, [&](int band) {
        Poll poll(64);
        const long long top = band * kBandRows, bottom = std::min<long long>(top + kBandRows, field.height);
        for (long long k = 0; k < votes.count; ++k) {
            poll();
            const long long ry = votes.height[k] / 2, rx = votes.width[k] / 2;
            const long long from = std::max(top, votes.y[k] - ry), to = std::min(bottom, votes.y[k] + ry + 1);
            for (long long v = from; v < to; ++v) {
                const long long half = shape == Shape::disk ? disk_half_width(rx, v - votes.y[k]) : rx;
                const Span columns = clip(votes.x[k], half, field.width);
                const size_t at = static_cast<size_t>(v) * field.width;
                const double dy = static_cast<double>(v - votes.y[k]), w = votes.weight[k];
                for (long long u = columns.from; u < columns.to; ++u) {
                    const double dx = static_cast<double>(u - votes.x[k]);
                    const double fx = field.fx[at + u], fy = field.fy[at + u];
                    const double across = dx * fy - dy * fx, along = field.free ? dx * fx + dy * fy : 0;
                    total[at + u] += w * std::fabs(field.free ? across * across - along * along : across);
                }
            }
        }
    });
}

}  // namespace imtorque
