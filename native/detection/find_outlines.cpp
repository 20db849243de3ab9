// Outlines found in an image: the best closed path over directions, or where rays leave a region; and what lies on
// them. Naive twins: naive.best_outline, naive.outline_profile, naive.outline_diameters, naive.outline_contrast.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "detection/outlines.hpp"

namespace imtorque {
namespace {

constexpr int kChunk = 32;

void in_chunks(int count, const std::function<void(int)>& task) {
    parallel_for((count + kChunk - 1) / kChunk, 2e4 * kChunk, [&](int chunk) {
        for (int i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) task(i);
    });
}

// The same, for outlines near each other one after the other, which find the image in the cache.
void in_places(const Outlines& outlines, const std::function<void(int)>& task) {
    constexpr int kBand = 32;  // rows that are gone through from left to right
    const auto whole = [](float v) { return v >= 0 && v < 1e9f ? static_cast<int>(v) : 0; };
    const auto key = [&](int i) { return std::make_pair(whole(outlines.y[i]) / kBand, whole(outlines.x[i])); };
    std::vector<int> order(outlines.count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int i, int j) { return key(i) < key(j); });
    in_chunks(outlines.count, [&](int i) { task(order[i]); });
}

// Planes with the values of a pixel side by side, so that a look-up touches the same memory for all of them, and eight
// planes, or as many zeros, make one vector.
struct Pixels {
    int height, width, blocks;
    std::vector<float> values;  // (height, width, blocks, kLanes)

    Pixels(const float* stack, int count, int h, int w)
        : height(h),
          width(w),
          blocks((count + kLanes - 1) / kLanes),
          values(static_cast<std::size_t>(height) * width * blocks * kLanes) {
        const std::size_t size = static_cast<std::size_t>(height) * width, pitch = blocks * kLanes;
        parallel_for(height, 1.0 * count * width, [&](int y) {
            const std::size_t start = static_cast<std::size_t>(y) * width;
            for (int c = 0; c < count; ++c)
                for (std::size_t p = start; p < start + width; ++p) values[p * pitch + c] = stack[c * size + p];
        });
    }

    bool holds(float y, float x) const { return y >= 0 && x >= 0 && y <= height - 1 && x <= width - 1; }

    // Add the values at (y, x), which must lie within, and their squares; bilinear, as Plane32::at.
    void add(float y, float x, double* sums, double* squares) const {
        const int top = std::min(static_cast<int>(y), std::max(height - 2, 0)),
                  left = std::min(static_cast<int>(x), std::max(width - 2, 0));
        const float fy = y - top, fx = x - left;
        const std::size_t pitch = static_cast<std::size_t>(blocks) * kLanes;
        const std::size_t right = width > 1 ? pitch : 0, below = height > 1 ? width * pitch : 0;
        const float* corner = values.data() + (static_cast<std::size_t>(top) * width + left) * pitch;
        for (std::size_t c = 0; c < pitch; c += kLanes) {
            Lanes<float> a, b, d, e;
            load(corner + c, a), load(corner + right + c, b);
            load(corner + below + c, d), load(corner + below + right + c, e);
            const Lanes<float> value = (1 - fy) * ((1 - fx) * a + fx * b) + fy * ((1 - fx) * d + fx * e);
            for (int lane = 0; lane < kLanes; ++lane) {
                const double one = value[lane];
                sums[c + lane] += one, squares[c + lane] += one * one;
            }
        }
    }
};

constexpr int kFar = 2;  // steps that the radius may change by between neighbouring directions

// One direction further: the best sum for each step, and by how many steps it changed to get there. `best` has kFar
// values that cannot win before and after its own, and both have room for whole vectors.
IMTORQUE_INLINE void advance_impl(const float* best, const float* gain, int steps, float stiffness, float* next,
                                  int32_t* back) {
    for (int s = 0; s < steps; s += kLanes) {
        Lanes<float> top, own;
        Lanes<int32_t> move = {};
        load(best + s, top);
        load(gain + s, own);
        for (int shift = -kFar; shift <= kFar; ++shift) {
            if (shift == 0) continue;
            Lanes<float> value;
            load(best + s + shift, value);
            value = value - stiffness * shift * shift;
            const Lanes<int32_t> better = value > top;
            move = better ? move * 0 + shift : move;
            top = better ? value : top;
        }
        store(top + own, next + s);
        store(move, back + s);
    }
    for (int s = steps; s < steps + kFar; ++s) next[s] = -std::numeric_limits<float>::infinity();
}
IMTORQUE_DISPATCH(static, advance,
                  (const float* best, const float* gain, int steps, float stiffness, float* next, int32_t* back),
                  (best, gain, steps, stiffness, next, back))

// The best cyclic path over a table (angles, pitch) of gains, `steps` of them in a row: twice around from a free start,
// then the second round from where it passes the seam, which must close: start and end are held equal.
struct PathFinder {
    int angles, steps, pitch;
    float stiffness;
    std::vector<float> first, second;
    float *best, *next;
    std::vector<int32_t> from;  // (angles, pitch)

