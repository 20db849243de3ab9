// Some strong extrema, quickly: a lower bound for the strength of the strongest ones.
//
// The forces are summed over blocks of kBlock x kBlock pixels, and the value map of this small field is computed as
// usual: it shows roughly where the torque is strong, and at which size. Around its strongest peaks the torque is then
// computed exactly; the strongest place of such a neighbourhood, where all its 26 neighbours lie inside it and are
// weaker, is a true extremum.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "core/bounded_search.hpp"
#include "core/parallel.hpp"
#include "core/peaks.hpp"

namespace imtorque {
namespace {

constexpr int kBlock = 4;
constexpr int kAround = 5;  // pixels to each side of a peak that are looked at
constexpr int kSpan = 2 * kAround + 1;
constexpr int kSizes = 12;      // looked at, at most
constexpr int kTries = 2;       // neighbourhoods, where the strongest place lies at the edge of one
constexpr float kRough = 0.9f;  // a peak this much weaker than what is known is not looked at

struct SmallField {
    int height, width;
    std::vector<float> fx, fy;
};

// `sums` has room for a row, and zeros behind it. The rows of a whole block are added in one pass.
IMTORQUE_INLINE void sum_blocks_impl(const float* rows, int count, int width, float* __restrict sums,
                                     float* __restrict out) {
    if (count == kBlock) {
        const float *second = rows + width, *third = second + width, *fourth = third + width;
        for (int x = 0; x < width; ++x) sums[x] = ((rows[x] + second[x]) + third[x]) + fourth[x];
    } else {
        std::copy_n(rows, width, sums);
        for (int y = 1; y < count; ++y)
            for (int x = 0; x < width; ++x) sums[x] += rows[static_cast<size_t>(y) * width + x];
    }
    for (int u = 0; kBlock * u < width; ++u) {
        const float* block = sums + kBlock * u;
        out[u] = (block[0] + block[1]) + (block[2] + block[3]);
    }
}
IMTORQUE_DISPATCH(static, sum_blocks, (const float* rows, int count, int width, float* sums, float* out),
                  (rows, count, width, sums, out))

SmallField shrink(const Field& field) {
    const int height = (field.height + kBlock - 1) / kBlock, width = (field.width + kBlock - 1) / kBlock;
    const size_t pixels = static_cast<size_t>(height) * width;
    SmallField small{height, width, std::vector<float>(pixels), std::vector<float>(pixels)};
    parallel_for(height, 0.7 * kBlock * field.width, [&](int v) {
        std::vector<float> sums(static_cast<size_t>(width) * kBlock);
        const int top = v * kBlock, count = std::min(kBlock, field.height - top);
        const size_t from = static_cast<size_t>(top) * field.width, to = static_cast<size_t>(v) * width;
        sum_blocks(field.fx + from, count, field.width, sums.data(), small.fx.data() + to);
        sum_blocks(field.fy + from, count, field.width, sums.data(), small.fy.data() + to);
    });
    return small;
}

// Patches of the small field, and for each the first of the sizes it stands for; one more at the end.
struct SmallPatches {
    std::vector<Patch> patches;
    std::vector<int32_t> labels, first;
};

// `coarser`: how many times fewer steps make a unit of force there.
SmallPatches shrink(const std::vector<Patch>& patches, double coarser) {
    SmallPatches result;
    const int count = static_cast<int>(patches.size());
    for (int k = 0; k < count; ++k) {
        const double side = 2 * patches[k].ry + 1;
        const int r = std::max(1, static_cast<int>(std::lround((side / kBlock - 1) / 2)));
        if (!result.patches.empty() && r == result.patches.back().ry) continue;
        const double area = side / (kBlock * (2.0 * r + 1));
        const double norm = patches[k].norm * area * area * kBlock * coarser;
        result.labels.push_back(static_cast<int32_t>(result.patches.size()) + 1);
        result.patches.push_back({r, r, static_cast<float>(norm)});
        result.first.push_back(k);
    }
    result.first.push_back(count);
    return result;
}

// The value and scale map of the small field. Its forces are rounded to so few steps that the sums fit 32 bits; with no
// mass in its blocks, the kernel takes them to do so.
struct SmallMaps {
    std::vector<float> value;
    std::vector<int32_t> scale;
};

SmallMaps maps_of(const SmallField& small, const Field& field, double steps, const SmallPatches& sizes) {
    const size_t pixels = small.fx.size();
    SmallMaps maps{std::vector<float>(pixels), std::vector<int32_t>(pixels)};
    const std::vector<double> blocks(static_cast<size_t>(block_rows(small.height)) * block_rows(small.width));
    const Field shrunk{small.fx.data(), small.fy.data(), small.height, small.width,  steps,
                       blocks.data(),   false,           false,        field.largest};
    value_and_scale(shrunk, clip_patches(sizes.patches, Shape::box, shrunk), Shape::box, sizes.labels.data(),
                    maps.value.data(), maps.scale.data());
    return maps;
}

// Steps per unit of force of the small field.
double steps_of_small(const Field& field, const Patch& largest) {
    const int r = largest.ry + 2 * kBlock;
    const double mass = largest_mass(field, {r, r, 0}), lever = static_cast<double>(r) / kBlock;
    return std::min({field.steps, std::exp2(29) / (lever * mass), kQuickRounding / (64 * field.largest)});
}

struct Neighbourhood {
    int top, left, first, sizes;  // and kSpan rows and columns; outside the image lie zeros
    float values[kSizes][kSpan][kSpan + kPad];
};

template <class Number>
IMTORQUE_INLINE void fill_impl(Number, const Field& field, const Patch* patches, Neighbourhood& n) {
    const Patch& largest = patches[n.first + n.sizes - 1];
    const Tile tile{n.top, n.top + kSpan, n.left, n.left + kSpan, largest.ry, largest.rx};
    BoxTables<Number> tables(field, tile, kSpan);
    tables.build_to(tile.bottom);
    for (int k = 0; k < n.sizes; ++k)
        for (int y = 0; y < kSpan; ++y) {
            float* row = n.values[k][y];
            tables.torque_row(patches[n.first + k], n.top + y, 0, kSpan, row);
            for (int x = 0; x < kSpan; ++x)
                if (n.top + y < 0 || n.top + y >= field.height || n.left + x < 0 || n.left + x >= field.width)
                    row[x] = 0;
        }
}
IMTORQUE_DISPATCH(template <class Number> static, fill,
                  (Number number, const Field& field, const Patch* patches, Neighbourhood& n),
                  (number, field, patches, n))

struct Strongest {
    int k, y, x;  // in the neighbourhood
    float strength;
};

Strongest strongest_in(const Neighbourhood& n, int sign) {
    Strongest best{-1, 0, 0, 0};
    for (int k = 0; k < n.sizes; ++k)
        for (int y = 0; y < kSpan; ++y)
            for (int x = 0; x < kSpan; ++x) {
                const float v = n.values[k][y][x], strength = sign == 0 ? std::fabs(v) : sign * v;
                if (strength > best.strength) best = {k, y, x, strength};
            }
    return best;
}

bool has_equal_neighbour(const Neighbourhood& n, const Strongest& at) {
    int equal = 0;
    for (int k = std::max(at.k - 1, 0); k <= std::min(at.k + 1, n.sizes - 1); ++k)
        for (int y = at.y - 1; y <= at.y + 1; ++y)
            for (int x = at.x - 1; x <= at.x + 1; ++x) equal += n.values[k][y][x] == n.values[at.k][at.y][at.x];
    return equal > 1;
}

class Finder {
  public:
    Finder(const Field& field, const std::vector<Patch>& patches, const Request& request)
        : field_(field), patches_(patches), request_(request), widths_(choose_widths(field, patches)) {}

