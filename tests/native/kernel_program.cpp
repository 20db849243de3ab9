// Kernels by themselves, without Python, called by several threads at once: each prints a checksum of its results, the
// same from every caller, on every system and processor. `make sanitize` runs this under the thread sanitizer;
// wheels/cross.py compares what it prints under wine with what it prints here.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/coherence.hpp"
#include "core/contribution.hpp"
#include "core/extrema.hpp"
#include "core/gradient_torque.hpp"
#include "core/parallel.hpp"
#include "core/torque.hpp"
#include "cuts/max_flow.hpp"
#include "detection/component_tree.hpp"
#include "detection/distance.hpp"
#include "edges/canny.hpp"
#include "matching/thinning.hpp"
#include "volumes/volumes.hpp"

using namespace imtorque;

namespace {

constexpr int kHeight = 61, kWidth = 83, kPixels = kHeight * kWidth, kCallers = 4;

// Numbers from 0 to 255 without order, the same everywhere.
int noise(uint64_t n) {
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ (n >> 29)) * 0xBF58476D1CE4E5B9u;
    return static_cast<int>((n >> 40) % 256);
}

// Bytes of results, folded into one number (FNV-1a).
struct Checksum {
    uint64_t sum = 14695981039346656037u;
    template <class T>
    void add(const std::vector<T>& values) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (size_t i = 0; i < values.size() * sizeof(T); ++i) sum = (sum ^ bytes[i]) * 1099511628211u;
    }
};

struct Input {
    std::vector<uint8_t> image = std::vector<uint8_t>(kPixels), inside = std::vector<uint8_t>(kPixels);
    std::vector<float> grey = std::vector<float>(kPixels), fx = std::vector<float>(kPixels),
                       fy = std::vector<float>(kPixels);
    std::vector<double> weights = std::vector<double>(4 * kPixels);
    ForceStatistics found;
    Input() {
        for (int i = 0; i < kPixels; ++i) {
            const int y = i / kWidth - 30, x = i % kWidth - 40;
            const bool within = y * y + x * x < 18 * 18;
            image[i] = static_cast<uint8_t>((within ? 180 : 60) + noise(i) / 8);
            inside[i] = within;
            grey[i] = static_cast<float>(image[i]) / 256;
            const bool edge = noise(i + kPixels) < 60;
            fx[i] = edge ? static_cast<float>(noise(i + 2 * kPixels) - 128) / 16 : 0;
            fy[i] = edge ? static_cast<float>(noise(i + 3 * kPixels) - 128) / 16 : 0;
        }
        for (int i = 0; i < 4 * kPixels; ++i) weights[i] = noise(i);
        found = force_statistics(fx.data(), fy.data(), kHeight, kWidth);
    }
    Field field(bool free) const {
        return {fx.data(), fy.data(), kHeight, kWidth, 16, found.blocks.data(), false, free, found.largest};
    }
};

std::vector<Patch> patches_for(const Field& field, Shape shape, const std::vector<int>& halves = {1, 3, 6, 11}) {
    std::vector<Patch> patches;
    for (const int half : halves) {
        const float side = 2.0f * static_cast<float>(half) + 1;
        patches.push_back({half, half, 1 / (64 * side * side), 1.0});
    }
    return clip_patches(patches, shape, field);
}

uint64_t edges(const Input& in) {
    Checksum sum;
    std::vector<float> a(kPixels), b(kPixels), thinned(kPixels);
    smoothed_gradient(in.grey.data(), kHeight, kWidth, 1.5, a.data(), b.data());
    sum.add(a), sum.add(b);
    suppress_non_maxima(in.grey.data(), a.data(), b.data(), kHeight, kWidth, 0.01f, thinned.data());
    canny(in.grey.data(), kHeight, kWidth, 1.5, {0.7, 0.9, true, false}, kAsIs, a.data(), b.data());
    sum.add(thinned), sum.add(a), sum.add(b);
    return sum.sum;
}

uint64_t torque(const Input& in) {
    Checksum sum;
    for (const bool free : {false, true})
        for (const Shape shape : {Shape::box, Shape::disk}) {
            const Field field = in.field(free);
            const std::vector<Patch> patches = patches_for(field, shape);
            const std::vector<int32_t> labels{3, 7, 13, 23};
            std::vector<float> tau(patches.size() * kPixels), value(kPixels);
            std::vector<int32_t> scale(kPixels);
            torque_volume(field, patches, shape, tau.data());
            value_and_scale(field, patches, shape, labels.data(), value.data(), scale.data());
            sum.add(tau), sum.add(value), sum.add(scale);
            long long visited = 0;
            for (const Extremum& found : extrema_of_field(field, patches, shape, {0, 40, true, 0.0f}, &visited))
                sum.add(std::vector<int32_t>{found.k, found.y, found.x}), sum.add(std::vector<float>{found.value});
        }
    return sum.sum;
}

