// Greedy merging of regions over their weakest borders. Borders are summed, so a merge costs the neighbours of the
// region that has fewer of them.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

#include "core/parallel.hpp"
#include "edges/contours_of_regions.hpp"

namespace imtorque {
namespace {

struct Border {
    double strength = 0;  // summed over its cracks
    int length = 0, version = 0;
    std::vector<float*> cracks;
    double mean() const { return strength / length; }
};

class Graph {
  public:
    Graph(const int32_t* regions, int count, int height, int width, float* right, float* down) : neighbours_(count) {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const size_t i = static_cast<size_t>(y) * width + x;
                if (x + 1 < width) add(regions[i], regions[i + 1], right + i);
                if (y + 1 < height) add(regions[i], regions[i + width], down + i);
            }
        for (int border = 0; border < static_cast<int>(borders_.size()); ++border) push(border);
    }

    Merges merge_all() {
        Merges merges;
        double height = 0;
        Poll poll(64);
        while (!queue_.empty()) {
            poll();
            const auto [mean, index, version] = queue_.top();
            queue_.pop();
            if (version != borders_[index].version) continue;
            height = std::max(height, mean);
            for (float* crack : borders_[index].cracks) *crack = static_cast<float>(height);
            auto [kept, gone] = ends_[index];
            if (neighbours_[kept].size() < neighbours_[gone].size()) std::swap(kept, gone);
            merges.kept.push_back(kept);
            merges.gone.push_back(gone);
            merges.heights.push_back(static_cast<float>(height));
            join(kept, gone, index);
        }
        return merges;
    }

  private:
    void add(int a, int b, float* crack) {
        if (a == b) return;
        const auto [found, fresh] = neighbours_[a].try_emplace(b, static_cast<int>(borders_.size()));
        if (fresh) {
            neighbours_[b][a] = found->second;
            borders_.emplace_back();
            ends_.emplace_back(std::min(a, b), std::max(a, b));
        }
        Border& border = borders_[found->second];
        border.strength += *crack;
        border.length += 1;
        border.cracks.push_back(crack);
    }

    void push(int index) { queue_.emplace(borders_[index].mean(), index, borders_[index].version); }

    void join(int kept, int gone, int between) {
        retire(between);
        neighbours_[kept].erase(gone);
        for (const auto& [other, index] : neighbours_[gone]) {
            if (other == kept) continue;
            neighbours_[other].erase(gone);
            const auto [found, fresh] = neighbours_[kept].try_emplace(other, index);
            if (fresh) {
                neighbours_[other][kept] = index;
                ends_[index] = {std::min(kept, other), std::max(kept, other)};
                continue;
            }
            absorb(borders_[found->second], borders_[index]);
            retire(index);
            push(found->second);
        }
        neighbours_[gone].clear();
    }

    static void absorb(Border& into, Border& from) {
        into.strength += from.strength;
        into.length += from.length;
        into.version += 1;
        if (into.cracks.size() < from.cracks.size()) std::swap(into.cracks, from.cracks);
        into.cracks.insert(into.cracks.end(), from.cracks.begin(), from.cracks.end());
    }

    void retire(int index) {
        borders_[index].version = -1;
        std::vector<float*>().swap(borders_[index].cracks);
    }

    std::vector<std::map<int, int>> neighbours_;  // by region: the index of the border with each neighbour
    std::vector<Border> borders_;
    std::vector<std::pair<int, int>> ends_;
    using Entry = std::tuple<double, int, int>;  // mean strength, border, its version
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
};

}  // namespace

Merges merge_weakest(const int32_t* regions, int count, int height, int width, float* right, float* down) {
    return Graph(regions, count, height, width, right, down).merge_all();
}

}  // namespace imtorque
