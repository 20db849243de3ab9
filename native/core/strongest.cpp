// The strongest of each 2 x 2 pixels. Naive twin: naive.strongest_of_four.
#include "core/strongest.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

template <class T>
T stronger(T a, T b) {
    return std::abs(b) > std::abs(a) ? b : a;
}

// A row of one plane, where all four pixels exist: without branches.
template <class T>
void strongest_in_row(const T* above, const T* below, int columns, T* out) {
    for (int u = 0; u < columns; ++u)
        out[u] = stronger(stronger(above[2 * u], above[2 * u + 1]), stronger(below[2 * u], below[2 * u + 1]));
}

}  // namespace

template <class T>
void strongest_of_four(const T* values, int planes, int height, int width, T* out) {
    const int rows = (height + 1) / 2, columns = (width + 1) / 2;
    const size_t plane = static_cast<size_t>(height) * width, small = static_cast<size_t>(rows) * columns;
    parallel_for(rows, 4.0 * planes * columns, [&](int v) {
        int first = 0;  // column that is not done yet
        if (planes == 1 && 2 * v + 1 < height) {
            const T* row = values + static_cast<size_t>(2 * v) * width;
            first = width / 2;
            strongest_in_row(row, row + width, first, out + static_cast<size_t>(v) * columns);
        }
        for (int u = first; u < columns; ++u) {
            size_t best = 0;
            T most = T(-1);
            for (int y = 2 * v; y < 2 * v + 2 && y < height; ++y)
                for (int x = 2 * u; x < 2 * u + 2 && x < width; ++x) {
                    const size_t at = static_cast<size_t>(y) * width + x;
                    T strength = 0;
                    for (int c = 0; c < planes; ++c) strength += std::abs(values[c * plane + at]);
                    if (strength > most) {
                        most = strength;
                        best = at;
                    }
                }
            for (int c = 0; c < planes; ++c)
                out[c * small + static_cast<size_t>(v) * columns + u] = values[c * plane + best];
        }
    });
}
template void strongest_of_four(const float*, int, int, int, float*);
template void strongest_of_four(const double*, int, int, int, double*);
template void strongest_of_four(const int32_t*, int, int, int, int32_t*);

}  // namespace imtorque
