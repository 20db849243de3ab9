// The best closed contour around each seed: rays in `angles` directions, a radius on each, so that the gradient across
// the contour is strongest and the radius changes little from ray to ray.
//
//     max over r of  sum over i of  e(i, r_i) - slope |r_{i+1} - r_i|,      |r_{i+1} - r_i| <= 2 steps,
//
// with e = -sign (g . n), the part of the gradient that points to the thing's inside. Found by dynamic programming over
// one and a half turns, of which the middle turn is kept: by then the start has been forgotten, and the ends meet but
// for rare ties. Naive twin: naive.closed_contour.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"
#include "finding/contours.hpp"

namespace imtorque {
namespace {

constexpr double kTwoPi = 6.283185307179586;
constexpr int kSteepest = 2;      // steps of radius from one ray to the next
constexpr float kOutside = 0.3f;  // what a contour gains where it leaves the picture: more than a faint edge inside
constexpr double kBeyond = 0.45;  // logarithm of how far beyond the radii searched grey values are read
constexpr double kInnerBand[] = {-0.7, -0.12}, kOuterBand[] = {0.12, 0.4};  // in logarithms of the radius

struct Ray {
    double dy, dx;  // one unit of radius along the ray
    double ny, nx;  // outward normal of the stretched circle where the ray meets it
};

// Rays of a circle stretched by `aspect` along the direction `turn`, its area kept.
void stretch(double turn, double aspect, std::vector<Ray>& rays) {
    const double c = std::cos(turn), s = std::sin(turn), a = std::sqrt(aspect), b = 1 / a;
    for (size_t i = 0; i < rays.size(); ++i) {
        const double angle = kTwoPi * static_cast<double>(i) / static_cast<double>(rays.size());
        const double u = std::cos(angle), v = std::sin(angle);
        const double nu = b * u, nv = a * v, length = std::hypot(nu, nv);
        rays[i] = {s * a * u + c * b * v, c * a * u - s * b * v, (s * nu + c * nv) / length,
                   (c * nu - s * nv) / length};
    }
}

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

// The gradient with both parts of a pixel side by side, so that a look-up touches one place.
struct Field {
    explicit Field(const GradientField& f) : plain(f), both(2 * static_cast<size_t>(f.height) * f.width) {
        for (size_t i = 0; 2 * i < both.size(); ++i) both[2 * i] = f.gy[i], both[2 * i + 1] = f.gx[i];
    }
    const GradientField& plain;
    std::vector<float> both;
};

// Four pixels around a place, and their shares; `seen` says whether the place lies in the picture. Where all places of
// a seed are known to lie well inside, nothing needs to be asked.
struct Corners {
    Corners(const GradientField& field, double y, double x, bool inside)
        : seen(inside || (y >= -0.5 && x >= -0.5 && y <= field.height - 0.5 && x <= field.width - 0.5)) {
        if (!seen) return;
        if (!inside) {
            y = std::min(std::max(y, 0.0), field.height - 1.0);
            x = std::min(std::max(x, 0.0), field.width - 1.0);
        }
        const int y0 = static_cast<int>(y), x0 = static_cast<int>(x);
        down = inside || y0 + 1 < field.height ? field.width : 0, right = inside || x0 + 1 < field.width ? 1 : 0;
        at = static_cast<size_t>(y0) * field.width + x0;
        v = static_cast<float>(y - y0), u = static_cast<float>(x - x0);
    }
    // Of values `stride` apart from pixel to pixel.
    float mix(const float* p, int stride) const {
        const float* upper = p + stride * at;
        const float* lower = upper + static_cast<ptrdiff_t>(stride) * down;
        const int next = stride * right;
        return (1 - v) * ((1 - u) * upper[0] + u * upper[next]) + v * ((1 - u) * lower[0] + u * lower[next]);
    }
    bool seen;
    int down = 0, right = 0;
    size_t at = 0;
    float v = 0, u = 0;
};

// The workspace of one seed. Ray i has evidence for the radii searched and one more at either end: row(i)[0] at the
// nearest radius searched, row(i)[-1] just before it.
struct Search {
    Search(const Rays& r, const Radii& all)
        : rays(r),
          before(all.before),
          depth(static_cast<int>(all.share.size())),
          directions(r.angles),
          evidence(static_cast<size_t>(r.angles) * (r.radii + 2)),
          seen(evidence.size()),
          best(static_cast<size_t>(2 * r.angles) * (r.radii + 2 * kSteepest), -1e30f),
          path(r.angles) {}
    const float* row(int i) const { return &evidence[static_cast<size_t>(i) * (rays.radii + 2) + 1]; }
    // The best sums over the paths that end at each radius of step i; beyond the radii as good as minus infinity.
    float* sums(int i) { return &best[static_cast<size_t>(i) * (rays.radii + 2 * kSteepest) + kSteepest]; }
    bool in_picture(int i, int r) const { return seen[static_cast<size_t>(i) * (rays.radii + 2) + 1 + r]; }
    Rays rays;
    int before, depth;  // radii before those searched at which grey values are read, and all of them
    std::vector<Ray> directions;
    std::vector<float> evidence;
    std::vector<uint8_t> seen;
    std::vector<float> best;
    std::vector<int> path;
};

// Fill search.path with the index of the radius on each ray. Only sums are kept; where the best path to a radius came
// from is asked again on the way back.
void find_path(Search& s) {
    const int angles = s.rays.angles, radii = s.rays.radii, start = angles / 2, steps = angles + 2 * start;
    const auto row = [&](int i) { return s.row((i - start + angles) % angles); };
    const float once = static_cast<float>(s.rays.slope), twice = 2 * once;
    std::copy(row(0), row(0) + radii, s.sums(0));
    for (int i = 1; i < steps; ++i) {
        const float* evidence = row(i);
        const float* from = s.sums(i - 1);
        float* to = s.sums(i);
        for (int r = 0; r < radii; ++r) {
            const float near = std::max(from[r - 1], from[r + 1]) - once,
                        far = std::max(from[r - 2], from[r + 2]) - twice;
            to[r] = std::max(from[r], std::max(near, far)) + evidence[r];
        }
    }
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

// Whether everything within the farthest radius searched lies inside the picture, with a pixel beyond.
bool well_inside(const GradientField& field, const Seeds& seeds, int k, const Radii& radii, const Search& s) {
    const double reach = seeds.radius[k] * std::sqrt(std::max(seeds.aspect[k], 1 / seeds.aspect[k])) *
                         radii.share[s.rays.radii + s.before];
    return seeds.y[k] - reach >= 0 && seeds.x[k] - reach >= 0 && seeds.y[k] + reach < field.height - 1 &&
           seeds.x[k] + reach < field.width - 1;
}

// Where ray i of seed k has radius r.
Corners place(const GradientField& field, const Seeds& seeds, int k, const Radii& radii, const Search& s, int i, int r,
              bool inside = false) {
    const double length = seeds.radius[k] * radii.share[r + s.before];
    const Ray& ray = s.directions[i];
    return {field, seeds.y[k] + length * ray.dy, seeds.x[k] + length * ray.dx, inside};
}

// Mean grey of the band of radii between `from` and `to` (logarithms) about the contour, by the area of each sample.
float band_mean(const GradientField& field, const Seeds& seeds, int k, const Search& s, const Radii& radii,
                const double* band) {
    double sum = 0, mass = 0;
    const int first = static_cast<int>(std::ceil(band[0] / radii.step)),
              last = static_cast<int>(std::floor(band[1] / radii.step));
    for (int i = 0; i < s.rays.angles; ++i) {
        const int from = std::max(s.path[i] + first, -s.before);
        const int to = std::min(s.path[i] + last, s.depth - s.before - 1);
        for (int r = from; r <= to; ++r) {
            const Corners at = place(field, seeds, k, radii, s, i, r);
            if (!at.seen) continue;
            const double weight = radii.share[r + s.before] * radii.share[r + s.before];
            sum += weight * at.mix(field.grey, 1);
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
    if (!(bend < 0) || !s.in_picture(i, r) || !s.in_picture(i, r + 1)) return r;
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

template <bool kInside>
void gather(const Field& field, const Seeds& seeds, int k, const Radii& radii, Search& s) {
    const float sign = static_cast<float>(-seeds.sign[k]);
    for (int i = 0; i < s.rays.angles; ++i) {
        const float ny = sign * static_cast<float>(s.directions[i].ny),
                    nx = sign * static_cast<float>(s.directions[i].nx);
        const size_t start = static_cast<size_t>(i) * (s.rays.radii + 2);
        for (int r = -1; r <= s.rays.radii; ++r) {
            const Corners at = place(field.plain, seeds, k, radii, s, i, r, kInside);
            s.seen[start + 1 + r] = at.seen;
            s.evidence[start + 1 + r] =
                at.seen ? ny * at.mix(field.both.data(), 2) + nx * at.mix(field.both.data() + 1, 2) : kOutside;
        }
    }
}

void search_around(const Field& field, const Seeds& seeds, int k, const Radii& radii, Search& s) {
    stretch(seeds.turn[k], seeds.aspect[k], s.directions);
    if (well_inside(field.plain, seeds, k, radii, s))
        gather<true>(field, seeds, k, radii, s);
    else
        gather<false>(field, seeds, k, radii, s);
    find_path(s);
}

}  // namespace

void closed_contours(const GradientField& plain, const Seeds& seeds, const Rays& rays, const ContourOut& out) {
    const Radii radii(rays);
    const Field field(plain);
    constexpr int kBatch = 32;
    parallel_for((seeds.count + kBatch - 1) / kBatch, 2e4 * kBatch, [&](int batch) {
        Search search(rays, radii);
        for (int k = batch * kBatch; k < std::min(seeds.count, (batch + 1) * kBatch); ++k) {
            search_around(field, seeds, k, radii, search);
            for (int i = 0; i < rays.angles; ++i) {
                const size_t at = static_cast<size_t>(k) * rays.angles + i;
                const double length = seeds.radius[k] * rays.nearest * std::exp(radii.step * refined(search, i));
                const bool seen = search.in_picture(i, search.path[i]);
                out.y[at] = seeds.y[k] + length * search.directions[i].dy;
                out.x[at] = seeds.x[k] + length * search.directions[i].dx;
                out.evidence[at] = seen && !cut_off(search, i) ? search.row(i)[search.path[i]] : 0.0f;
                out.seen[at] = seen;
            }
            out.inside[k] = band_mean(plain, seeds, k, search, radii, kInnerBand);
            out.outside[k] = band_mean(plain, seeds, k, search, radii, kOuterBand);
        }
    });
}

}  // namespace imtorque