// Maps of so many sizes that follow each other that their squares are looked up together; and of disks, with so few
// forces that each disk is made from those and from the disk before.
uint64_t maps(const Input& in) {
    Checksum sum;
    std::vector<float> fx = in.fx, fy = in.fy;
    for (int i = 0; i < kPixels; ++i)
        if (i % 4 > 0) fx[i] = fy[i] = 0;
    Field few = in.field(false);
    few.fx = fx.data();
    few.fy = fy.data();
    std::vector<int> halves;
    std::vector<int32_t> labels;
    for (int half = 1; half <= 22; ++half) halves.push_back(half), labels.push_back(2 * half + 1);
    for (const Shape shape : {Shape::box, Shape::disk}) {
        const Field field = shape == Shape::disk ? few : in.field(false);
        const std::vector<Patch> patches = patches_for(field, shape, halves);
        std::vector<float> value(kPixels);
        std::vector<int32_t> scale(kPixels);
        value_and_scale(field, patches, shape, labels.data(), value.data(), scale.data());
        sum.add(value), sum.add(scale);
    }
    return sum.sum;
}

uint64_t contributions(const Input& in) {
    Checksum sum;
    const Field field = in.field(false);
    std::vector<float> tau(kPixels, 0.25f);
    std::vector<double> total(kPixels);
    add_coherent_votes(field, {5}, tau.data(), total.data());
    const std::vector<int64_t> y{10, 40}, x{20, 60}, side{9, 15};
    const std::vector<double> weight{1, -2};
    add_contributions(field, {y.data(), x.data(), side.data(), side.data(), weight.data(), 2}, Shape::box,
                      total.data());
    sum.add(tau), sum.add(total);
    return sum.sum;
}

uint64_t cuts(const Input& in) {
    Checksum sum;
    std::vector<uint8_t> mask(kPixels);
    const double* w = in.weights.data();
    const GridLinks links{kHeight, kWidth, w, w + kPixels, nullptr, nullptr, false, false};
    sum.add(std::vector<double>{max_flow(links, w + 2 * kPixels, w + 3 * kPixels, mask.data())});
    sum.add(mask);
    return sum.sum;
}

uint64_t regions(const Input& in) {
    Checksum sum;
    std::vector<float> distance(kPixels);
    distance_transform(in.inside.data(), kHeight, kWidth, distance.data());
    std::vector<uint8_t> lines = in.inside;
    thin(lines.data(), kHeight, kWidth);
    const Regions found = extremal_regions(in.image.data(), kHeight, kWidth, {20, 3000, 0.3, 16});
    sum.add(distance), sum.add(lines), sum.add(found.area), sum.add(found.level), sum.add(found.y);
    return sum.sum;
}

uint64_t volumes(const Input& in) {
    Checksum sum;
    const Grid grid{5, kHeight / 5, kWidth};
    std::vector<VolumeBox> boxes{{0, 1, 1, 0.01f}, {1, 2, 2, 0.001f}};
    std::vector<float> tau(2 * static_cast<size_t>(grid.depth) * grid.plane());
    volume_torque({in.fx.data(), in.fy.data(), in.grey.data(), grid, 16}, boxes, false, tau.data());
    sum.add(tau);
    return sum.sum;
}

}  // namespace

int main() {
    using Kernel = uint64_t (*)(const Input&);
    const std::vector<std::pair<const char*, Kernel>> kernels{
        {"edges", edges}, {"torque", torque},   {"maps", maps},      {"contributions", contributions},
        {"cuts", cuts},   {"regions", regions}, {"volumes", volumes}};
    use_all_threads(true);
    set_num_threads(3);
    const Input input;
    std::vector<std::vector<uint64_t>> sums(kCallers);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kCallers; ++caller)
        callers.emplace_back([&, caller] {
            for (const auto& kernel : kernels) sums[caller].push_back(kernel.second(input));
        });
    for (std::thread& caller : callers) caller.join();
    for (size_t k = 0; k < kernels.size(); ++k) {
        std::printf("%s %016llx\n", kernels[k].first, static_cast<unsigned long long>(sums[0][k]));
        for (const std::vector<uint64_t>& other : sums)
            if (other[k] != sums[0][k]) {
                std::printf("failed: callers differ in %s\n", kernels[k].first);
                return 1;
            }
    }
}
