// Contribution of each edge pixel to a set of patches.
//
// The contribution of q is linear in three sums over the patches that hold it: of w, w x and w y. All patches, of any
// size, enter the same three tables as differences at the ends of their row runs (boxes: at their four corners), and
// one prefix pass turns the differences into the sums: O(pixels + patches), where a table per size or a visit to every
// pixel of every patch would cost many times that. Naive twin: naive.contribution_map.
#include "core/contribution.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

struct Cell {
    double w, x, y;
};

void add(Cell& cell, double w, double x, double y) {
    cell.w += w;
    cell.x += w * x;
    cell.y += w * y;
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

// What a force at a lever from the centre of a patch of an aspect adds to its closure.
double closure_of(double dx, double dy, double fx, double fy, double aspect) {
    const double across = dx * fy - dy * fx, along = aspect * dx * fx + dy * fy / aspect;
    return across * across - along * along;
}

// For absolute values, which do not add up over patches, and for closure, which would take a dozen tables: every patch
// is visited; bands of rows are independent.
template <class Moment>
void visit_patches(const Field& field, const Votes& votes, Shape shape, const Moment& moment, double* total) {
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
                const double aspect = static_cast<double>(votes.height[k]) / static_cast<double>(votes.width[k]);
                for (long long u = columns.from; u < columns.to; ++u) {
                    const double dx = static_cast<double>(u - votes.x[k]);
                    const double fx = field.fx[at + u], fy = field.fy[at + u];
                    total[at + u] += w * moment(dx, dy, fx, fy, aspect);
                }
            }
        }
    });
}

}  // namespace

void add_contributions(const Field& field, const Votes& votes, Shape shape, double* total) {
    if (field.free) return visit_patches(field, votes, shape, closure_of, total);
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
            for (int u = 0; u <= field.width; ++u) {
                row[u].w += above[u].w;
                row[u].x += above[u].x;
                row[u].y += above[u].y;
            }
        }
        Cell sum{0, 0, 0};
        const size_t at = static_cast<size_t>(v) * field.width;
        for (int u = 0; u < field.width; ++u) {
            sum.w += row[u].w;
            sum.x += row[u].x;
            sum.y += row[u].y;
            total[at + u] += (u * sum.w - sum.x) * field.fy[at + u] - (v * sum.w - sum.y) * field.fx[at + u];
        }
    }
}

void add_absolute_contributions(const Field& field, const Votes& votes, Shape shape, double* total) {
    if (field.free)
        visit_patches(
            field, votes, shape,
            [](double dx, double dy, double fx, double fy, double aspect) {
                return std::fabs(closure_of(dx, dy, fx, fy, aspect));
            },
            total);
    else
        visit_patches(
            field, votes, shape,
            [](double dx, double dy, double fx, double fy, double) { return std::fabs(dx * fy - dy * fx); }, total);
}

}  // namespace imtorque
