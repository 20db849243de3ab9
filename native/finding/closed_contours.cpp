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

struct Sample {
    float evidence, grey;
    bool seen;
};

Sample sample(const GradientField& field, double y, double x, const Ray& ray, double sign) {
    if (!(y >= -0.5 && x >= -0.5 && y <= field.height - 0.5 && x <= field.width - 0.5)) return {kOutside, 0, false};
    y = std::min(std::max(y, 0.0), field.height - 1.0);
    x = std::min(std::max(x, 0.0), field.width - 1.0);
    const int y0 = static_cast<int>(y), x0 = static_cast<int>(x);
    const int down = y0 + 1 < field.height ? field.width : 0, right = x0 + 1 < field.width ? 1 : 0;
    const double v = y - y0, u = x - x0;
    const size_t at = static_cast<size_t>(y0) * field.width + x0;
    const auto mix = [&](const float* p) {
        return (1 - v) * ((1 - u) * p[at] + u * p[at + right]) +
               v * ((1 - u) * p[at + down] + u * p[at + down + right]);
    };
    return {static_cast<float>(-sign * (mix(field.gy) * ray.ny + mix(field.gx) * ray.nx)),
            static_cast<float>(mix(field.grey)), true};
}

// The workspace of one seed.
struct Search {
    Search(const Rays& r, const Radii& all)
        : rays(r),
          before(all.before),
          depth(static_cast<int>(all.share.size())),
          directions(r.angles),
          samples(static_cast<size_t>(r.angles) * depth),
          best(r.radii + 2 * kSteepest, -1e30f),
          next(best),
          back(static_cast<size_t>(2 * r.angles) * r.radii),
          path(r.angles) {}
    // Samples of ray i: row(i)[0] at the nearest radius searched, row(i)[-before] the first.
    const Sample* row(int i) const { return &samples[static_cast<size_t>(i) * depth + before]; }
    Rays rays;
    int before, depth;  // samples on a ray before the radii searched, and all of them
    std::vector<Ray> directions;
    std::vector<Sample> samples;
    std::vector<float> best, next;
    std::vector<int8_t> back;
    std::vector<int> path;
};

// Fill search.path with the index of the radius on each ray.
void find_path(Search& s) {
    const int angles = s.rays.angles, radii = s.rays.radii, start = angles / 2, steps = angles + 2 * start;
    const auto row = [&](int i) { return s.row((i - start + angles) % angles); };
    // The margins of `best` stay as good as minus infinity, so that no step leaves the radii.
    for (int r = 0; r < radii; ++r) s.best[r + kSteepest] = row(0)[r].evidence;
    const float once = static_cast<float>(s.rays.slope), twice = 2 * once;
    for (int i = 1; i < steps; ++i) {
        const Sample* samples = row(i);
        int8_t* back = &s.back[static_cast<size_t>(i) * radii];
        for (int r = 0; r < radii; ++r) {
            const float* from = &s.best[r + kSteepest];
            float top = from[-2] - twice;
            int8_t step = -2;
            const auto offer = [&](float value, int8_t d) {
                step = value > top ? d : step;
                top = value > top ? value : top;
            };
            offer(from[-1] - once, -1);
            offer(from[0], 0);
            offer(from[1] - once, 1);
            offer(from[2] - twice, 2);
            s.next[r + kSteepest] = top + samples[r].evidence;
            back[r] = step;
        }
        std::swap(s.best, s.next);
    }
    int r = static_cast<int>(std::max_element(s.best.begin(), s.best.end()) - s.best.begin()) - kSteepest;
    for (int i = steps - 1; i > 0; --i) {
        if (i >= start && i < start + angles) s.path[i - start] = r;
        r += s.back[static_cast<size_t>(i) * radii + r];
    }
    if (start == 0) s.path[0] = r;
}

// Mean grey of the band of radii between `from` and `to` (logarithms) about the contour, by the area of each sample.
float band_mean(const Search& s, const Radii& radii, const double* band) {
    double sum = 0, mass = 0;
    for (int i = 0; i < s.rays.angles; ++i) {
        for (int r = -s.before; r < s.depth - s.before; ++r) {
            const double beside = radii.step * (r - s.path[i]);
            const Sample& one = s.row(i)[r];
            if (!one.seen || beside < band[0] || beside > band[1]) continue;
            const double weight = radii.share[r + s.before] * radii.share[r + s.before];
            sum += weight * one.grey;
            mass += weight;
        }
    }
    return mass > 0 ? static_cast<float>(sum / mass) : 0.0f;
}

// The radius on ray i, in fractions of a step: the top of the parabola through the evidence around the path.
double refined(const Search& s, int i) {
    const int r = s.path[i];
    if (r == 0 || r + 1 >= s.rays.radii) return r;
    const Sample* row = s.row(i);
    const double before = row[r - 1].evidence, here = row[r].evidence, after = row[r + 1].evidence;
    const double bend = before - 2 * here + after;
    if (!(bend < 0) || !row[r].seen || !row[r + 1].seen) return r;
    return r + std::min(std::max(0.5 * (before - after) / bend, -0.5), 0.5);
}

// Whether the evidence on ray i still rises beyond the radii searched: then the edge is that of something smaller or
// larger, and says nothing for this contour.
bool cut_off(const Search& s, int i) {
    const int r = s.path[i], last = s.rays.radii - 1;
    const Sample* row = s.row(i);
    if (r <= 1) return row[-1].evidence > row[r + 1].evidence && row[-1].evidence >= row[r].evidence;
    return r >= last - 1 && row[last + 1].evidence > row[r - 1].evidence && row[last + 1].evidence >= row[r].evidence;
}

void search_around(const GradientField& field, const Seeds& seeds, int k, const Radii& radii, Search& s) {
    stretch(seeds.turn[k], seeds.aspect[k], s.directions);
    for (int i = 0; i < s.rays.angles; ++i) {
        const Ray& ray = s.directions[i];
        for (int r = 0; r < s.depth; ++r) {
            const double length = seeds.radius[k] * radii.share[r];
            s.samples[static_cast<size_t>(i) * s.depth + r] =
                sample(field, seeds.y[k] + length * ray.dy, seeds.x[k] + length * ray.dx, ray, seeds.sign[k]);
        }
    }
    find_path(s);
}

}  // namespace

void closed_contours(const GradientField& field, const Seeds& seeds, const Rays& rays, const ContourOut& out) {
    const Radii radii(rays);
    constexpr int kBatch = 32;
    parallel_for((seeds.count + kBatch - 1) / kBatch, 2e4 * kBatch, [&](int batch) {
        Search search(rays, radii);
        for (int k = batch * kBatch; k < std::min(seeds.count, (batch + 1) * kBatch); ++k) {
            search_around(field, seeds, k, radii, search);
            for (int i = 0; i < rays.angles; ++i) {
                const size_t at = static_cast<size_t>(k) * rays.angles + i;
                const double length = seeds.radius[k] * rays.nearest * std::exp(radii.step * refined(search, i));
                const Sample& crossed = search.row(i)[search.path[i]];
                out.y[at] = seeds.y[k] + length * search.directions[i].dy;
                out.x[at] = seeds.x[k] + length * search.directions[i].dx;
                out.evidence[at] = crossed.seen && !cut_off(search, i) ? crossed.evidence : 0.0f;
                out.seen[at] = crossed.seen;
            }
            out.inside[k] = band_mean(search, radii, kInnerBand);
            out.outside[k] = band_mean(search, radii, kOuterBand);
        }
    });
}

}  // namespace imtorque
