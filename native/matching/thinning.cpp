// Parallel thinning with two sub-iterations (Guo & Hall, Comm. ACM 32(3), 1989, algorithm A1, in the form of Lam, Lee &
// Suen, PAMI 14(9), 1992), which is what MATLAB documents for bwmorph(image, 'thin', Inf). With the neighbours
// x1 ... x8 counted from the east, counter-clockwise, a set pixel is deleted when
//     G1  exactly one of i = 1..4 has x(2i-1) = 0 and (x(2i) or x(2i+1)) = 1
//     G2  2 <= min(n1, n2) <= 3,  n1 = sum of x(2k-1) | x(2k),  n2 = sum of x(2k) | x(2k+1),  k = 1..4
//     G3  (x2 | x3 | ~x8) & x1 = 0 in the first sub-iteration, (x6 | x7 | ~x4) & x5 = 0 in the second.
// All deletions of a sub-iteration are decided on the image before it; outside the image everything is 0. A
// neighbourhood is eight bits, so the rule is a table of 256 answers, and only set pixels are looked at. The plain twin
// is thin() in tests/naive.py.
#include "matching/thinning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

using Table = std::array<bool, 256>;

// Bit k - 1 of `neighbours` is x_k.
bool deletable(int neighbours, bool first) {
    auto x = [neighbours](int k) { return ((neighbours >> ((k - 1) % 8)) & 1) != 0; };
    int crossings = 0, n1 = 0, n2 = 0;
    for (int i = 1; i <= 4; ++i) {
        crossings += !x(2 * i - 1) && (x(2 * i) || x(2 * i + 1));
        n1 += x(2 * i - 1) || x(2 * i);
        n2 += x(2 * i) || x(2 * i + 1);
    }
    const int n = std::min(n1, n2);
    const bool kept = first ? (x(2) || x(3) || !x(8)) && x(1) : (x(6) || x(7) || !x(4)) && x(5);
    return crossings == 1 && n >= 2 && n <= 3 && !kept;
}

Table deletion_table(bool first) {
    Table table;
    for (int neighbours = 0; neighbours < 256; ++neighbours) table[neighbours] = deletable(neighbours, first);
    return table;
}

// One sub-iteration on an image with a border of zeros; returns how many pixels it deleted.
std::size_t delete_pixels(std::vector<std::uint8_t>& padded, std::ptrdiff_t stride, const Table& table,
                          std::vector<std::ptrdiff_t>& set, std::vector<std::ptrdiff_t>& deleted) {
    const std::array<std::ptrdiff_t, 8> offsets = {1,  1 - stride, -stride, -1 - stride,
                                                   -1, stride - 1, stride,  stride + 1};
    deleted.clear();
    std::size_t kept = 0;
    for (const std::ptrdiff_t pixel : set) {
        int neighbours = 0;
        for (int k = 0; k < 8; ++k) neighbours |= padded[pixel + offsets[k]] << k;
        if (table[neighbours])
            deleted.push_back(pixel);
        else
            set[kept++] = pixel;
    }
    set.resize(kept);
    for (const std::ptrdiff_t pixel : deleted) padded[pixel] = 0;
    return deleted.size();
}

}  // namespace

void thin(std::uint8_t* image, int height, int width) {
    static const Table first = deletion_table(true), second = deletion_table(false);
    const std::ptrdiff_t stride = width + 2;
    std::vector<std::uint8_t> padded(static_cast<std::size_t>(height + 2) * stride);
    std::vector<std::ptrdiff_t> set, deleted;
    for (std::ptrdiff_t y = 0; y < height; ++y)
        for (std::ptrdiff_t x = 0; x < width; ++x)
            if (image[y * width + x]) {
                padded[(y + 1) * stride + x + 1] = 1;
                set.push_back((y + 1) * stride + x + 1);
            }
    std::size_t changed = 1;
    while (changed) {
        check_interrupt();
        changed = delete_pixels(padded, stride, first, set, deleted);
        changed += delete_pixels(padded, stride, second, set, deleted);
    }
    for (std::ptrdiff_t y = 0; y < height; ++y) std::copy_n(&padded[(y + 1) * stride + 1], width, &image[y * width]);
}

}  // namespace imtorque
