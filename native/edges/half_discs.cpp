// A row of eight numbers per bin holds, for each orientation, one half's histogram less the other's; `totals` holds the
// whole disc's. When the disc moves by a pixel, only pixels that change sides or enter or leave are touched, O(radius)
// of them, each with one addition for all orientations. With D = half - other and T = half + other, and halves of one
// weight, chi^2 = 1/2 sum D^2 / T / (weight of a half): the division is shared by all orientations.
#include "edges/half_discs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kSlices = 2 * kOrientations;
using Eight = Lanes<int16_t>;

// Twice the angle's slice of pi / 8 where it lies inside one, so that borders between slices are the even numbers.
int place_of(int dy, int dx) {
    const double turn = std::atan2(dy, dx) * (kOrientations / 3.14159265358979323846);
    const bool border = dy == 0 || dx == 0 || std::abs(dy) == std::abs(dx);
    const int place = border ? 2 * static_cast<int>(std::lround(turn)) : 2 * static_cast<int>(std::floor(turn)) + 1;
    return (place + 2 * kSlices) % (2 * kSlices);
}

// What a pixel of the disc adds to D of each orientation: 2 on one side, -2 on the other, 0 on the cut; and to T.
struct Share {
    Eight sides;
    int total;
};
Share share_of(int dy, int dx, int radius) {
    Share share = {};
    if ((dy == 0 && dx == 0) || dy * dy + dx * dx > radius * radius) return share;
    share.total = 2;
    for (int k = 0; k < kOrientations; ++k) {
        const int from_cut = (place_of(dy, dx) - 2 * k + 2 * kSlices) % (2 * kSlices);
        share.sides[k] = static_cast<int16_t>(from_cut % kSlices == 0 ? 0 : from_cut < kSlices ? 2 : -2);
    }
    return share;
}

struct Change {
    Eight sides;
    int32_t place, total;  // where the pixel is, from the disc's middle; what it adds to T
};

// What changes when the disc moves one pixel to the right; or, for the disc as a whole, what is in it.
std::vector<Change> changes(int radius, int stride, bool whole) {
    std::vector<Change> all;
    for (int dx = -radius - 1; dx <= radius; ++dx)
        for (int dy = -radius; dy <= radius; ++dy) {
            const Share before = whole ? Share{} : share_of(dy, dx + 1, radius), after = share_of(dy, dx, radius);
            const Change change = {after.sides - before.sides, dy * stride + dx, after.total - before.total};
            bool changes = change.total != 0;
            for (int k = 0; k < kOrientations; ++k) changes |= change.sides[k] != 0;
            if (changes) all.push_back(change);
        }
    return all;
}

struct Histograms {
    Eight sides[kMostBins];
    int16_t totals[kMostBins];
};

IMTORQUE_INLINE void apply(const std::vector<Change>& list, const uint8_t* middle, Histograms& histograms) {
    for (const Change& change : list) {
        const uint8_t bin = middle[change.place];
        histograms.sides[bin] += change.sides;
        histograms.totals[bin] = static_cast<int16_t>(histograms.totals[bin] + change.total);
    }
}

// Running sums over 2 reach + 1 bins, zeros beyond both ends.
template <class T>
IMTORQUE_INLINE void running_sums(const T* in, int count, int reach, T* out) {
    T sum = {};
    for (int b = 0; b < std::min(reach, count); ++b) sum = static_cast<T>(sum + in[b]);
    for (int b = 0; b < count; ++b) {
        if (b + reach < count) sum = static_cast<T>(sum + in[b + reach]);
        if (b > reach) sum = static_cast<T>(sum - in[b - reach - 1]);
        out[b] = sum;
    }
}

IMTORQUE_INLINE void distances(const Histograms& histograms, int count, int reach, float scale, float* out,
                               size_t plane) {
    const Histograms* given = &histograms;
    Histograms once, twice;
    if (reach > 0) {
        running_sums(histograms.sides, count, reach, once.sides);
        running_sums(once.sides, count, reach, twice.sides);
        running_sums(histograms.totals, count, reach, once.totals);
        running_sums(once.totals, count, reach, twice.totals);
        given = &twice;
    }
    Lanes<float> sum = {};
    for (int b = 0; b < count; ++b) {
        if (given->totals[b] == 0) continue;
        const Lanes<float> d = __builtin_convertvector(given->sides[b], Lanes<float>);
        sum += d * d * (scale / static_cast<float>(given->totals[b]));
    }
    for (int k = 0; k < kOrientations; ++k) out[static_cast<size_t>(k) * plane] = sum[k];
}

struct Row {
    const std::vector<Change>& whole;
    const std::vector<Change>& moves;
    const uint8_t* first;  // the pixel of the row's first disc
    int width, count, reach, step;
    float scale;
    float* out;
    size_t plane;
};

IMTORQUE_INLINE void slide_impl(const Row& row) {
    Histograms histograms = {};
    apply(row.whole, row.first, histograms);
    for (int x = 0; x < row.width; ++x) {
        if (x > 0) apply(row.moves, row.first + x, histograms);
        if (x % row.step == 0)
            distances(histograms, row.count, row.reach, row.scale, row.out + x / row.step, row.plane);
    }
}
IMTORQUE_DISPATCH(static, slide, (const Row& row), (row))

}  // namespace

void half_disc_gradients(const uint8_t* bins, int height, int width, int count, int radius, int reach, int step,
                         float* gradients) {
    const int stride = width + 2 * radius, rows = (height + step - 1) / step, columns = (width + step - 1) / step;
    const std::vector<Change> whole = changes(radius, stride, true), moves = changes(radius, stride, false);
    int weight = 0;  // of the whole disc: a half's, twice, in shares of which a pixel has two
    for (const Change& change : whole) weight += change.total;
    const int gain = (2 * reach + 1) * (2 * reach + 1);  // of the running sums, taken twice
    const float scale = static_cast<float>(1.0 / (static_cast<double>(weight) * gain));
    parallel_for(rows, 1.0 * width * static_cast<double>(moves.size()) + 500.0 * columns, [&](int y) {
        const uint8_t* first = bins + static_cast<size_t>(y * step + radius) * stride + radius;
        const Row row = {whole,
                         moves,
                         first,
                         width,
                         count,
                         reach,
                         step,
                         scale,
                         gradients + static_cast<size_t>(y) * columns,
                         static_cast<size_t>(rows) * columns};
        slide(row);
    });
}

namespace {

IMTORQUE_INLINE void correlate_row_impl(const float* plane, int width, const int64_t* place, const float* weight,
                                        int taps, float* out) {
    std::fill(out, out + width, 0.0f);
    for (int i = 0; i < taps; ++i) {
        const float* from = plane + place[i];
        const float w = weight[i];
        IMTORQUE_IVDEP
        for (int x = 0; x < width; ++x) out[x] += w * from[x];
    }
}
IMTORQUE_DISPATCH(static, correlate_row,
                  (const float* plane, int width, const int64_t* place, const float* weight, int taps, float* out),
                  (plane, width, place, weight, taps, out))

}  // namespace

void correlate(const float* plane, int height, int width, int border, const int32_t* dy, const int32_t* dx,
               const float* weight, int taps, float* out) {
    const int64_t stride = width + 2 * static_cast<int64_t>(border);
    std::vector<int64_t> place(taps);
    for (int i = 0; i < taps; ++i) place[i] = dy[i] * stride + dx[i];
    parallel_for(height, 0.15 * width * taps, [&](int y) {
        correlate_row(plane + (y + border) * stride + border, width, place.data(), weight, taps,
                      out + static_cast<size_t>(y) * width);
    });
}

}  // namespace imtorque