    PathFinder(int a, int s, float stiff)
        : angles(a),
          steps(s),
          pitch((s + kLanes - 1) / kLanes * kLanes),
          stiffness(stiff),
          first(pitch + 2 * kFar, -std::numeric_limits<float>::infinity()),
          second(first),
          best(first.data() + kFar),
          next(second.data() + kFar),
          from(static_cast<std::size_t>(angles) * pitch) {}

    void go_around(const std::vector<float>& gain) {
        for (int k = 0; k < angles; ++k) {
            advance(best, gain.data() + k * pitch, steps, stiffness, next, from.data() + k * pitch);
            std::swap(best, next);
        }
    }

    void solve(const std::vector<float>& gain, std::vector<int>& path) {
        std::fill_n(best, steps, 0.0f);
        for (int round = 0; round < 2; ++round) go_around(gain);
        int s = static_cast<int>(std::max_element(best, best + steps) - best);
        int seam = s;
        for (int k = angles - 1; k >= 0; --k) seam += from[k * pitch + seam];
        std::fill_n(best, steps, -1e30f);
        best[seam] = 0;
        go_around(gain);
        s = seam;
        for (int near = 1; best[s] <= -1e29f && near < steps; ++near)  // unreachable only where moves are too short
            if (seam - near >= 0 && best[seam - near] > -1e29f)
                s = seam - near;
            else if (seam + near < steps && best[seam + near] > -1e29f)
                s = seam + near;
        for (int k = angles - 1; k >= 0; --k) {
            path[k] = s;
            s += from[k * pitch + s];
        }
    }
};

}  // namespace

void find_outlines(const float* gx, const float* gy, int height, int width, const float* y, const float* x,
                   const float* radius, const int8_t* sign, int count, int angles, const Search& search, float* radii,
                   float* mean) {
    const Directions directions(angles);
    const Plane32 across{gx, height, width}, down{gy, height, width};
    const int steps = search.steps;
    std::vector<float> parts(steps), costs(steps);
    for (int s = 0; s < steps; ++s) {
        parts[s] = search.low + (search.high - search.low) * s / (steps - 1);
        costs[s] = search.attraction * std::fabs(std::log(parts[s]));
    }
    in_chunks(count, [&](int i) {
        PathFinder finder(angles, steps, search.stiffness);
        std::vector<float> gain(finder.from.size()), field(gain.size());
        std::vector<int> path(angles);
        for (int k = 0; k < angles; ++k)
            for (int s = 0; s < steps; ++s) {
                const float r = parts[s] * radius[i];
                const float py = y[i] + r * directions.sine[k], px = x[i] + r * directions.cosine[k];
                float value = 0;
                if (across.holds(py, px))
                    value =
                        -sign[i] * (directions.cosine[k] * across.at(py, px) + directions.sine[k] * down.at(py, px));
                field[k * finder.pitch + s] = value;
                gain[k * finder.pitch + s] = value - costs[s];
            }
        finder.solve(gain, path);
        float total = 0;
        for (int k = 0; k < angles; ++k) {
            radii[static_cast<std::size_t>(i) * angles + k] = parts[path[k]] * radius[i];
            total += field[k * finder.pitch + path[k]];
        }
        mean[i] = total / angles;
    });
}

