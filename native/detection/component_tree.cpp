// The tree of components by flooding from bright to dark (Salembier et al. 1998; Nister and Stewenius 2008): pixels
// that wait lie in one stack for each level, and the brightest is taken next, so that the flood stays near where it
// was.
//
// Every node is a component at the level of its own pixels. Nodes are closed children first and numbered then, so that
// those of a subtree are consecutive: whether a pixel belongs to a region is two comparisons. Naive twin:
// naive.extremal_regions.
#include "detection/component_tree.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "detection/outlines.hpp"

namespace imtorque {
namespace {

// Pixels that wait, by level.
class Waiting {
  public:
    explicit Waiting(int32_t pixels) : next_(pixels) { std::fill(top_, top_ + 256, -1); }

    void push(int32_t pixel, int level) {
        next_[pixel] = top_[level];
        top_[level] = pixel;
        highest_ = std::max(highest_, level);
    }

    // The brightest, the last to come of several; -1 where none is left.
    int32_t pop() {
        while (highest_ >= 0 && top_[highest_] < 0) --highest_;
        if (highest_ < 0) return -1;
        const int32_t pixel = top_[highest_];
        top_[highest_] = next_[pixel];
        return pixel;
    }

  private:
    std::vector<int32_t> next_;
    int32_t top_[256];
    int highest_ = -1;
};

struct Node {
    int level;
    int32_t begin;                   // number of the first node of its subtree that is closed
    int32_t number = 0;              // its own
    int32_t parent = -1;             // which of the nodes
    int32_t last = 0;                // its own pixel that comes last in the image
    int64_t area = 0, y = 0, x = 0;  // pixels, and the sums of their places
    int64_t kept = 0;                // area of the last kept region on the way up the largest branch
    int32_t largest = -1;            // child: the first of several by `before`
    int32_t y0 = INT32_MAX, y1 = 0, x0 = INT32_MAX, x1 = 0;

    void take(int32_t pixel, int py, int px) {
        last = std::max(last, pixel);
        ++area, y += py, x += px;
        y0 = std::min(y0, py), y1 = std::max(y1, py), x0 = std::min(x0, px), x1 = std::max(x1, px);
    }

    // The order in which nodes are told: bright first, then by place.
    bool before(const Node& other) const { return level != other.level ? level > other.level : last < other.last; }
};

class Tree {
  public:
    std::vector<Node> nodes;
    std::vector<int32_t> number;  // of each pixel's node
    std::vector<int32_t> chosen;  // nodes that are kept, in their order

    Tree(const uint8_t* image, int height, int width, const RegionRequest& request)
        : number(static_cast<std::size_t>(height) * width, -1), request_(request) {
        if (number.empty()) return;
        flood(image, height, width);
        while (!open_.empty()) close();
        for (int32_t& node : number) node = nodes[node].number;
        std::sort(chosen.begin(), chosen.end(), [&](int32_t a, int32_t b) { return nodes[a].before(nodes[b]); });
    }

  private:
    static constexpr int32_t kSeen = -2;
    const RegionRequest& request_;
    std::vector<int32_t> open_;  // nodes around where the flood is, darkest first
    int32_t closed_ = 0;

    void open(int level, int32_t begin) {
        open_.push_back(static_cast<int32_t>(nodes.size()));
        nodes.push_back({level, begin});
    }

    void flood(const uint8_t* image, int height, int width) {
        Waiting waiting(static_cast<int32_t>(number.size()));
        open(image[0], 0);
        number[0] = kSeen;
        for (int32_t here = 0; here >= 0;) {
            const int level = image[here], y = here / width, x = here % width;
            const int32_t near[4] = {y > 0 ? here - width : -1, x > 0 ? here - 1 : -1, x + 1 < width ? here + 1 : -1,
                                     y + 1 < height ? here + width : -1};
            int32_t up = -1;  // a brighter neighbour
            for (int32_t q : near) {
                if (q < 0 || number[q] != -1) continue;
                number[q] = kSeen;
                if (image[q] <= level) {
                    waiting.push(q, image[q]);
                    continue;
                }
                up = q;
                break;
            }
            if (up >= 0) {
                waiting.push(here, level);  // its other neighbours are looked at when the flood is back
                open(image[up], closed_);
                here = up;
                continue;
            }
            number[here] = open_.back();
            nodes[open_.back()].take(here, y, x);
            here = waiting.pop();
            if (here >= 0) sink(image[here]);
        }
    }

