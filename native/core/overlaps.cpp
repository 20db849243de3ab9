// Suppression of overlapping patches. Naive twin: naive.suppress_overlaps.
#include <algorithm>
#include <unordered_map>

#include "core/extrema.hpp"
#include "core/parallel.hpp"

namespace imtorque {
namespace {

// Kept boxes by the cells they touch. A box is listed on the level whose cells are at least as large as it is, so in at
// most four cells, wherever it lies and however large it is.
class BoxIndex {
  public:
    void add(int box, int64_t y, int64_t x, int64_t height, int64_t width) {
        const int level = level_of(std::max(height, width));
        all_[level].push_back(box);
        visit(level, y, x, height, width, [&](uint64_t key) {
            cells_[level][key].push_back(box);
            return false;
        });
    }

    // Whether meets(j) is true of a listed box j near the given one.
    template <class Meets>
    bool any(int64_t y, int64_t x, int64_t height, int64_t width, const Meets& meets) const {
        for (int level = 0; level < kLevels; ++level) {
            if (all_[level].empty()) continue;
            const int shift = level + kFirst;
            const int64_t cells = ((height >> shift) + 2) * ((width >> shift) + 2);
            if (cells > static_cast<int64_t>(all_[level].size())) {  // many small cells: rather look at all boxes
                if (std::any_of(all_[level].begin(), all_[level].end(), meets)) return true;
                continue;
            }
            const bool met = visit(level, y, x, height, width, [&](uint64_t key) {
                const auto found = cells_[level].find(key);
                return found != cells_[level].end() && std::any_of(found->second.begin(), found->second.end(), meets);
            });
            if (met) return true;
        }
        return false;
    }

  private:
    static constexpr int kFirst = 6;  // cells of the first level have 64 pixels a side
    static constexpr int kLevels = 58;

    static int level_of(int64_t side) {
        int level = 0;
        while (level + 1 < kLevels && (int64_t{1} << (level + kFirst)) < side) ++level;
        return level;
    }

    template <class Use>
    static bool visit(int level, int64_t y, int64_t x, int64_t height, int64_t width, const Use& use) {
        const int shift = level + kFirst;
        for (int64_t v = (y - height / 2) >> shift; v <= (y + height / 2) >> shift; ++v)
            for (int64_t u = (x - width / 2) >> shift; u <= (x + width / 2) >> shift; ++u)
                if (use(static_cast<uint64_t>(v) << 32 ^ (static_cast<uint64_t>(u) & 0xFFFFFFFF))) return true;
        return false;
    }

    std::vector<int> all_[kLevels];
    std::unordered_map<uint64_t, std::vector<int>> cells_[kLevels];
};

}  // namespace

std::vector<bool> suppress_overlaps(const int64_t* y, const int64_t* x, const int64_t* height, const int64_t* width,
                                    const float* value, int count, double overlap) {
    BoxIndex kept;
    std::vector<bool> keep(count, false);
    const auto shared = [&](int i, int j) {
        const auto span = [](int64_t a, int64_t sa, int64_t b, int64_t sb) {
            return std::max<int64_t>(0, std::min(a + sa / 2, b + sb / 2) - std::max(a - sa / 2, b - sb / 2) + 1);
        };
        const double both = static_cast<double>(span(y[i], height[i], y[j], height[j])) *
                            static_cast<double>(span(x[i], width[i], x[j], width[j]));
        return both / std::min(static_cast<double>(height[i] * width[i]), static_cast<double>(height[j] * width[j]));
    };
    Poll poll(64);
    for (int i = 0; i < count; ++i) {
        poll();
        keep[i] = !kept.any(y[i], x[i], height[i], width[i],
                            [&](int j) { return (value[i] > 0) == (value[j] > 0) && shared(i, j) > overlap; });
        if (keep[i]) kept.add(i, y[i], x[i], height[i], width[i]);
    }
    return keep;
}

}  // namespace imtorque
