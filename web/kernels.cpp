// The kernels as the static page calls them: pixels to edges, edges to maps and extrema, by pointers. Each mirrors a
// function of the library; what the page and the library compute is compared to the bit by tests/web.
#include <emscripten.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/contribution.hpp"
#include "core/extrema.hpp"
#include "core/rounding.hpp"
#include "core/torque.hpp"
#include "edges/canny.hpp"

#define PAGE EMSCRIPTEN_KEEPALIVE

using namespace imtorque;

namespace {

constexpr double kMatlabLow = 0.4;        // as imtorque.edges.canny: low over high, where one is given
constexpr double kTypical = 0.99;         // as imtorque.edges.canny: quantile of the strengths that becomes force 1
constexpr double kWeak = 0.4;             // as explorer/results.py: quantile below which extrema are hardly asked for
constexpr double kOverlap = 0.5;          // as suppress_overlaps
constexpr size_t kVolumeBytes = 1 << 26;  // as explorer/results.py
constexpr long long kMostExtrema = 200;   // as explorer/settings.py

struct Edges {
    int height, width;
    std::vector<float> fx, fy;
    ForceStatistics statistics;
    double steps = 1;

    Edges(int h, int w) : height(h), width(w), fx(pixels()), fy(pixels()) {}
    size_t pixels() const { return static_cast<size_t>(height) * static_cast<size_t>(width); }
    Field field(bool free) const {
        const bool fine = statistics.largest * steps >= kQuickRounding;
        return {fx.data(), fy.data(), height, width, steps, statistics.blocks.data(), fine, free, statistics.largest};
    }
};

// The linear quantile of float32 numbers, in any order, as numpy computes it: the place in double, the rest in float.
float quantile(std::vector<float>& values, double share) {
    const size_t last = values.size() - 1;
    const double place = static_cast<double>(last) * share;
    const size_t below = static_cast<size_t>(std::floor(place));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), at, values.end());
    const float low = *at, high = below < last ? *std::min_element(at + 1, values.end()) : low;
    const double part = place - static_cast<double>(below);
    if (part >= 0.5) return high - (high - low) * static_cast<float>(1 - part);
    return low + (high - low) * static_cast<float>(part);
}

// hypot of float32 numbers as glibc rounds it.
float length_of(float x, float y) {
    const double a = x, b = y;
    return static_cast<float>(std::sqrt(a * a + b * b));
}

std::vector<float> strengths(const Edges& e) {
    std::vector<float> found;
    for (size_t i = 0; i < e.pixels(); ++i)
        if (e.fx[i] != 0 || e.fy[i] != 0) found.push_back(length_of(e.fx[i], e.fy[i]));
    return found;
}

struct Maps {
    std::vector<float> value;
    std::vector<int32_t> scale;
    std::vector<Extremum> extrema;  // at least as many as the page may ask for, or all
};

// explorer/results.py: _torque_of and _strongest.
std::vector<bool> kept_of(const std::vector<Extremum>& extrema, const int32_t* sizes) {
    std::vector<int64_t> y, x, size;
    std::vector<float> value;
    for (const Extremum& e : extrema)
        y.push_back(e.y), x.push_back(e.x), size.push_back(sizes[e.k]), value.push_back(e.value);
    return suppress_overlaps(y.data(), x.data(), size.data(), size.data(), value.data(), static_cast<int>(y.size()),
                             kOverlap);
}

Edges* finished(Edges* e) {
    e->steps = choose_steps(e->statistics, e->height, e->width);
    return e;
}

}  // namespace

