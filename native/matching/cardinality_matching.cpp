// Maximum matching: every pixel first takes its nearest free neighbour, then augmenting paths are searched depth first
// with look-ahead, many per phase and each vertex visited once in a phase, until a phase finds none (Pothen & Fan, ACM
// Trans. Math. Softw. 16(4), 1990). The plain twin is match_count() in tests/naive.py.
#include <algorithm>

#include "core/parallel.hpp"
#include "matching/boundary_matching.hpp"

namespace imtorque {
namespace {

class Matching {
  public:
    explicit Matching(const CandidateGraph& graph)
        : graph_(graph),
          mate_(graph.vertices(), -1),
          visited_(graph.vertices(), 0),
          ahead_(graph.left),
          next_(graph.left) {}

    int mate(int v) const { return mate_[v]; }

    void match(const std::int32_t* begin, const std::int32_t* end) {
        std::fill(mate_.begin(), mate_.end(), -1);
        std::vector<std::int32_t> free;
        for (const std::int32_t* v = begin; v != end; ++v) {
            ahead_[*v] = graph_.first[*v];
            if (!look_ahead(*v)) free.push_back(*v);
        }
        for (bool found = true; found;) {
            found = false;
            ++phase_;
            std::size_t kept = 0;
            for (const std::int32_t v : free) {
                if (augment(v))
                    found = true;
                else
                    free[kept++] = v;
            }
            free.resize(kept);
        }
    }

  private:
    // Match v to its next neighbour that was never matched. A right vertex once matched stays so, hence each list is
    // passed over once in all.
    bool look_ahead(int v) {
        for (std::int64_t& e = ahead_[v]; e < graph_.first[v + 1]; ++e) {
            const int w = graph_.neighbour[e];
            if (mate_[w] < 0) {
                mate_[w] = v;
                mate_[v] = w;
                return true;
            }
        }
        return false;
    }

    // Depth-first search with its own stack: paths can be as long as the boundary.
    bool augment(int root) {
        path_.assign(1, root);
        next_[root] = graph_.first[root];
        while (!path_.empty()) {
            poll_();
            const int v = path_.back();
            const int before = mate_[v];
            if (look_ahead(v)) {
                shift(before);
                return true;
            }
            const int w = unvisited_neighbour(v);
            if (w < 0) {
                path_.pop_back();
            } else {
                visited_[w] = phase_;
                path_.push_back(mate_[w]);
                next_[mate_[w]] = graph_.first[mate_[w]];
            }
        }
        return false;
    }

    int unvisited_neighbour(int v) {
        for (std::int64_t& e = next_[v]; e < graph_.first[v + 1]; ++e)
            if (visited_[graph_.neighbour[e]] != phase_) return graph_.neighbour[e++];
        return -1;
    }

    // The last vertex of the path has a new partner; the one it had goes to the vertex before it, and so on.
    void shift(int freed) {
        for (std::size_t i = path_.size() - 1; i-- > 0;) {
            const int v = path_[i];
            const int before = mate_[v];
            mate_[v] = freed;
            mate_[freed] = v;
            freed = before;
        }
    }

    const CandidateGraph& graph_;
    std::vector<std::int32_t> mate_, visited_;
    std::vector<std::int64_t> ahead_, next_;
    std::vector<int> path_;
    int phase_ = 0;
    Poll poll_{1024};
};

}  // namespace

void match_cardinality(const BoundaryMaps& maps, const std::uint8_t* truth, double radius, std::int32_t* partner) {
    const CandidateGraph graph = candidate_graph(maps, truth, radius);
    Matching matching(graph);
    for (int m = 0; m < maps.count; ++m) {
        const std::int32_t* vertices = graph.vertex_of_entry.data();
        matching.match(vertices + maps.starts[m], vertices + maps.starts[m + 1]);
        for (std::int64_t i = maps.starts[m]; i < maps.starts[m + 1]; ++i) {
            const int mate = matching.mate(vertices[i]);
            partner[i] = mate < 0 ? -1 : graph.pixel[mate];
        }
    }
}

}  // namespace imtorque
