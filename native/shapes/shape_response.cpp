// Cell sums by summed-area tables. For a row of pixels and a row of cells, two table rows are subtracted first; a cell
// is then two look-ups, and all loops run along the row. Table integers wrap around; a cell's sum fits. Naive twin:
// naive_shapes.response.
#include "shapes/shape_response.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

using Uint = uint32_t;

// One row of cells in both channels, for all pixels of a row: d1, d2 are differences of table rows.
IMTORQUE_INLINE void add_cells_impl(const Uint* d1, const Uint* d2, const int32_t* across, int columns, const float* w1,
                                    const float* w2, int width, float* __restrict sum, float* __restrict power) {
    for (int j = 0; j < columns; ++j) {
        const int l = across[j], r = across[j + 1];
        const float a = w1[j], b = w2[j];
        IMTORQUE_IVDEP
        for (int x = 0; x < width; ++x) {
            const float one = static_cast<float>(static_cast<int32_t>(d1[x + r] - d1[x + l]));
            const float two = static_cast<float>(static_cast<int32_t>(d2[x + r] - d2[x + l]));
            sum[x] += a * one + b * two;
            power[x] += one * one + two * two;
        }
    }
}
IMTORQUE_DISPATCH(static, add_cells,
                  (const Uint* d1, const Uint* d2, const int32_t* across, int columns, const float* w1, const float* w2,
                   int width, float* sum, float* power),
                  (d1, d2, across, columns, w1, w2, width, sum, power))

// Rows of prefix sums, as wide as patches reach to either side.
std::vector<Uint> table_of(const int32_t* plane, int height, int width, int pad, int table_width) {
    std::vector<Uint> table(static_cast<size_t>(height + 1) * table_width, 0);
    for (int y = 0; y < height; ++y) {
        const Uint* above = &table[static_cast<size_t>(y) * table_width];
        Uint* below = &table[static_cast<size_t>(y + 1) * table_width];
        Uint run = 0;
        for (int i = 0; i < table_width; ++i) {
            const int x = i - pad - 1;
            if (x >= 0 && x < width) run += static_cast<Uint>(plane[static_cast<size_t>(y) * width + x]);
            below[i] = above[i] + run;
        }
    }
    return table;
}

}  // namespace

void shape_response(const int32_t* first, const int32_t* second, int height, int width, const ShapeCells& cells,
                    float floor, float* response) {
    const int rows = static_cast<int>(cells.down.size()) - 1, columns = static_cast<int>(cells.across.size()) - 1;
    const int pad = std::max({0, -cells.across.front(), cells.across.back()});
    const int table_width = width + 2 * pad + 1;
    const std::vector<Uint> one = table_of(first, height, width, pad, table_width);
    const std::vector<Uint> two = table_of(second, height, width, pad, table_width);
    parallel_for(height, 1.0 * rows * columns * width, [&](int y) {
        std::vector<Uint> d1(table_width), d2(table_width);
        std::vector<float> sum(width, 0.0f), power(width, 0.0f);
        for (int i = 0; i < rows; ++i) {
            const size_t high = static_cast<size_t>(std::clamp(y + cells.down[i], 0, height)) * table_width;
            const size_t low = static_cast<size_t>(std::clamp(y + cells.down[i + 1], 0, height)) * table_width;
            for (int k = 0; k < table_width; ++k) {
                d1[k] = one[low + k] - one[high + k];
                d2[k] = two[low + k] - two[high + k];
            }
            add_cells(d1.data() + pad, d2.data() + pad, cells.across.data(), columns, cells.first + i * columns,
                      cells.second + i * columns, width, sum.data(), power.data());
        }
        float* out = response + static_cast<size_t>(y) * width;
        for (int x = 0; x < width; ++x) out[x] = sum[x] / std::sqrt(power[x] + floor * floor);
    });
}

}  // namespace imtorque
