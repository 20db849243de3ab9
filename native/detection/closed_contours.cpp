// The best closed contour around each seed: rays in `angles` directions, a radius on each, so that the gradient across
// the contour is strongest and the radius changes little from ray to ray.
//
//     max over r of  sum over i of  e(i, r_i) - slope |r_{i+1} - r_i|,      |r_{i+1} - r_i| <= 2 steps,
//
// with e = -sign (g . n), the part of the gradient that points to the object's inside. Found by dynamic programming
// over one and a half turns, of which the middle turn is kept: by then the start has been forgotten, and the ends meet
// but for rare ties. Naive twin: naive.closed_contour.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "detection/contours.hpp"
#include "detection/rays.hpp"

namespace imtorque {
namespace {

constexpr int kSteepest = 2;      // steps of radius from one ray to the next
constexpr float kOutside = 0.3f;  // what a contour gains where it leaves the image: more than a faint edge inside
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr double kBeyond = 0.45;  // logarithm of how far beyond the radii searched grey values are read
constexpr double kInnerBand[] = {-0.7, -0.12}, kOuterBand[] = {0.12, 0.4};  // in logarithms of the radius

// Radii as shares of the seed's, `before` of them nearer than those searched and as many farther, for the grey values
// on either side of a contour; `step` is the logarithm of the ratio of neighbours.
struct Radii {
    Radii(const Rays& rays)
        : step(std::log(rays.farthest / rays.nearest) / (rays.radii - 1)),
          before(static_cast<int>(std::ceil(kBeyond / step))),
          share(rays.radii + 2 * before) {
        for (size_t r = 0; r < share.size(); ++r)
            share[r] = rays.nearest * std::exp(step * (static_cast<double>(r) - before));
    }
    double step;
    int before;
    std::vector<double> share;
};

// The workspace of one seed. Ray i has evidence for the radii searched and one more at either end: row(i)[0] at the
// nearest radius searched, row(i)[-1] just before it.
struct Search {
    Search(const Rays& r, const Radii& all)
        : rays(r),
          before(all.before),
          depth(static_cast<int>(all.share.size())),
          directions(r.angles),
          places(all.share.size()),
          evidence(static_cast<size_t>(r.angles) * (r.radii + 2)),
          seen(evidence.size()),
          best(static_cast<size_t>(2 * r.angles) * (r.radii + 2 * kSteepest), -1e30f),
          path(r.angles) {}
    const float* row(int i) const { return &evidence[static_cast<size_t>(i) * (rays.radii + 2) + 1]; }
    // The best sums over the paths that end at each radius of step i; beyond the radii as good as minus infinity.
    float* sums(int i) { return &best[static_cast<size_t>(i) * (rays.radii + 2 * kSteepest) + kSteepest]; }
    bool in_image(int i, int r) const { return seen[static_cast<size_t>(i) * (rays.radii + 2) + 1 + r]; }
    Rays rays;
    int before, depth;  // radii before those searched at which grey values are read, and all of them
    std::vector<Ray> directions;
    Places places;
    std::vector<float> evidence;
    std::vector<uint8_t> seen;
    std::vector<float> best;
    std::vector<int> path;
};

// The best sums of each radius of a ray, from those of the ray before.
IMTORQUE_INLINE void extend_impl(const float* from, const float* evidence, float once, int radii, float* to) {
    const float twice = 2 * once;
    IMTORQUE_IVDEP
    for (int r = 0; r < radii; ++r) {
        const float near = std::max(from[r - 1], from[r + 1]) - once, far = std::max(from[r - 2], from[r + 2]) - twice;
        to[r] = std::max(from[r], std::max(near, far)) + evidence[r];
    }
}
IMTORQUE_DISPATCH(static, extend, (const float* from, const float* evidence, float once, int radii, float* to),
                  (from, evidence, once, radii, to))

// Fill search.path with the index of the radius on each ray. Only sums are kept; where the best path to a radius came
// from is asked again on the way back.
void find_path(Search& s) {
    const int angles = s.rays.angles, radii = s.rays.radii, start = angles / 2, steps = angles + 2 * start;
    const auto row = [&](int i) { return s.row((i - start + angles) % angles); };
    const float once = static_cast<float>(s.rays.slope), twice = 2 * once;
    std::copy(row(0), row(0) + radii, s.sums(0));
    for (int i = 1; i < steps; ++i) extend(s.sums(i - 1), row(i), once, radii, s.sums(i));
    const float* last = s.sums(steps - 1);
    int r = static_cast<int>(std::max_element(last, last + radii) - last);
    for (int i = steps - 1; i > 0; --i) {
        if (i >= start && i < start + angles) s.path[i - start] = r;
        const float* from = s.sums(i - 1);
        const float costs[] = {twice, once, 0, once, twice};
        int best = r - kSteepest;
        for (int d = -kSteepest + 1; d <= kSteepest; ++d)
            if (from[r + d] - costs[d + kSteepest] > from[best] - costs[best - r + kSteepest]) best = r + d;
        r = best;
    }
    if (start == 0) s.path[0] = r;
}

// Mean grey of the band of radii between `from` and `to` (logarithms) about the contour, by the area of each sample.
float band_mean(const Field& field, const Seeds& seeds, int k, const Radii& radii, const double* band, Search& s) {
    double sum = 0, mass = 0;
    const int first = static_cast<int>(std::ceil(band[0] / radii.step)),
              last = static_cast<int>(std::floor(band[1] / radii.step));
    const Places& at = s.places;
    for (int i = 0; i < s.rays.angles; ++i) {
        const int from = std::max(s.path[i] + first + s.before, 0);
        const int n = std::min(s.path[i] + last + s.before, s.depth - 1) - from + 1;
        const double* share = &radii.share[from];
        follow({seeds.y[k], seeds.x[k], seeds.radius[k], s.directions[i]}, share, n, field.height, field.width,
               s.places);
        for (int r = 0; r < n; ++r) {
            if (at.seen[r] == 0) continue;
            const float v = at.down[r], u = at.right[r];
            const float* upper = &field.grey[at.y[r] * field.pitch + at.x[r]];
            const float* lower = upper + field.pitch;
            const double weight = share[r] * share[r];
            sum += weight * ((1 - v) * ((1 - u) * upper[0] + u * upper[1]) + v * ((1 - u) * lower[0] + u * lower[1]));
            mass += weight;
        }
    }
    return mass > 0 ? static_cast<float>(sum / mass) : 0.0f;
}

// The radius on ray i, in fractions of a step: the top of the parabola through the evidence around the path.
double refined(const Search& s, int i) {
    const int r = s.path[i];
    if (r == 0 || r + 1 >= s.rays.radii) return r;
    const float* row = s.row(i);
    const double before = row[r - 1], here = row[r], after = row[r + 1];
    const double bend = before - 2 * here + after;
    if (!(bend < 0) || !s.in_image(i, r) || !s.in_image(i, r + 1)) return r;
    return r + std::min(std::max(0.5 * (before - after) / bend, -0.5), 0.5);
}

// Whether the evidence on ray i still rises beyond the radii searched: then the edge is that of something smaller or
// larger, and says nothing for this contour.
bool cut_off(const Search& s, int i) {
    const int r = s.path[i], last = s.rays.radii - 1;
    const float* row = s.row(i);
    if (r <= 1) return row[-1] > row[r + 1] && row[-1] >= row[r];
    return r >= last - 1 && row[last + 1] > row[r - 1] && row[last + 1] >= row[r];
}

typedef float Four __attribute__((vector_size(16)));

// The gradient along (ny, nx) at each place of a ray: both parts of two neighbouring pixels at a time.
void read_evidence(const Field& field, const Places& places, float ny, float nx, int n, float* evidence) {
    for (int r = 0; r < n; ++r) {
        const float v = places.down[r], u = places.right[r];
        const float* at = &field.both[2 * (places.y[r] * field.pitch + places.x[r])];
        Four upper, lower;
        std::memcpy(&upper, at, sizeof upper);
        std::memcpy(&lower, at + 2 * field.pitch, sizeof lower);
        const Four shares = {1 - u, 1 - u, u, u};
        upper *= shares, lower *= shares;
        const float gy = (1 - v) * (upper[0] + upper[2]) + v * (lower[0] + lower[2]);
        const float gx = (1 - v) * (upper[1] + upper[3]) + v * (lower[1] + lower[3]);
        evidence[r] = places.seen[r] != 0 ? ny * gy + nx * gx : kOutside;
    }
}

void gather(const Field& field, const Seeds& seeds, int k, const Radii& radii, Search& s) {
    const float sign = static_cast<float>(-seeds.sign[k]);
    const int n = s.rays.radii + 2;
    for (int i = 0; i < s.rays.angles; ++i) {
        const Ray& ray = s.directions[i];
        follow({seeds.y[k], seeds.x[k], seeds.radius[k], ray}, &radii.share[s.before - 1], n, field.height, field.width,
               s.places);
        const size_t start = static_cast<size_t>(i) * n;
        read_evidence(field, s.places, sign * static_cast<float>(ray.ny), sign * static_cast<float>(ray.nx), n,
                      &s.evidence[start]);
        for (int r = 0; r < n; ++r) s.seen[start + r] = s.places.seen[r] != 0;
    }
}

void search_around(const Field& field, const Seeds& seeds, int k, const Radii& radii, const Turns& turns, Search& s) {
    stretch(seeds.turn[k], seeds.aspect[k], turns, s.directions);
    gather(field, seeds, k, radii, s);
    find_path(s);
}

// Write the contour of seed k; return whether the mean of its evidence may reach what is asked for.
bool write_contour(const Seeds& seeds, int k, const Rays& rays, const Radii& radii, const Search& search,
                   const ContourOut& out) {
    double evidence = 0, points = 0;
    for (int i = 0; i < rays.angles; ++i) {
        const size_t at = static_cast<size_t>(k) * rays.angles + i;
        const double length = seeds.radius[k] * rays.nearest * std::exp(radii.step * refined(search, i));
        const bool seen = search.in_image(i, search.path[i]);
        out.y[at] = seeds.y[k] + length * search.directions[i].dy;
        out.x[at] = seeds.x[k] + length * search.directions[i].dx;
        out.evidence[at] = seen && !cut_off(search, i) ? search.row(i)[search.path[i]] : 0.0f;
        out.seen[at] = seen;
        evidence += out.evidence[at], points += seen;
    }
    return evidence >= seeds.worth[k] * points - 1e-6;
}

// The seeds by strips of the image and from left to right in each: neighbours read the same pixels, which are still
// at hand then.
std::vector<int> by_place(const Seeds& seeds) {
    constexpr double kStrip = 16;
    std::vector<int> order(seeds.count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const double above = std::floor(seeds.y[a] / kStrip), below = std::floor(seeds.y[b] / kStrip);
        return std::tie(above, seeds.x[a], a) < std::tie(below, seeds.x[b], b);
    });
    return order;
}

}  // namespace

void closed_contours(const GradientField& plain, const Seeds& seeds, const Rays& rays, const ContourOut& out) {
    const Radii radii(rays);
    const Turns turns(rays.angles);
    const Field field(plain);
    const std::vector<int> order = by_place(seeds);
    constexpr int kBatch = 32;
    parallel_for((seeds.count + kBatch - 1) / kBatch, 1e4 * kBatch, [&](int batch) {
        Search search(rays, radii);
        for (int n = batch * kBatch; n < std::min(seeds.count, (batch + 1) * kBatch); ++n) {
            const int k = order[n];
            search_around(field, seeds, k, radii, turns, search);
            const bool worthy = write_contour(seeds, k, rays, radii, search, out);
            out.inside[k] = worthy ? band_mean(field, seeds, k, radii, kInnerBand, search) : kUnknown;
            out.outside[k] = worthy ? band_mean(field, seeds, k, radii, kOuterBand, search) : kUnknown;
        }
    });
}

}  // namespace imtorque
