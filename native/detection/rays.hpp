// Rays about a seed, and where they meet an image.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/simd.hpp"
#include "detection/contours.hpp"

namespace imtorque {

struct Ray {
    double dy, dx;  // one unit of radius along the ray
    double ny, nx;  // outward normal of the stretched circle where the ray meets it
};

// Directions of the rays before the circle is stretched.
struct Turns {
    explicit Turns(int angles) : u(angles), v(angles) {
        for (int i = 0; i < angles; ++i) {
            const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(angles);
            u[i] = std::cos(angle), v[i] = std::sin(angle);
        }
    }
    std::vector<double> u, v;
};

// Rays of a circle stretched by `aspect` along the direction `turn`, its area kept.
inline void stretch(double turn, double aspect, const Turns& turns, std::vector<Ray>& rays) {
    const double c = std::cos(turn), s = std::sin(turn), a = std::sqrt(aspect), b = 1 / a;
    for (size_t i = 0; i < rays.size(); ++i) {
        const double u = turns.u[i], v = turns.v[i];
        const double nu = b * u, nv = a * v, length = std::hypot(nu, nv);
        rays[i] = {s * a * u + c * b * v, c * a * u - s * b * v, (s * nu + c * nv) / length,
                   (c * nu - s * nv) / length};
    }
}

// An image with its gradient, both parts of a pixel side by side, so that a look-up touches two places. The last row
// and column stand twice: there is a pixel below and to the right of each.
struct Field {
    explicit Field(const GradientField& f)
        : height(f.height),
          width(f.width),
          pitch(f.width + 1),
          both(2 * (f.height + 1) * pitch),
          grey(both.size() / 2) {
        for (size_t y = 0; y <= static_cast<size_t>(f.height); ++y)
            for (size_t x = 0; x < pitch; ++x) {
                const size_t from = std::min<size_t>(y, f.height - 1) * f.width + std::min<size_t>(x, f.width - 1);
                const size_t to = y * pitch + x;
                both[2 * to] = f.gy[from], both[2 * to + 1] = f.gx[from], grey[to] = f.grey[from];
            }
    }
    int height, width;
    size_t pitch;  // pixels from one row to the next
    std::vector<float> both, grey;
};

// Where one ray meets some radii: the pixel up and left of each place, the shares of those below and to the right, and
// whether it lies in the image.
struct Places {
    explicit Places(size_t n) : y(n), x(n), down(n), right(n), seen(n) {}
    std::vector<int32_t> y, x;
    std::vector<float> down, right;
    std::vector<float> seen;  // 1 or 0
};

// A seed's circle, and a ray of it.
struct Line {
    double y, x, radius;
    Ray ray;
};

// Fill places with where the line has `n` radii, shares of the circle's.
IMTORQUE_INLINE void follow_impl(const Line& line, const double* share, int n, int height, int width, Places& places) {
    const double bottom = height - 1.0, end = width - 1.0, below = height - 0.5, beside = width - 0.5;
    int32_t *row = places.y.data(), *column = places.x.data();
    float *down = places.down.data(), *right = places.right.data(), *seen = places.seen.data();
    IMTORQUE_IVDEP
    for (int r = 0; r < n; ++r) {
        const double length = line.radius * share[r];
        const double y = line.y + length * line.ray.dy, x = line.x + length * line.ray.dx;
        const double v = std::min(std::max(y, 0.0), bottom), u = std::min(std::max(x, 0.0), end);
        const int32_t y0 = static_cast<int32_t>(v), x0 = static_cast<int32_t>(u);
        row[r] = y0, column[r] = x0;
        down[r] = static_cast<float>(v - y0), right[r] = static_cast<float>(u - x0);
        seen[r] = static_cast<float>((y >= -0.5) & (x >= -0.5) & (y <= below) & (x <= beside));
    }
}
IMTORQUE_DISPATCH(static, follow, (const Line& line, const double* share, int n, int height, int width, Places& places),
                  (line, share, n, height, width, places))

}  // namespace imtorque
