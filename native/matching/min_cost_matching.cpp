// Minimum-cost matching by shortest augmenting paths (Edmonds & Karp 1972; Tomizawa 1971), kept optimal while pixels
// come and go from one map of the sequence to the next.
//
// A pair at distance d saves `outlier_cost` - d, its profit; distances count in hundredths of a pixel, as in the
// Berkeley benchmark. Linear-programming duality certifies the optimum: every vertex has a dual >= 0, the duals of two
// neighbours sum to at least the profit of their pair, matched pairs meet this with equality, and unmatched vertices
// have dual 0. Adding or removing a vertex breaks only the last condition, for one vertex, and settle() mends it with
// one shortest-path search; the first thresholds' work is thus never done again. The graph treats both sides alike,
// so one search serves for a new pixel and for a truth pixel that lost its partner.
//
// Many matchings have equal cost. A small pseudo-random share of each pair's position decides between them, so that
// the answer for a map does not depend on the maps before it. The plain twin is match_cost() in tests/naive.py.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>

#include "core/parallel.hpp"
#include "matching/boundary_matching.hpp"

namespace imtorque {
namespace {

constexpr std::int64_t UNREACHED = INT64_MAX;
constexpr int COST_SHIFT = 40;      // costs stand above the sum of all tie-breaks ...
constexpr int TIE_BREAK_BITS = 24;  // ... of 2^16 pairs

// The finalizer of SplitMix64 (Steele, Lea & Flood 2014): a well-mixed function of two pixels.
std::int64_t tie_break(std::int32_t left, std::int32_t right) {
    std::uint64_t z =
        (static_cast<std::uint64_t>(left) << 32) + static_cast<std::uint64_t>(right) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::int64_t>((z ^ (z >> 31)) >> (64 - TIE_BREAK_BITS));
}

class Matching {
  public:
    Matching(const CandidateGraph& graph, double outlier_cost)
        : graph_(graph),
          profit_(graph.neighbour.size()),
          dual_(graph.vertices(), 0),
          distance_(graph.vertices(), UNREACHED),
          mate_(graph.vertices(), -1),
          parent_(graph.vertices(), -1),
          present_(graph.vertices(), 0) {
        std::fill(present_.begin() + graph.left, present_.end(), 1);
        const std::int64_t saved = static_cast<std::int64_t>(std::ceil(100 * outlier_cost));
        for (int v = 0; v < graph.vertices(); ++v)
            for (std::int64_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
                const std::int32_t here = graph.pixel[v], there = graph.pixel[graph.neighbour[e]];
                const std::int64_t cost = std::llrint(100 * std::sqrt(static_cast<double>(graph.squared_distance[e])));
                profit_[e] =
                    ((saved - cost) << COST_SHIFT) + (v < graph.left ? tie_break(here, there) : tie_break(there, here));
            }
    }

    int mate(int v) const { return mate_[v]; }

    // Put a left vertex in, unmatched, with the least dual its neighbours allow.
    void insert(int v) {
        present_[v] = 1;
        for (std::int64_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e)
            dual_[v] = std::max(dual_[v], profit_[e] - dual_[graph_.neighbour[e]]);
    }

    // Take a left vertex out; returns the vertex that lost its partner, or -1.
    int remove(int v) {
        const int widowed = mate_[v];
        if (widowed >= 0) mate_[widowed] = -1;
        mate_[v] = -1;
        present_[v] = 0;
        dual_[v] = 0;
        return widowed;
    }

    // Make an unmatched vertex meet the last condition: match it, or bring its dual to 0, along the alternating path of
    // least cost, which ends at an unmatched vertex of the other side or unmatches one of its own.
    void settle(int root) {
        if (mate_[root] >= 0 || dual_[root] == 0) return;
        best_ = dual_[root];
        last_even_ = root;
        last_odd_ = -1;
        search(root);
        adjust_duals();
        flip(root);
        for (const int v : reached_) distance_[v] = UNREACHED;
        reached_.clear();
    }

