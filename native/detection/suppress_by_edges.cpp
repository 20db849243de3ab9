// Greedy suppression by edge ownership: in the order given, a contour is kept when most of its evidence lies on edges
// that no contour before it owns and its inside overlaps none of like size. Edges are owned with their direction, so
// the facing sides of two neighbours a pixel apart do not exclude each other. Filling is compared with
// naive.inside_polygon.
#include <algorithm>
#include <cmath>
#include <vector>

#include "detection/contours.hpp"

namespace imtorque {
namespace {

struct Direction {
    float y, x;
};

struct Grid {
    const RankedContours& contours;
    std::vector<Direction> owner;   // the gradient's direction where an edge is owned, else zero; empty if not needed
    std::vector<int> cells;         // the cells inside the contour looked at
    std::vector<long long> area;    // of each object kept, by label
    std::vector<long long> shared;  // with the contour looked at, by label; zero between contours
    std::vector<int32_t> met;       // the labels for which it is not
};

int clamp(double v, int top) { return static_cast<int>(std::lround(std::min(std::max(v, 0.0), top - 1.0))); }

// Direction of the gradient across point i of contour k, from its neighbours on the contour.
Direction across(const RankedContours& c, int k, int i) {
    const size_t first = static_cast<size_t>(k) * c.angles;
    const size_t before = first + (i + c.angles - 1) % c.angles, after = first + (i + 1) % c.angles;
    const double ty = c.y[after] - c.y[before], tx = c.x[after] - c.x[before];
    const double length = std::hypot(ty, tx) * c.sign[k];
    if (length == 0) return {0, 0};
    return {static_cast<float>(tx / length), static_cast<float>(-ty / length)};
}

double own_share(const Grid& grid, int k) {
    const RankedContours& c = grid.contours;
    double all = 0, fresh = 0;
    for (int i = 0; i < c.angles; ++i) {
        const size_t at = static_cast<size_t>(k) * c.angles + i;
        const double evidence = std::max(c.evidence[at], 0.0f);
        const Direction owner =
            grid.owner[static_cast<size_t>(clamp(c.y[at], c.height)) * c.width + clamp(c.x[at], c.width)];
        const Direction own = across(c, k, i);
        all += evidence;
        if (owner.y * own.y + owner.x * own.x < 0.5f) fresh += evidence;
    }
    return all > 0 ? fresh / all : 0;
}

// Fill grid.cells with the cells whose centres lie inside contour k, by rows and crossings.
void fill(Grid& grid, int k) {
    const RankedContours& c = grid.contours;
    const double *y = c.y + static_cast<size_t>(k) * c.angles, *x = c.x + static_cast<size_t>(k) * c.angles;
    grid.cells.clear();
    const auto ends = std::minmax_element(y, y + c.angles);
    const int top = std::max(0, static_cast<int>(std::ceil(*ends.first)));
    const int bottom = std::min(c.height - 1, static_cast<int>(std::floor(*ends.second)));
    std::vector<double> crossings;
    for (int row = top; row <= bottom; ++row) {
        crossings.clear();
        for (int i = 0, j = c.angles - 1; i < c.angles; j = i++)
            if ((y[i] > row) != (y[j] > row)) crossings.push_back(x[i] + (row - y[i]) / (y[j] - y[i]) * (x[j] - x[i]));
        std::sort(crossings.begin(), crossings.end());
        for (size_t n = 0; n + 1 < crossings.size(); n += 2) {
            const int from = std::max(0, static_cast<int>(std::ceil(crossings[n])));
            const int to = std::min(c.width - 1, static_cast<int>(std::floor(crossings[n + 1])));
            for (int column = from; column <= to; ++column) grid.cells.push_back(row * c.width + column);
        }
    }
}

// Whether the cells overlap an object of like size that is kept already.
bool clashes(Grid& grid, const SuppressionRules& rules, const int32_t* labels) {
    grid.met.clear();
    for (const int cell : grid.cells) {
        const int32_t label = labels[cell];
        if (label > 0 && grid.shared[label]++ == 0) grid.met.push_back(label);
    }
    const double own = static_cast<double>(grid.cells.size());
    bool found = false;
    for (const int32_t label : grid.met) {
        const double other = static_cast<double>(grid.area[label]), common = static_cast<double>(grid.shared[label]);
        const double small = std::min(own, other), large = std::max(own, other);
        found = found || (common > rules.overlap * small && large < rules.size_ratio * small);
        grid.shared[label] = 0;
    }
    return found;
}

void keep(Grid& grid, const SuppressionRules& rules, int k, int32_t label, int32_t* labels) {
    const RankedContours& c = grid.contours;
    const long long own = static_cast<long long>(grid.cells.size());
    grid.area.push_back(own);
    grid.shared.push_back(0);
    for (const int cell : grid.cells)
        if (labels[cell] == 0 || grid.area[labels[cell]] > rules.size_ratio * own) labels[cell] = label;
    if (grid.owner.empty()) return;
    const int margin = std::max(1, static_cast<int>(std::lround(rules.margin * c.diameter[k])));
    for (int i = 0; i < c.angles; ++i) {
        const size_t at = static_cast<size_t>(k) * c.angles + i;
        const int y = clamp(c.y[at], c.height), x = clamp(c.x[at], c.width);
        const Direction own_direction = across(c, k, i);
        for (int v = std::max(0, y - margin); v <= std::min(c.height - 1, y + margin); ++v)
            for (int u = std::max(0, x - margin); u <= std::min(c.width - 1, x + margin); ++u)
                grid.owner[static_cast<size_t>(v) * c.width + u] = own_direction;
    }
}

}  // namespace

int suppress_by_edges(const RankedContours& contours, const SuppressionRules& rules, int32_t* labels,
                      int32_t* label_of) {
    const size_t cells = static_cast<size_t>(contours.height) * contours.width;
    std::fill(labels, labels + cells, 0);
    const bool owned = rules.own_share > 0;  // otherwise every share is enough
    Grid grid{contours, std::vector<Direction>(owned ? cells : 0, {0, 0}), {}, {0}, {0}, {}};
    int32_t found = 0;
    for (int k = 0; k < contours.count; ++k) {
        label_of[k] = 0;
        if (owned && own_share(grid, k) < rules.own_share) continue;
        fill(grid, k);
        if (grid.cells.empty() || clashes(grid, rules, labels)) continue;
        label_of[k] = ++found;
        keep(grid, rules, k, found, labels);
    }
    return found;
}

}  // namespace imtorque