void label_outlines(const int32_t* labels, int height, int width, const int32_t* number, const float* y, const float* x,
                    int count, int angles, const float* reach, float* radii) {
    const Directions directions(angles);
    const float farthest = static_cast<float>(height) + static_cast<float>(width);  // that two pixels are apart
    const auto within = [&](int py, int px) { return py >= 0 && px >= 0 && py < height && px < width; };
    in_chunks(count, [&](int i) {
        // Inwards, as the last pixel of the region ends the search; from a centre outside there is nothing to leave.
        const bool inside = within(nearest(y[i]), nearest(x[i]));
        for (int k = 0; k < angles; ++k) {
            int step = inside ? 1 + static_cast<int>(2 * std::min(farthest, std::max(0.0f, reach[i]))) : 0;
            for (; step > 0; --step) {
                const float r = 0.5f * static_cast<float>(step - 1);
                const int py = nearest(y[i] + r * directions.sine[k]), px = nearest(x[i] + r * directions.cosine[k]);
                if (within(py, px) && labels[static_cast<std::size_t>(py) * width + px] == number[i]) break;
            }
            radii[static_cast<std::size_t>(i) * angles + k] = 0.5f * static_cast<float>(std::max(step, 1));
        }
    });
}

void outline_profiles(const float* planes, int plane_count, int height, int width, const Outlines& outlines,
                      const float* parts, int part_count, float* profiles) {
    const Directions directions(outlines.angles);
    const Pixels pixels(planes, plane_count, height, width);
    in_places(outlines, [&](int i) {
        const float* radii = outlines.radii + static_cast<std::size_t>(i) * outlines.angles;
        std::vector<double> sums(pixels.blocks * kLanes), squares(sums.size());
        for (int j = 0; j < part_count; ++j) {
            std::fill(sums.begin(), sums.end(), 0.0);
            std::fill(squares.begin(), squares.end(), 0.0);
            int seen = 0;
            for (int k = 0; k < outlines.angles; ++k) {
                const float r = parts[j] * radii[k];
                const float py = outlines.y[i] + r * directions.sine[k], px = outlines.x[i] + r * directions.cosine[k];
                if (!pixels.holds(py, px)) continue;
                ++seen;
                pixels.add(py, px, sums.data(), squares.data());
            }
            for (int c = 0; c < plane_count; ++c) {
                const double mean = seen ? sums[c] / seen : 0;
                const double spread = seen ? std::sqrt(std::max(0.0, squares[c] / seen - mean * mean)) : 0;
                float* out = profiles + ((static_cast<std::size_t>(i) * plane_count + c) * part_count + j) * 2;
                out[0] = static_cast<float>(mean), out[1] = static_cast<float>(spread);
            }
        }
    });
}

