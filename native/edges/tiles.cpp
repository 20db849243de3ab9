// Canny's detector in parts of a picture. The twin of all of it is the whole picture's `canny`.
#include "edges/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/parallel.hpp"
#include "edges/canny.hpp"
#include "edges/hysteresis.hpp"

namespace imtorque {
namespace {

constexpr int kBandRows = 32;

int bands(int rows) { return (rows + kBandRows - 1) / kBandRows; }

int32_t bits_of(float value) {
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// |g| of the rows of a box, row by row: use(row of magnitudes, its largest).
template <class Use>
void magnitudes_of(const float* gx, const float* gy, int width, const Part& box, const Use& use) {
    std::vector<float> row(box.right - box.left);
    float largest;
    for (int y = box.top; y < box.bottom; ++y) {
        const size_t at = static_cast<size_t>(y) * width + box.left;
        gradient_magnitudes(gx + at, gy + at, box.right - box.left, row.data(), &largest);
        use(row, largest);
    }
}

FineCounts count_finely(const float* gx, const float* gy, int width, const Part& core) {
    FineCounts fine;
    magnitudes_of(gx, gy, width, core,
                  [&](const std::vector<float>&, float largest) { fine.largest = std::max(fine.largest, largest); });
    if (fine.largest == 0) {
        fine.below = static_cast<int64_t>(core.bottom - core.top) * (core.right - core.left);
        return fine;
    }
    constexpr int kShift = 23 - kFineBits;
    const int32_t last = bits_of(fine.largest) >> kShift;
    // Two more than the octaves hold: rounding must not lift what is left out into the second bin.
    const int32_t first = std::max(0, last - (kFineOctaves << kFineBits) - 2);
    fine.first = first;
    fine.counts.assign(last - first + 1, 0);
    magnitudes_of(gx, gy, width, core, [&](const std::vector<float>& row, float) {
        for (const float magnitude : row) {
            const int32_t range = (bits_of(magnitude) >> kShift) - first;
            if (range < 0)
                ++fine.below;
            else
                ++fine.counts[range];
        }
    });
    return fine;
}

}  // namespace

void find_candidates(const float* window, int height, int width, double sigma, double low, const Part& core, float* gx,
                     float* gy, FineCounts* fine) {
    std::unique_ptr<float[]> thinned(new float[static_cast<size_t>(height) * width]);
    smooth(window, height, width, sigma, thinned.get());
    gradient(thinned.get(), height, width, gx, gy);
    if (fine) {
        *fine = count_finely(gx, gy, width, core);
        low = kLowOfHigh * (static_cast<double>(fine->largest) / kBins);
    }
    thin(gx, gy, height, width, static_cast<float>(low), thinned.get());
    parallel_for(bands(height), 1.0 * kBandRows * width, [&](int band) {
        const size_t from = static_cast<size_t>(band) * kBandRows * width;
        const size_t to = static_cast<size_t>(std::min((band + 1) * kBandRows, height)) * width;
        for (size_t i = from; i < to; ++i) {
            const bool kept = thinned[i] > 0;
            gx[i] = kept ? gx[i] : 0.0f;
            gy[i] = kept ? gy[i] : 0.0f;
        }
    });
}

std::vector<long long> count_bins(const float* window, int height, int width, double sigma, const Part& core,
                                  float largest) {
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<float[]> smoothed(new float[count]), gx(new float[count]), gy(new float[count]);
    smooth(window, height, width, sigma, smoothed.get());
    gradient(smoothed.get(), height, width, gx.get(), gy.get());
    std::vector<long long> total(kBins, 0);
    for (int y = core.top; y < core.bottom; ++y) {
        const size_t at = static_cast<size_t>(y) * width + core.left;
        const std::vector<long long> counts =
            count_magnitudes(gx.get() + at, gy.get() + at, core.right - core.left, largest);
        for (int b = 0; b < kBins; ++b) total[b] += counts[b];
    }
    return total;
}

std::pair<std::vector<Candidate>, std::vector<int64_t>> list_candidates(const float* gx, const float* gy, int width,
                                                                        const Part& core, int block) {
    const int part_width = core.right - core.left;
    std::vector<Candidate> found;
    std::vector<int64_t> begins{0};
    for (int top = core.top; top < core.bottom; top += block) {
        check_interrupt();
        for (int left = core.left; left < core.right; left += block) {
            for (int y = top; y < std::min(top + block, core.bottom); ++y) {
                const size_t row = static_cast<size_t>(y) * width;
                for (int x = left; x < std::min(left + block, core.right); ++x)
                    if (gx[row + x] != 0 || gy[row + x] != 0)
                        found.push_back({static_cast<uint32_t>(y - core.top) * part_width + (x - core.left),
                                         gx[row + x], gy[row + x]});
            }
            begins.push_back(static_cast<int64_t>(found.size()));
        }
    }
    return {std::move(found), std::move(begins)};
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

Lines label_lines(const float* gx, const float* gy, int height, int width, float low, float high,
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
    const size_t count = static_cast<size_t>(height) * width;
    std::unique_ptr<float[]> thinned(new float[count]);
    parallel_for(bands(height), 2.0 * kBandRows * width, [&](int band) {
        float ignored;
        for (int y = band * kBandRows; y < std::min((band + 1) * kBandRows, height); ++y) {
            const size_t at = static_cast<size_t>(y) * width;
            gradient_magnitudes(gx + at, gy + at, width, &thinned[at], &ignored);
            for (int x = 0; x < width; ++x) {
                const bool inside = y > 0 && y < height - 1 && x > 0 && x < width - 1;
                thinned[at + x] = inside && thinned[at + x] > low ? thinned[at + x] : 0.0f;
            }
        }
    });
    const std::vector<size_t> left = remove_spare_corners(
        thinned.get(), keep_connected(thinned.get(), height, width, high, seeds), height, width, rounds);
    parallel_for(bands(height), 1.0 * kBandRows * width, [&](int band) {
        const size_t from = static_cast<size_t>(band) * kBandRows * width;
        const size_t to = static_cast<size_t>(std::min((band + 1) * kBandRows, height)) * width;
        for (size_t i = from; i < to; ++i) {
            const bool edge = thinned[i] < 0;
            const float x = gx[i], y = gy[i];
            gx[i] = edge ? y : 0.0f;
            gy[i] = edge ? -x : 0.0f;
        }
    });
    return std::any_of(left.begin(), left.end(), [&](size_t i) {
        const int y = static_cast<int>(i / width), x = static_cast<int>(i % width);
        return y >= core.top && y < core.bottom && x >= core.left && x < core.right;
    });
}

}  // namespace imtorque
