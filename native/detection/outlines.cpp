// Pixels, shapes and overlaps of outlines. Naive twins: naive.outline_pixels, naive.outline_overlaps.
#include "detection/outlines.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr int kChunk = 64;

int chunks(int count) { return (count + kChunk - 1) / kChunk; }

long long size_of(const std::vector<Run>& runs) {
    long long size = 0;
    for (const Run& run : runs) size += run.x1 - run.x0;
    return size;
}

// Pixels that two lists of runs, each sorted by row and column, have in common.
int32_t common_pixels(const std::vector<Run>& a, const std::vector<Run>& b) {
    int32_t common = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].y != b[j].y) {
            (a[i].y < b[j].y ? i : j) += 1;
            continue;
        }
        common += std::max(0, std::min(a[i].x1, b[j].x1) - std::max(a[i].x0, b[j].x0));
        (a[i].x1 < b[j].x1 ? i : j) += 1;
    }
    return common;
}

struct Extent {
    int index, y0, y1, x0, x1;
};

}  // namespace

Directions::Directions(int angles) : sine(angles), cosine(angles) {
    for (int k = 0; k < angles; ++k) {
        const double angle = 2 * 3.14159265358979323846 * k / angles;
        sine[k] = static_cast<float>(std::sin(angle));
        cosine[k] = static_cast<float>(std::cos(angle));
    }
}

void runs_of(const Outlines& outlines, int i, const Directions& directions, int height, int width,
             std::vector<Run>& runs) {
    runs.clear();
    const int angles = outlines.angles;
    const float* radii = outlines.radii + static_cast<std::size_t>(i) * angles;
    std::vector<float> ys(angles), xs(angles), cuts;
    for (int k = 0; k < angles; ++k) {
        ys[k] = outlines.y[i] + radii[k] * directions.sine[k];
        xs[k] = outlines.x[i] + radii[k] * directions.cosine[k];
    }
    const auto [lowest, highest] = std::minmax_element(ys.begin(), ys.end());
    const int first = std::max(0, static_cast<int>(std::ceil(*lowest)));
    const int last = std::min(height - 1, static_cast<int>(std::floor(*highest)));
    for (int y = first; y <= last; ++y) {
        cuts.clear();
        for (int k = 0; k < angles; ++k) {
            const int next = k + 1 == angles ? 0 : k + 1;
            if ((ys[k] <= y) == (ys[next] <= y)) continue;
            cuts.push_back(xs[k] + (y - ys[k]) * (xs[next] - xs[k]) / (ys[next] - ys[k]));
        }
        std::sort(cuts.begin(), cuts.end());
        for (std::size_t k = 0; k + 1 < cuts.size(); k += 2) {
            const int x0 = std::max(0, static_cast<int>(std::ceil(cuts[k])));
            const int x1 = std::min(width, static_cast<int>(std::ceil(cuts[k + 1])));
            if (x0 < x1) runs.push_back({y, x0, x1});
        }
    }
}

void outline_shapes(const Outlines& outlines, int height, int width, double* shapes) {
    const Directions directions(outlines.angles);
    parallel_for(chunks(outlines.count), 2e3 * kChunk, [&](int chunk) {
        std::vector<Run> runs;
        for (int i = chunk * kChunk; i < std::min(outlines.count, (chunk + 1) * kChunk); ++i) {
            runs_of(outlines, i, directions, height, width, runs);
            double* shape = shapes + 10 * static_cast<std::size_t>(i);
            std::fill(shape, shape + 10, 0.0);
            if (runs.empty()) continue;
            double n = 0, sy = 0, sx = 0, yy = 0, xx = 0, xy = 0;
            int x0 = width, x1 = 0;
            for (const Run& run : runs) {
                const double length = run.x1 - run.x0, middle = 0.5 * (run.x0 + run.x1 - 1);
                n += length, sy += length * run.y, sx += length * middle;
                yy += length * run.y * run.y, xy += length * run.y * middle;
                xx += length * (middle * middle + (length * length - 1) / 12);
                x0 = std::min(x0, run.x0), x1 = std::max(x1, run.x1);
            }
            const double cy = sy / n, cx = sx / n;
            const double values[10] = {n,
                                       cy,
                                       cx,
                                       double(runs.front().y),
                                       double(x0),
                                       double(runs.back().y + 1),
                                       double(x1),
                                       yy / n - cy * cy,
                                       xx / n - cx * cx,
                                       xy / n - cy * cx};
            std::copy(values, values + 10, shape);
        }
    });
}

Pairs outline_overlaps(const Outlines& outlines, int height, int width, double part) {
    const int count = outlines.count;
    const Directions directions(outlines.angles);
    std::vector<std::vector<Run>> runs(count);
    parallel_for(chunks(count), 2e3 * kChunk, [&](int chunk) {
        for (int i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i)
            runs_of(outlines, i, directions, height, width, runs[i]);
    });
    std::vector<Extent> extents;
    std::vector<long long> sizes(count);
    for (int i = 0; i < count; ++i) {
        sizes[i] = size_of(runs[i]);
        if (runs[i].empty()) continue;
        Extent extent{i, runs[i].front().y, runs[i].back().y + 1, width, 0};
        for (const Run& run : runs[i]) extent.x0 = std::min(extent.x0, run.x0), extent.x1 = std::max(extent.x1, run.x1);
        extents.push_back(extent);
    }
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.y0 != b.y0 ? a.y0 < b.y0 : a.index < b.index; });
    const int present = static_cast<int>(extents.size());
    std::vector<Pairs> parts(chunks(present));
    parallel_for(chunks(present), 2e3 * kChunk, [&](int chunk) {
        for (int a = chunk * kChunk; a < std::min(present, (chunk + 1) * kChunk); ++a)
            for (int b = a + 1; b < present && extents[b].y0 < extents[a].y1; ++b) {
                if (extents[b].x0 >= extents[a].x1 || extents[a].x0 >= extents[b].x1) continue;
                const int i = std::min(extents[a].index, extents[b].index),
                          j = std::max(extents[a].index, extents[b].index);
                const int32_t common = common_pixels(runs[i], runs[j]);
                if (common <= part * static_cast<double>(std::min(sizes[i], sizes[j]))) continue;
                parts[chunk].first.push_back(i), parts[chunk].second.push_back(j),
                    parts[chunk].common.push_back(common);
            }
    });
    Pairs all;
    for (const Pairs& found : parts) {
        all.first.insert(all.first.end(), found.first.begin(), found.first.end());
        all.second.insert(all.second.end(), found.second.begin(), found.second.end());
        all.common.insert(all.common.end(), found.common.begin(), found.common.end());
    }
    return all;
}

void paint_outlines(const Outlines& outlines, int height, int width, int32_t* labels) {
    std::fill(labels, labels + static_cast<std::size_t>(height) * width, 0);
    const Directions directions(outlines.angles);
    std::vector<Run> runs;
    for (int i = outlines.count - 1; i >= 0; --i) {
        runs_of(outlines, i, directions, height, width, runs);
        for (const Run& run : runs) {
            int32_t* row = labels + static_cast<std::size_t>(run.y) * width;
            std::fill(row + run.x0, row + run.x1, i + 1);
        }
    }
}

}  // namespace imtorque