extern "C" {

// Luminance of 8-bit pixels: black is 0, white 255, or the highest value of an image that would be all but black.
PAGE void grey_of(const uint8_t* pixels, int count, int channels, float* grey) {
    const int highest = *std::max_element(pixels, pixels + static_cast<size_t>(count) * channels);
    const double white = 255 > 16 * highest && highest > 0 ? highest : 255;
    to_grey(pixels, count, channels, 1.0, 0.0, 1 / white, grey);
}

// Mean of squares of `factor` pixels, rounded as numpy rounds.
PAGE void shrink(const uint8_t* pixels, int height, int width, int channels, int factor, uint8_t* shrunk) {
    const int rows = height / factor, columns = width / factor;
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            for (int c = 0; c < channels; ++c) {
                uint64_t sum = 0;
                for (int dy = 0; dy < factor; ++dy)
                    for (int dx = 0; dx < factor; ++dx)
                        sum += pixels[(static_cast<size_t>(y * factor + dy) * width + x * factor + dx) * channels + c];
                const double mean = static_cast<double>(sum) / (static_cast<double>(factor) * factor);
                shrunk[(static_cast<size_t>(y) * columns + x) * channels + c] = static_cast<uint8_t>(std::rint(mean));
            }
}

PAGE void thresholds_of(const float* grey, int height, int width, double sigma, double* both) {
    const Thresholds found = automatic_thresholds(grey, height, width, sigma);
    both[0] = found.low, both[1] = found.high;
}

// detect_edges; thresholds below 0 are not given.
PAGE Edges* edges_of(const float* grey, int height, int width, double sigma, double low, double high,
                     bool by_strength) {
    const double top = high >= 0 ? high : low, bottom = low >= 0 ? low : kMatlabLow * top;
    const Thresholds thresholds{std::max(bottom, 0.0), std::max(top, 0.0), false, top < 0};
    Edges* e = new Edges(height, width);
    e->statistics =
        canny(grey, height, width, sigma, thresholds, {by_strength ? -1.0 : 0.0}, e->fx.data(), e->fy.data());
    if (by_strength) {
        std::vector<float> found = strengths(*e);
        const double scale = found.empty() ? 0.0 : quantile(found, kTypical);
        if (scale > 0) shape_forces(e->fx.data(), e->fy.data(), static_cast<long long>(e->pixels()), {scale});
        e->statistics = force_statistics(e->fx.data(), e->fy.data(), height, width);
    }
    return finished(e);
}

// pattern_edges, in as many steps per unit of force.
PAGE Edges* turned(const Edges* e, double a, double b, double c, double d) {
    Edges* result = new Edges(e->height, e->width);
    turn_forces(e->fx.data(), e->fy.data(), e->pixels(), {a, b, c, d}, result->fx.data(), result->fy.data());
    result->statistics = force_statistics(result->fx.data(), result->fy.data(), e->height, e->width);
    result->steps = e->steps;
    return result;
}

PAGE const float* fx_of(const Edges* e) { return e->fx.data(); }
PAGE const float* fy_of(const Edges* e) { return e->fy.data(); }
PAGE double steps_of(const Edges* e) { return e->steps; }
PAGE void free_edges(Edges* e) { delete e; }

// The maps and the extrema of these sizes, with the normalisations Z.
PAGE Maps* maps_of(const Edges* e, const int32_t* sizes, const double* areas, int count, bool disk, bool free) {
    const Field field = e->field(free);
    const Shape shape = disk ? Shape::disk : Shape::box;
    std::vector<Patch> patches;
    std::vector<Reach> halves;
    for (int k = 0; k < count; ++k) {
        const double norm = free ? 1 / (8 * areas[k]) : 1 / (4 * areas[k] * e->steps);
        patches.push_back({sizes[k] / 2, sizes[k] / 2, static_cast<float>(norm)});
        halves.push_back({sizes[k] / 2, sizes[k] / 2});
    }
    patches = clip_patches(std::move(patches), shape, field);
    Maps* maps = new Maps{std::vector<float>(e->pixels()), std::vector<int32_t>(e->pixels()), {}};
    const auto all = [](float least) { return Request{0, -1, true, least}; };
    if (sizeof(float) * e->pixels() * static_cast<size_t>(count) > kVolumeBytes) {
        long long visited = 0;
        value_and_scale(field, patches, shape, sizes, maps->value.data(), maps->scale.data());
        maps->extrema = extrema_of_field(field, patches, shape, all(0), &visited);
        return maps;
    }
    std::vector<float> tau(e->pixels() * static_cast<size_t>(count)), strong(e->pixels());
    torque_volume(field, patches, shape, tau.data());
    value_and_scale_of_volume(tau.data(), count, static_cast<long long>(e->pixels()), sizes, maps->value.data(),
                              maps->scale.data());
    for (size_t i = 0; i < strong.size(); ++i) strong[i] = std::abs(maps->value[i]);
    maps->extrema = extrema_of_volume(tau.data(), halves, e->height, e->width, all(quantile(strong, kWeak)));
    const std::vector<bool> kept = kept_of(maps->extrema, sizes);
    if (std::count(kept.begin(), kept.end(), true) < kMostExtrema)
        maps->extrema = extrema_of_volume(tau.data(), halves, e->height, e->width, all(0));
    return maps;
}

PAGE const float* value_of(const Maps* m) { return m->value.data(); }
PAGE const int32_t* scale_of(const Maps* m) { return m->scale.data(); }
PAGE void free_maps(Maps* m) { delete m; }

// The first `most` extrema, after suppression where asked for: (k, y, x) and the value of each. Returns how many.
PAGE int extrema_of(const Maps* m, const int32_t* sizes, bool suppress, int most, int32_t* places, float* values) {
    const std::vector<bool> kept = suppress ? kept_of(m->extrema, sizes) : std::vector<bool>(m->extrema.size(), true);
    int count = 0;
    for (size_t i = 0; i < kept.size() && count < most; ++i) {
        if (!kept[i]) continue;
        const Extremum& e = m->extrema[i];
        places[3 * count] = e.k, places[3 * count + 1] = e.y, places[3 * count + 2] = e.x;
        values[count++] = e.value;
    }
    return count;
}

// The quantile of the value map's strength where it is not 0, and its largest.
PAGE void range_of(const Maps* m, double share, float* range_and_limit) {
    std::vector<float> strong;
    for (const float value : m->value)
        if (value != 0) strong.push_back(std::abs(value));
    range_and_limit[1] = strong.empty() ? 0 : *std::max_element(strong.begin(), strong.end());
    range_and_limit[0] = strong.empty() ? 0 : quantile(strong, share);
}

// contribution_map of one extremum.
PAGE void contribution_of(const Edges* e, int y, int x, int size, double sign, bool disk, bool free, double* total) {
    Field field = e->field(free);
    field.steps = 1, field.blocks = nullptr;
    const int64_t at_y = y, at_x = x, side = size;
    std::fill_n(total, e->pixels(), 0.0);
    add_contributions(field, {&at_y, &at_x, &side, &side, &sign, 1}, disk ? Shape::disk : Shape::box, total);
}

// Colours: `table` has those of -255 to 255, `coloured` of imtorque.render.torque looks them up likewise.
static uint8_t* put(const uint8_t* table, double place, uint8_t* pixel) {
    const uint8_t* colour = table + 3 * static_cast<int>(std::min(std::max(place + 255, 0.0), 510.0));
    return std::copy(colour, colour + 3, pixel);
}

PAGE void value_image(const Maps* m, const uint8_t* table, double limit, uint8_t* rgb) {
    const float factor = static_cast<float>(255 / (limit == 0 ? 1.0 : limit));
    for (const float value : m->value) rgb = put(table, std::rint(value * factor), rgb);
}

PAGE void scale_image(const Maps* m, const uint8_t* table, double limit, uint8_t* rgb) {
    for (const int32_t scale : m->scale) rgb = put(table, std::rint(scale * (255 / limit)), rgb);
}

PAGE void edge_image(const Edges* e, uint8_t* grey) {
    float most = 0;
    for (const float strength : strengths(*e)) most = std::max(most, strength);
    const float factor = static_cast<float>(255 / std::max(static_cast<double>(most), 1e-30));
    for (size_t i = 0; i < e->pixels(); ++i)
        grey[i] = static_cast<uint8_t>(std::rint(length_of(e->fx[i], e->fy[i]) * factor));
}

// The value map over the image: weak values are transparent, and none is white or black (layer_overlay).
PAGE void value_overlay(const Maps* m, const uint8_t* table, double limit, uint8_t* rgba) {
    const float full = static_cast<float>(limit == 0 ? 1.0 : limit);
    for (const float value : m->value) {
        const float share = std::min(std::abs(value) / full, 1.0f);
        const float root = std::sqrt(share);
        const float shown = std::copysign(std::min(std::max(share, 0.5f), 0.8f), value);
        rgba = put(table, std::rint(shown * 255.0f), rgba);
        *rgba++ = static_cast<uint8_t>(std::rint(255.0f * std::min(1.2f * (root * std::sqrt(root)), 1.0f)));
    }
}

}  // extern "C"
