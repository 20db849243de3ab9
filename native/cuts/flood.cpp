// Breadth does not matter: a stack of places. Twin: scipy.ndimage.label in tests/native/test_figure_kernels.py.
#include "cuts/flood.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {

void flood(const uint8_t* mask, const uint8_t* seeds, int height, int width, uint8_t* reached) {
    const std::size_t w = static_cast<std::size_t>(width), count = w * height;
    std::fill_n(reached, count, uint8_t{0});
    std::vector<std::size_t> left;
    const auto reach = [&](std::size_t at) {
        if (!mask[at] || reached[at]) return;
        reached[at] = 1;
        left.push_back(at);
    };
    Poll poll(1 << 16);
    for (std::size_t i = 0; i < count; ++i) {
        if (seeds[i]) reach(i);
        while (!left.empty()) {
            poll();
            const std::size_t at = left.back(), x = at % w;
            left.pop_back();
            if (x > 0) reach(at - 1);
            if (x + 1 < w) reach(at + 1);
            if (at >= w) reach(at - w);
            if (at + w < count) reach(at + w);
        }
    }
}

}  // namespace imtorque
