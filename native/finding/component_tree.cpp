// The tree of components by union-find over pixels from bright to dark (Najman and Couprie 2006; Berger et al. 2007).
//
// Every node is a component at the level of its first pixel. Nodes are numbered so that those of a subtree are
// consecutive: whether a pixel belongs to a region is then two comparisons. Naive twin: naive.extremal_regions.
#include "finding/component_tree.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "finding/outlines.hpp"

namespace imtorque {
namespace {

struct Tree {
    int height, width;
    std::vector<int32_t> order;   // pixels, bright first
    std::vector<int32_t> parent;  // of each pixel: its node's first pixel, or for such a one its parent node's
    const uint8_t* picture;

    bool is_node(int32_t p) const { return parent[p] == p || picture[parent[p]] != picture[p]; }
};

int32_t root_of(std::vector<int32_t>& up, int32_t p) {
    while (up[p] != p) p = up[p] = up[up[p]];
    return p;
}

Tree tree_of(const uint8_t* picture, int height, int width) {
    const int32_t pixels = height * width;
    Tree tree{height, width, std::vector<int32_t>(pixels), std::vector<int32_t>(pixels, -1), picture};
    std::vector<int32_t> starts(257, 0), up(pixels), top(pixels), rank(pixels, 0);
    for (int32_t p = 0; p < pixels; ++p) ++starts[256 - picture[p]];
    for (int level = 0; level < 256; ++level) starts[level + 1] += starts[level];
    for (int32_t p = 0; p < pixels; ++p) tree.order[starts[255 - picture[p]]++] = p;
    for (int32_t p : tree.order) {
        tree.parent[p] = up[p] = top[p] = p;
        const int y = p / width, x = p % width;
        int32_t here = p;  // root of the union-find set that holds p
        const int32_t near[4] = {y > 0 ? p - width : -1, x > 0 ? p - 1 : -1, x + 1 < width ? p + 1 : -1,
                                 y + 1 < height ? p + width : -1};
        for (int32_t q : near) {
            if (q < 0 || tree.parent[q] < 0) continue;
            const int32_t other = root_of(up, q);
            if (other == here) continue;
            tree.parent[top[other]] = p;
            if (rank[other] > rank[here]) {
                up[here] = other, here = other;
            } else {
                up[other] = here;
                rank[here] += rank[other] == rank[here];
            }
            top[here] = p;
        }
    }
    for (auto p = tree.order.rbegin(); p != tree.order.rend(); ++p) {  // from the root: parents are nodes
        const int32_t q = tree.parent[*p];
        if (picture[tree.parent[q]] == picture[q]) tree.parent[*p] = tree.parent[q];
    }
    return tree;
}

struct Node {
    int64_t area = 0;
    double y = 0, x = 0;
    int64_t kept = 0;            // area of the last kept region on the way up the largest branch
    int64_t before = 0;          // area of its largest child
    int32_t begin = 0, end = 0;  // its numbers
    int32_t y0 = INT32_MAX, y1 = 0, x0 = INT32_MAX, x1 = 0;
};

}  // namespace

Regions extremal_regions(const uint8_t* picture, int height, int width, const RegionRequest& request) {
    const Tree tree = tree_of(picture, height, width);
    std::vector<Node> nodes(tree.order.size());
    std::vector<int32_t> chosen, children(tree.order.size(), 0);
    const auto add = [&](Node& to, const Node& from) {
        to.area += from.area, to.y += from.y, to.x += from.x;
        to.y0 = std::min(to.y0, from.y0), to.y1 = std::max(to.y1, from.y1);
        to.x0 = std::min(to.x0, from.x0), to.x1 = std::max(to.x1, from.x1);
    };
    for (int32_t p : tree.order) {  // single pixels into their nodes
        const int32_t node = tree.is_node(p) ? p : tree.parent[p];
        const int y = p / width, x = p % width;
        Node one;
        one.area = 1, one.y = y, one.x = x, one.y0 = one.y1 = y, one.x0 = one.x1 = x;
        add(nodes[node], one);
    }
    // A node's first pixel in `order` need not be its canonical one, so nodes are visited by level, bright first.
    for (int32_t p : tree.order) {
        if (!tree.is_node(p)) continue;
        Node& node = nodes[p];
        if (node.area >= request.smallest && node.area <= request.largest &&
            node.area >= request.growth * static_cast<double>(node.kept)) {
            chosen.push_back(p);
            node.kept = node.area;
        }
        const int32_t q = tree.parent[p];
        if (q == p) continue;
        add(nodes[q], node);
        if (node.area > nodes[q].before) nodes[q].before = node.area, nodes[q].kept = node.kept;
        ++children[q];
    }
    // Numbers: a node's subtree gets a range of as many numbers as it has pixels, its own pixels the first of them.
    std::vector<int32_t> next(tree.order.size(), 0), number(tree.order.size());
    for (auto p = tree.order.rbegin(); p != tree.order.rend(); ++p) {
        if (!tree.is_node(*p)) continue;
        Node& node = nodes[*p];
        const int32_t q = tree.parent[*p];
        if (q == *p) {
            node.begin = 0;
        } else {
            node.begin = nodes[q].begin + next[q];
            next[q] += static_cast<int32_t>(node.area);
        }
        node.end = node.begin + static_cast<int32_t>(node.area);
        next[*p] = 1;  // the node's own pixels all carry its first number
    }
    for (int32_t p : tree.order) number[p] = nodes[tree.is_node(p) ? p : tree.parent[p]].begin;

    Regions regions;
    const int count = static_cast<int>(chosen.size()), angles = request.angles;
    regions.y.resize(count), regions.x.resize(count), regions.area.resize(count), regions.level.resize(count);
    regions.stability.resize(count), regions.radii.resize(static_cast<std::size_t>(count) * angles);
    const Directions directions(angles);
    parallel_for((count + 31) / 32, 32 * 5e3, [&](int chunk) {
        for (int i = 32 * chunk; i < std::min(count, 32 * chunk + 32); ++i) {
            const Node& node = nodes[chosen[i]];
            const float cy = static_cast<float>(node.y / node.area), cx = static_cast<float>(node.x / node.area);
            regions.y[i] = cy, regions.x[i] = cx, regions.area[i] = node.area, regions.level[i] = picture[chosen[i]];
            const int32_t q = tree.parent[chosen[i]];
            const double levels = std::max(1, picture[chosen[i]] - picture[q]);
            regions.stability[i] =
                static_cast<float>(static_cast<double>(nodes[q].area - node.area) / node.area / levels);
            const float longest =
                std::hypot(static_cast<float>(node.y1 - node.y0 + 1), static_cast<float>(node.x1 - node.x0 + 1));
            for (int k = 0; k < angles; ++k) {
                float last = 0;
                for (float r = 0; r < longest; r += 0.5f) {
                    const int y = static_cast<int>(std::lround(cy + r * directions.sine[k])),
                              x = static_cast<int>(std::lround(cx + r * directions.cosine[k]));
                    if (y < node.y0 || x < node.x0 || y > node.y1 || x > node.x1) break;
                    const int32_t n = number[static_cast<std::size_t>(y) * width + x];
                    if (n >= node.begin && n < node.end) last = r + 0.5f;
                }
                regions.radii[static_cast<std::size_t>(i) * angles + k] = std::max(last, 0.5f);
            }
        }
    });
    return regions;
}

}  // namespace imtorque
