// Runs of a row's pixels are the parts; those that touch across rows are joined. Twins: scipy.ndimage.label and
// binary_fill_holes in tests/native/test_figure_kernels.py.
#include "cuts/flood.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

struct Stretch {
    int x0, x1;  // of a row
    std::size_t joined;
    bool seeded;
};

class Stretches {
  public:
    // Add those of a row, and join them to those of the row before.
    void add_row(const uint8_t* mask, const uint8_t* seeds, int width) {
        const std::size_t above = row_, end = all_.size();
        row_ = end;
        std::size_t next = above;  // the first above that may touch
        for (int x = 0; x < width;) {
            const int x0 = static_cast<int>(std::find_if(mask + x, mask + width, [](uint8_t m) { return m; }) - mask);
            x = static_cast<int>(std::find(mask + x0, mask + width, 0) - mask);
            if (x0 == x) break;
            const std::size_t own = all_.size();
            all_.push_back({x0, x, own, std::any_of(seeds + x0, seeds + x, [](uint8_t s) { return s; })});
            while (next < end && all_[next].x1 <= x0) ++next;
            for (std::size_t i = next; i < end && all_[i].x0 < x; ++i) join(i, own);
        }
    }
    std::size_t size() const { return all_.size(); }
    const Stretch& operator[](std::size_t i) const { return all_[i]; }
    bool reached(std::size_t i) { return all_[root(i)].seeded; }

  private:
    std::size_t root(std::size_t i) {
        while (all_[i].joined != i) i = all_[i].joined = all_[all_[i].joined].joined;
        return i;
    }
    void join(std::size_t a, std::size_t b) {
        a = root(a), b = root(b);
        all_[std::min(a, b)].seeded |= all_[std::max(a, b)].seeded;
        all_[std::max(a, b)].joined = std::min(a, b);
    }

    std::vector<Stretch> all_;
    std::size_t row_ = 0;  // where the last row's begin
};

}  // namespace

void flood(const uint8_t* mask, const uint8_t* seeds, int height, int width, uint8_t* reached) {
    Stretches stretches;
    std::vector<std::size_t> ends(height);
    for (int y = 0; y < height; ++y) {
        check_interrupt();
        const std::size_t row = static_cast<std::size_t>(y) * width;
        stretches.add_row(mask + row, seeds + row, width);
        ends[y] = stretches.size();
    }
    std::fill_n(reached, static_cast<std::size_t>(height) * width, uint8_t{0});
    for (std::size_t y = 0, i = 0; y < ends.size(); ++y)
        for (; i < ends[y]; ++i)
            if (stretches.reached(i))
                std::fill(reached + y * width + stretches[i].x0, reached + y * width + stretches[i].x1, 1);
}

void fill_holes(const uint8_t* mask, int height, int width, uint8_t* filled) {
    const std::size_t pixels = static_cast<std::size_t>(height) * width;
    std::vector<uint8_t> ground(pixels), rim(pixels);
    std::transform(mask, mask + pixels, ground.begin(), [](uint8_t m) { return m ? 0 : 1; });
    for (int y = 0; y < height; ++y) {
        uint8_t* row = rim.data() + static_cast<std::size_t>(y) * width;
        if (y == 0 || y == height - 1) std::fill_n(row, width, uint8_t{1});
        row[0] = row[width - 1] = 1;
    }
    flood(ground.data(), rim.data(), height, width, filled);
    std::transform(filled, filled + pixels, filled, [](uint8_t reached) { return reached ? 0 : 1; });
}

}  // namespace imtorque