void outline_diameters(const float* planes, int plane_count, int height, int width, const Outlines& outlines,
                       float* lines) {
    constexpr float kParts[4] = {0.1f, 0.35f, 0.6f, 0.85f};
    const Directions directions(outlines.angles);
    const int angles = outlines.angles, half = angles / 2;
    in_places(outlines, [&](int i) {
        const float* radii = outlines.radii + static_cast<std::size_t>(i) * angles;
        std::vector<double> along(half);
        std::vector<int> seen(half);
        for (int c = 0; c < plane_count; ++c) {
            const Plane32 plane{planes + static_cast<std::size_t>(c) * height * width, height, width};
            std::fill(along.begin(), along.end(), 0.0);
            std::fill(seen.begin(), seen.end(), 0);
            double wave[4] = {0, 0, 0, 0};
            int around = 0;
            for (int k = 0; k < angles; ++k)
                for (float part : kParts) {
                    const float py = outlines.y[i] + part * radii[k] * directions.sine[k],
                                px = outlines.x[i] + part * radii[k] * directions.cosine[k];
                    if (!plane.holds(py, px)) continue;
                    const double value = plane.at(py, px);
                    along[k % half] += value, seen[k % half] += 1;
                    if (part != kParts[2]) continue;
                    const int twice = 2 * k % angles;
                    wave[0] += value * directions.cosine[k], wave[1] += value * directions.sine[k];
                    wave[2] += value * directions.cosine[twice], wave[3] += value * directions.sine[twice];
                    ++around;
                }
            double total = 0, lowest = 1e30, highest = -1e30;
            int lines_seen = 0;
            for (int k = 0; k < half; ++k) {
                if (!seen[k]) continue;
                const double mean = along[k] / seen[k];
                total += mean, ++lines_seen;
                lowest = std::min(lowest, mean), highest = std::max(highest, mean);
            }
            float* out = lines + (static_cast<std::size_t>(i) * plane_count + c) * 4;
            std::fill(out, out + 4, 0.0f);
            if (!lines_seen) continue;
            out[0] = static_cast<float>(lowest - total / lines_seen);
            out[1] = static_cast<float>(highest - total / lines_seen);
            if (!around) continue;
            out[2] = static_cast<float>(2 * std::hypot(wave[0], wave[1]) / around);
            out[3] = static_cast<float>(2 * std::hypot(wave[2], wave[3]) / around);
        }
    });
}

void outline_contrasts(const float* gx, const float* gy, int height, int width, const Outlines& outlines,
                       float* contrasts) {
    const Directions directions(outlines.angles);
    const Plane32 across{gx, height, width}, down{gy, height, width};
    const int angles = outlines.angles;
    in_places(outlines, [&](int i) {
        const float* radii = outlines.radii + static_cast<std::size_t>(i) * angles;
        std::vector<float> seen;
        double quarter[4] = {0, 0, 0, 0}, total = 0, squares = 0;
        int in_quarter[4] = {0, 0, 0, 0};
        for (int k = 0; k < angles; ++k) {
            const float py = outlines.y[i] + radii[k] * directions.sine[k],
                        px = outlines.x[i] + radii[k] * directions.cosine[k];
            if (!across.holds(py, px)) continue;
            const float value = -(directions.cosine[k] * across.at(py, px) + directions.sine[k] * down.at(py, px));
            seen.push_back(value);
            total += value, squares += static_cast<double>(value) * value;
            quarter[4 * k / angles] += value, in_quarter[4 * k / angles] += 1;
        }
        float* out = contrasts + 5 * static_cast<std::size_t>(i);
        std::fill(out, out + 5, 0.0f);
        if (seen.empty()) return;
        const double n = static_cast<double>(seen.size()), mean = total / n;
        const double side = mean < 0 ? -1 : 1;  // the weakest quarter is the one that turns least with the rest
        double weakest = 1e30;
        for (int q = 0; q < 4; ++q)
            if (in_quarter[q]) weakest = std::min(weakest, side * quarter[q] / in_quarter[q]);
        for (float& value : seen) value = static_cast<float>(side * value);
        std::nth_element(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 4), seen.end());
        out[0] = static_cast<float>(mean);
        out[1] = static_cast<float>(std::sqrt(std::max(0.0, squares / n - mean * mean)));
        out[2] = static_cast<float>(weakest);
        out[3] = seen[seen.size() / 4];
        out[4] = static_cast<float>(n / angles);
    });
}

}  // namespace imtorque
