// Separable: along rows, then along columns, both ways, in time that does not depend on the radius. Columns are taken
// a row at a time. Twin: scipy.ndimage.maximum_filter in tests/native/test_figure_kernels.py.
#include "cuts/dilate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

void dilate_row(const uint8_t* mask, int width, int radius, uint8_t* dilated) {
    for (int x = 0, end = -1; x < width; ++x) {
        end = mask[x] ? x + radius : end;
        dilated[x] = x <= end;
    }
    for (int x = width - 1, end = width; x >= 0; --x) {
        end = mask[x] ? x - radius : end;
        dilated[x] |= x >= end;
    }
}

}  // namespace

void dilate(const uint8_t* mask, int height, int width, int radius, uint8_t* dilated) {
    radius = std::min(radius, std::max(height, width));
    const auto row = [=](auto* plane, int y) { return plane + static_cast<std::ptrdiff_t>(y) * width; };
    std::vector<uint8_t> along(static_cast<std::size_t>(height) * width);
    std::vector<int> end(width, -1);
    for (int y = 0; y < height; ++y) {
        check_interrupt();
        uint8_t *own = row(along.data(), y), *to = row(dilated, y);
        dilate_row(row(mask, y), width, radius, own);
        for (int x = 0; x < width; ++x) {
            end[x] = own[x] ? y + radius : end[x];
            to[x] = y <= end[x];
        }
    }
    std::fill(end.begin(), end.end(), height);
    for (int y = height - 1; y >= 0; --y) {
        const uint8_t* own = row(along.data(), y);
        uint8_t* to = row(dilated, y);
        for (int x = 0; x < width; ++x) {
            end[x] = own[x] ? y - radius : end[x];
            to[x] |= y >= end[x];
        }
    }
}

}  // namespace imtorque