    // Look around (y, x) for the strongest place at some of the sizes from `first` on; keep it if it is an extremum.
    void look(int y, int x, int first, int last) {
        const int count = static_cast<int>(patches_.size());
        for (int i = 0; i < kTries; ++i) {
            n_.first = std::max(0, std::min(first, last - kSizes));
            n_.sizes = std::min(kSizes, std::min(last, count) - n_.first);
            n_.top = y - kAround;
            n_.left = x - kAround;
            compute();
            const Strongest best = strongest_in(n_, request_.sign);
            if (best.k < 0) return;
            const int k = n_.first + best.k;
            const bool inside = best.y > 0 && best.y < kSpan - 1 && best.x > 0 && best.x < kSpan - 1 &&
                                (best.k > 0 || k == 0) && (best.k < n_.sizes - 1 || k == count - 1);
            y = n_.top + best.y;
            x = n_.left + best.x;
            first = k - 3;
            last = k + 4;
            if (!inside) continue;
            const bool end = k == 0 || k == count - 1;
            if (has_equal_neighbour(n_, best) || (end && !request_.end_scales)) return;
            if (known_.insert({k, y, x}).second) strengths_.push_back(best.strength);
            return;
        }
    }
    // The strength of the count-th strongest; 0 where there are fewer.
    float weakest() {
        const size_t count = static_cast<size_t>(request_.count);
        if (strengths_.size() < count) return 0;
        const auto nth = strengths_.begin() + static_cast<ptrdiff_t>(count) - 1;
        std::nth_element(strengths_.begin(), nth, strengths_.end(), std::greater<float>());
        return *nth;
    }
    long long visited() const { return visited_; }

  private:
    void compute() {
        visited_ += static_cast<long long>(n_.sizes) * kSpan * kSpan;
        if (n_.first + n_.sizes <= widths_.narrow)
            fill(Narrow{}, field_, patches_.data(), n_);
        else if (widths_.long_sums)
            fill(WideLong{}, field_, patches_.data(), n_);
        else
            fill(Wide{}, field_, patches_.data(), n_);
    }

    const Field& field_;
    const std::vector<Patch>& patches_;
    const Request& request_;
    Widths widths_;
    Neighbourhood n_;
    std::set<std::tuple<int, int, int>> known_;
    std::vector<float> strengths_;
    long long visited_ = 0;
};

}  // namespace

float strength_of_some(const Field& field, const std::vector<Patch>& patches, const Request& request,
                       long long& visited) {
    if (!(field.largest > 0)) return 0;
    const double steps = steps_of_small(field, patches.back());
    const SmallField small = shrink(field);
    const SmallPatches sizes = shrink(patches, field.steps / steps);
    const SmallMaps maps = maps_of(small, field, steps, sizes);
    std::vector<Peak> peaks = peaks_of(maps.value.data(), small.height, small.width, request.sign);
    const size_t most = std::min(peaks.size(), static_cast<size_t>(request.count + request.count / 4 + 8));
    std::partial_sort(peaks.begin(), peaks.begin() + static_cast<ptrdiff_t>(most), peaks.end(), stronger_peak);
    Finder finder(field, patches, request);
    float weakest = 0;
    for (size_t i = 0; i < most && peaks[i].strength >= kRough * weakest; ++i) {
        const int label = std::abs(maps.scale[static_cast<size_t>(peaks[i].y) * small.width + peaks[i].x]);
        const int y = kBlock * peaks[i].y + kBlock / 2, x = kBlock * peaks[i].x + kBlock / 2;
        finder.look(y, x, sizes.first[label - 1] - 2, sizes.first[label] + 2);
        weakest = finder.weakest();
    }
    visited += finder.visited();
    return weakest;
}

}  // namespace imtorque