    // Close the nodes above a level; one of this level is open then.
    void sink(int level) {
        while (nodes[open_.back()].level > level) {
            const bool between = open_.size() == 1 || nodes[open_[open_.size() - 2]].level < level;
            if (between) {
                const int32_t child = open_.back();
                open_.back() = static_cast<int32_t>(nodes.size());
                nodes.push_back({level, nodes[child].begin});
                open_.push_back(child);
            }
            close();
        }
    }

    // Close the brightest open node: what it holds belongs to the one below it too.
    void close() {
        const int32_t index = open_.back();
        open_.pop_back();
        Node& node = nodes[index];
        node.number = closed_++;
        if (node.largest >= 0) node.kept = nodes[node.largest].kept;
        if (node.area >= request_.smallest && node.area <= request_.largest &&
            node.area >= request_.growth * static_cast<double>(node.kept)) {
            chosen.push_back(index);
            node.kept = node.area;
        }
        node.parent = open_.empty() ? index : open_.back();
        if (open_.empty()) return;
        Node& below = nodes[node.parent];
        below.area += node.area, below.y += node.y, below.x += node.x;
        below.y0 = std::min(below.y0, node.y0), below.y1 = std::max(below.y1, node.y1);
        below.x0 = std::min(below.x0, node.x0), below.x1 = std::max(below.x1, node.x1);
        const Node* most = below.largest < 0 ? nullptr : &nodes[below.largest];
        if (!most || node.area > most->area || (node.area == most->area && node.before(*most))) below.largest = index;
    }
};

}  // namespace

Regions extremal_regions(const uint8_t* image, int height, int width, const RegionRequest& request) {
    const Tree tree(image, height, width, request);
    Regions regions;
    const int count = static_cast<int>(tree.chosen.size()), angles = request.angles;
    regions.y.resize(count), regions.x.resize(count), regions.area.resize(count), regions.level.resize(count);
    regions.stability.resize(count), regions.radii.resize(static_cast<std::size_t>(count) * angles);
    const Directions directions(angles);
    parallel_for((count + 31) / 32, 32 * 5e3, [&](int chunk) {
        for (int i = 32 * chunk; i < std::min(count, 32 * chunk + 32); ++i) {
            const Node& node = tree.nodes[tree.chosen[i]];
            const Node& parent = tree.nodes[node.parent];
            const double area = static_cast<double>(node.area);
            const float cy = static_cast<float>(node.y / area), cx = static_cast<float>(node.x / area);
            regions.y[i] = cy, regions.x[i] = cx, regions.area[i] = node.area, regions.level[i] = node.level;
            const double levels = std::max(1, node.level - parent.level);
            regions.stability[i] = static_cast<float>(static_cast<double>(parent.area - node.area) / area / levels);
            const float longest =
                std::hypot(static_cast<float>(node.y1 - node.y0 + 1), static_cast<float>(node.x1 - node.x0 + 1));
            for (int k = 0; k < angles; ++k) {
                float last = 0;
                for (float r = 0; r < longest; r += 0.5f) {
                    const int y = nearest(cy + r * directions.sine[k]), x = nearest(cx + r * directions.cosine[k]);
                    if (y < node.y0 || x < node.x0 || y > node.y1 || x > node.x1) break;
                    const int32_t n = tree.number[static_cast<std::size_t>(y) * width + x];
                    if (n >= node.begin && n <= node.number) last = r + 0.5f;
                }
                regions.radii[static_cast<std::size_t>(i) * angles + k] = std::max(last, 0.5f);
            }
        }
    });
    return regions;
}

}  // namespace imtorque
