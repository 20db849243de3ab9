// Canny's detector in parts of an image. The twin of all of it is the whole image's `canny`.
#include "edges/tiles.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"
#include "edges/candidates.hpp"
#include "edges/hysteresis.hpp"
#include "edges/suppress.hpp"

namespace imtorque {
namespace {

constexpr int kBandRows = 64;

int32_t bits_of(float value) {
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Call use(row of magnitudes, how many) for the rows of a box.
template <class Use>
void for_rows(const float* magnitudes, int width, const Part& box, const Use& use) {
    for (int y = box.top; y < box.bottom; ++y)
        use(magnitudes + static_cast<size_t>(y) * width + box.left, box.right - box.left);
}

FineCounts count_finely(const float* magnitudes, int width, const Part& core) {
    FineCounts fine;
    for_rows(magnitudes, width, core, [&](const float* row, int count) {
        for (int i = 0; i < count; ++i) fine.largest = std::max(fine.largest, row[i]);
    });
    if (fine.largest == 0) return fine;
    constexpr int kShift = 23 - kFineBits;
    const int32_t last = bits_of(fine.largest) >> kShift;
    // Two more than the octaves hold: rounding must not lift what is left out into the second bin.
    const int32_t first = std::max(0, last - (kFineOctaves << kFineBits) - 2);
    fine.first = first;
    fine.counts.assign(last - first + 1, 0);
    for_rows(magnitudes, width, core, [&](const float* row, int count) {
        for (int i = 0; i < count; ++i) {
            const int32_t range = (bits_of(row[i]) >> kShift) - first;
            if (range >= 0) ++fine.counts[range];
        }
    });
    return fine;
}

// The kept candidates inside a box, by blocks.
CandidateBlocks in_blocks(const Candidates& candidates, const BitPlane& kept, const Part& core, int block) {
    CandidateBlocks listed{{}, {0}};
    const int part_width = core.right - core.left;
    std::vector<std::vector<Candidate>> row((part_width + block - 1) / block);  // of blocks
    int bottom = std::min(core.top + block, core.bottom);
    const auto finish_row = [&] {
        check_interrupt();
        for (std::vector<Candidate>& own : row) {
            listed.candidates.insert(listed.candidates.end(), own.begin(), own.end());
            listed.begins.push_back(static_cast<int64_t>(listed.candidates.size()));
            own.clear();
        }
        bottom = std::min(bottom + block, core.bottom);
    };
    candidates.for_each(kept, [&](int y, int x, float gx, float gy) {
        if (y < core.top || y >= core.bottom || x < core.left || x >= core.right) return;
        while (y >= bottom) finish_row();
        const uint32_t across = x - core.left, at = static_cast<uint32_t>(y - core.top) * part_width + across;
        row[across / block].push_back({at, gx, gy});
    });
    const size_t rows = (core.bottom - core.top + block - 1) / block;
    while (listed.begins.size() < 1 + rows * row.size()) finish_row();
    return listed;
}

}  // namespace

void find_candidates(const float* window, int height, int width, double sigma, double low, float* gx, float* gy) {
    const Maxima found = find_maxima(window, height, width, sigma, {static_cast<float>(low), false, nullptr});
    found.candidates.spread(found.candidates.bits(), kAsIs, gx, gy);
}

CandidateBlocks list_candidates(const float* window, int height, int width, double sigma, double low, const Part& core,
                                int block, FineCounts* fine) {
    std::vector<float> magnitudes(fine ? static_cast<size_t>(height) * width : 0);
    const Search search{fine ? 0.0f : static_cast<float>(low), false, fine ? magnitudes.data() : nullptr};
    const Maxima found = find_maxima(window, height, width, sigma, search);
    if (!fine) return in_blocks(found.candidates, found.candidates.bits(), core, block);
    *fine = count_finely(magnitudes.data(), width, core);
    const float least = least_low(fine->largest);
    return in_blocks(found.candidates, found.candidates.above(least, least).first, core, block);
}

std::vector<long long> count_bins(const float* window, int height, int width, double sigma, const Part& core,
                                  float largest) {
    std::vector<long long> total(kBins, 0);
    std::vector<float> magnitude(width);
    GradientRows(window, height, width, gaussian(sigma))
        .run(core.top, core.bottom, [&](int, const float* gx, const float* gy) {
            float ignored;
            gradient_magnitudes(gx, gy, width, magnitude.data(), &ignored);
            add_to_bins(magnitude.data() + core.left, core.right - core.left, largest, total.data());
        });
    return total;
}

void place_candidates(const Candidate* candidates, long long count, int part_width, int y, int x, float* gx, float* gy,
                      int height, int width) {
    for (long long i = 0; i < count; ++i) {
        const long long v = candidates[i].at / part_width + static_cast<long long>(y);
        const long long u = candidates[i].at % part_width + static_cast<long long>(x);
        if (v < 0 || v >= height || u < 0 || u >= width) continue;
        const size_t at = static_cast<size_t>(v) * width + static_cast<size_t>(u);
        gx[at] = candidates[i].gx;
        gy[at] = candidates[i].gy;
    }
}

Lines label_tile_edges(const float* gx, const float* gy, int height, int width, float low, float high,
                       const std::vector<int>& rows, const std::vector<int>& columns) {
    Lines lines;
    std::vector<int32_t> label(static_cast<size_t>(height) * width, -1);
    std::vector<float> strength(label.size());
    float ignored;
    for (int y = 0; y < height; ++y) {
        const size_t at = static_cast<size_t>(y) * width;
        gradient_magnitudes(gx + at, gy + at, width, &strength[at], &ignored);
    }
    std::vector<size_t> open;
    Poll poll(4096);
    const auto visit = [&](int y, int x) {
        const size_t start = static_cast<size_t>(y) * width + x;
        if (!(strength[start] > low)) return;
        if (label[start] < 0) {
            const int32_t own = static_cast<int32_t>(lines.strong.size());
            lines.strong.push_back(0);
            label[start] = own;
            open.push_back(start);
            while (!open.empty()) {
                poll();
                const size_t i = open.back();
                open.pop_back();
                lines.strong[own] |= strength[i] > high;
                const int v = static_cast<int>(i / width), u = static_cast<int>(i % width);
                for (int dv = std::max(v - 1, 0); dv <= std::min(v + 1, height - 1); ++dv)
                    for (int du = std::max(u - 1, 0); du <= std::min(u + 1, width - 1); ++du) {
                        const size_t j = static_cast<size_t>(dv) * width + du;
                        if (label[j] >= 0 || !(strength[j] > low)) continue;
                        label[j] = own;
                        open.push_back(j);
                    }
            }
        }
        lines.pixels.push_back({static_cast<uint32_t>(start), label[start]});
    };
    std::vector<uint8_t> seen(height, 0);
    for (const int y : rows) {
        if (seen[y]) continue;
        seen[y] = 1;
        for (int x = 0; x < width; ++x) visit(y, x);
    }
    for (const int x : columns)
        for (int y = 0; y < height; ++y)
            if (!seen[y]) visit(y, x);
    return lines;
}

bool connect_edges(float* gx, float* gy, int height, int width, float low, float high, const std::vector<size_t>& seeds,
                   int rounds, const Part& core) {
    Candidates candidates(height, width, kBandRows);
    parallel_for(candidates.bands(), 2.0 * kBandRows * width, [&](int band) {
        RowBuffer strength(2, width);
        float ignored;
        const auto measure = [&](int y) {
            const size_t at = static_cast<size_t>(y) * width;
            gradient_magnitudes(gx + at, gy + at, width, strength.row(y % 2), &ignored);
        };
        const int top = std::max(candidates.top(band), 1), bottom = std::min(candidates.bottom(band), height - 1);
        if (top < bottom) measure(top);
        for (int y = top; y < bottom; ++y) {
            measure(y + 1);
            mark_maxima({nullptr, strength.row(y % 2), strength.row((y + 1) % 2), nullptr, nullptr, nullptr}, width,
                        low, candidates.marks(y));
            candidates.add_row(y, gx + static_cast<size_t>(y) * width, gy + static_cast<size_t>(y) * width);
        }
    });
    const size_t stride = candidates.bits().stride();
    std::vector<size_t> places;
    for (const size_t i : seeds) places.push_back(i / width * stride + i % width);
    BitPlane edges = keep_connected(candidates.bits(), candidates.above(low, high).second, places);
    const std::vector<size_t> left = remove_spare_corners(edges, candidates, rounds);
    candidates.turn(kAsIs);
    candidates.spread(edges, kAsIs, gx, gy);
    return std::any_of(left.begin(), left.end(), [&](size_t place) {
        const int y = static_cast<int>(place / stride), x = static_cast<int>(place % stride);
        return y >= core.top && y < core.bottom && x >= core.left && x < core.right;
    });
}

}  // namespace imtorque