  private:
    // Dijkstra's algorithm over the vertices on the root's side ("even"); an edge followed by its matched edge is a
    // step.
    void search(int root) {
        reach(root, 0);
        heap_.push({0, root});
        while (!heap_.empty() && heap_.top().first < best_) {
            poll_();
            const auto [length, v] = heap_.top();
            heap_.pop();
            if (length > distance_[v]) continue;
            if (length + dual_[v] < best_) {
                best_ = length + dual_[v];
                last_even_ = v;
                last_odd_ = -1;
            }
            for (std::int64_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) relax(v, e, length);
        }
        heap_ = {};
    }

    void relax(int v, std::int64_t e, std::int64_t length) {
        const int w = graph_.neighbour[e];
        if (!present_[w]) return;
        const std::int64_t total = length + (dual_[v] + dual_[w] - profit_[e]);
        if (total >= best_ || total >= distance_[w]) return;
        reach(w, total);
        parent_[w] = v;
        if (mate_[w] < 0) {
            best_ = total;
            last_odd_ = w;
        } else {
            reach(mate_[w], total);
            heap_.push({total, mate_[w]});
        }
    }

    void reach(int v, std::int64_t length) {
        if (distance_[v] == UNREACHED) reached_.push_back(v);
        distance_[v] = length;
    }

    // Reached even vertices stand on the root's side of the graph: lower them and raise the odd ones by equal amounts.
    void adjust_duals() {
        const bool root_left = last_even_ < graph_.left;
        for (const int v : reached_) {
            const std::int64_t change = best_ - distance_[v];
            if (change > 0) dual_[v] += (v < graph_.left) == root_left ? -change : change;
        }
    }

    void flip(int root) {
        int odd = last_odd_;
        if (odd < 0) {
            odd = mate_[last_even_];
            mate_[last_even_] = -1;
            if (last_even_ == root) return;
        }
        for (int even = -1; even != root;) {
            even = parent_[odd];
            const int next = mate_[even];
            mate_[even] = odd;
            mate_[odd] = even;
            odd = next;
        }
    }

    const CandidateGraph& graph_;
    std::vector<std::int64_t> profit_, dual_, distance_;
    std::vector<std::int32_t> mate_, parent_;
    std::vector<std::uint8_t> present_;
    std::vector<int> reached_;
    std::priority_queue<std::pair<std::int64_t, int>, std::vector<std::pair<std::int64_t, int>>, std::greater<>> heap_;
    std::int64_t best_ = 0;
    Poll poll_{1024};
    int last_even_ = -1, last_odd_ = -1;
};

}  // namespace

void match_min_cost(const BoundaryMaps& maps, const std::uint8_t* truth, double radius, double outlier_cost,
                    std::int32_t* partner) {
    const CandidateGraph graph = candidate_graph(maps, truth, radius);
    Matching matching(graph, outlier_cost);
    std::vector<std::int32_t> here, gone, come, widowed;
    for (int m = 0; m < maps.count; ++m) {
        const auto begin = graph.vertex_of_entry.begin() + maps.starts[m],
                   end = graph.vertex_of_entry.begin() + maps.starts[m + 1];
        gone.clear();
        come.clear();
        widowed.clear();
        std::set_difference(here.begin(), here.end(), begin, end, std::back_inserter(gone));
        std::set_difference(begin, end, here.begin(), here.end(), std::back_inserter(come));
        for (const int v : gone) widowed.push_back(matching.remove(v));
        for (const int v : come) {
            matching.insert(v);
            matching.settle(v);
        }
        for (const int v : widowed)
            if (v >= 0) matching.settle(v);
        here.assign(begin, end);
        for (std::int64_t i = maps.starts[m]; i < maps.starts[m + 1]; ++i) {
            const int mate = matching.mate(graph.vertex_of_entry[i]);
            partner[i] = mate < 0 ? -1 : graph.pixel[mate];
        }
    }
}

}  // namespace imtorque
