// From pixels to grey values, and from gradients at edges to forces: the small steps at either end of edge detection.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "edges/canny.hpp"

namespace imtorque {
namespace {

constexpr double kRed = 0.2125, kGreen = 0.7154, kBlue = 0.0721;  // luminance, Rec. 709
constexpr double kPi = 3.14159265358979323846;
constexpr long long kChunk = 1 << 16;

template <class Task>
void in_chunks(long long count, double nanoseconds, const Task& task) {
    parallel_for(static_cast<int>((count + kChunk - 1) / kChunk), nanoseconds * kChunk,
                 [&](int c) { task(c * kChunk, std::min(count, (c + 1) * kChunk)); });
}

template <class T>
IMTORQUE_INLINE void scale_grey_impl(const T* pixels, int count, double offset, double scale, float* __restrict grey) {
    IMTORQUE_IVDEP
    for (int i = 0; i < count; ++i) grey[i] = static_cast<float>((static_cast<double>(pixels[i]) - offset) * scale);
}
IMTORQUE_DISPATCH(template <class T> static, scale_grey,
                  (const T* pixels, int count, double offset, double scale, float* grey),
                  (pixels, count, offset, scale, grey))

}  // namespace

template <class T>
void to_grey(const T* pixels, long long count, int channels, double white, double offset, double scale, float* grey) {
    in_chunks(count, 0.5 * channels, [&](long long from, long long to) {
        if (channels == 1) return scale_grey(pixels + from, static_cast<int>(to - from), offset, scale, grey + from);
        for (long long i = from; i < to; ++i) {
            const T* p = pixels + i * channels;
            double luminance = kRed * static_cast<double>(p[0]) + kGreen * static_cast<double>(p[1]) +
                               kBlue * static_cast<double>(p[2]);
            if (channels == 4) {
                const double alpha = std::clamp(static_cast<double>(p[3]) / white, 0.0, 1.0);
                luminance = alpha * luminance + (1 - alpha) * white;
            }
            grey[i] = static_cast<float>((luminance - offset) * scale);
        }
    });
}
template void to_grey(const uint8_t*, long long, int, double, double, double, float*);
template void to_grey(const uint16_t*, long long, int, double, double, double, float*);
template void to_grey(const float*, long long, int, double, double, double, float*);
template void to_grey(const double*, long long, int, double, double, double, float*);

namespace {

// Unit vectors, or vectors over `scale`, with nothing else to do: no branches, so that the loop vectorises.
IMTORQUE_INLINE void scale_forces_impl(float* __restrict fx, float* __restrict fy, int count, bool unit, float scale) {
    IMTORQUE_IVDEP
    for (int i = 0; i < count; ++i) {
        const float square = fx[i] * fx[i] + fy[i] * fy[i];
        const float length = unit ? std::sqrt(square) : scale;
        fx[i] = square > 0 ? fx[i] / length : 0.0f;
        fy[i] = square > 0 ? fy[i] / length : 0.0f;
    }
}
IMTORQUE_DISPATCH(static, scale_forces, (float* fx, float* fy, int count, bool unit, float scale),
                  (fx, fy, count, unit, scale))

}  // namespace

void shape_force(float& fx, float& fy, const Shaping& shaping) {
    const double length = std::hypot(static_cast<double>(fx), static_cast<double>(fy));
    double ux = fx / length, uy = fy / length;
    if (shaping.directions > 0) {
        const double turn = 2 * kPi / shaping.directions;
        const double angle = std::round(std::atan2(uy, ux) / turn) * turn;
        ux = std::cos(angle);
        uy = std::sin(angle);
        if (std::fabs(ux) < 1e-12) ux = 0;
        if (std::fabs(uy) < 1e-12) uy = 0;
    }
    double size = shaping.scale > 0 ? length / shaping.scale : 1.0;
    if (shaping.arc_length) size /= std::max(std::fabs(ux), std::fabs(uy));
    fx = static_cast<float>(ux * size);
    fy = static_cast<float>(uy * size);
}

void shape_forces(float* fx, float* fy, long long count, const Shaping& shaping) {
    in_chunks(count, 1, [&](long long from, long long to) {
        if (shaping.simple()) {
            scale_forces(fx + from, fy + from, static_cast<int>(to - from), shaping.scale <= 0,
                         static_cast<float>(shaping.scale));
            return;
        }
        for (long long i = from; i < to; ++i)
            if (fx[i] != 0 || fy[i] != 0) shape_force(fx[i], fy[i], shaping);
    });
}

}  // namespace imtorque
