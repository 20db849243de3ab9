// Boundary detectors: gradients of histograms, closed contours, layers of a network.
#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "edges/contours_of_regions.hpp"
#include "edges/half_discs.hpp"
#include "edges/plane_convolution.hpp"

namespace imtorque {
void bind_detectors(nb::module_& m) {
    m.def(
        "watershed",
        [](Plane heights) {
            auto basins = like<int32_t>(heights);
            nb::gil_scoped_release release;
            watershed(heights.data(), extent(heights, 0), extent(heights, 1), basins.data());
            return basins;
        },
        "heights"_a);
    m.def(
        "weigh_cracks",
        [](In<int32_t, 2> regions, In<float, 3> oriented) {
            const size_t height = regions.shape(0), width = regions.shape(1);
            if (oriented.shape(0) < 1 || oriented.shape(1) != height || oriented.shape(2) != width)
                throw std::invalid_argument("oriented and regions differ in shape");
            auto right = make<float, 2>({height, width}), down = make<float, 2>({height, width});
            unlocked([&] {
                weigh_cracks(regions.data(), oriented.data(), extent(oriented, 0), static_cast<int>(height),
                             static_cast<int>(width), right.data(), down.data());
            });
            return std::make_tuple(right, down);
        },
        "regions"_a, "oriented"_a);
    m.def(
        "merge_weakest",
        [](In<int32_t, 2> regions, InOut<float, 2> right, InOut<float, 2> down) {
            const size_t height = regions.shape(0), width = regions.shape(1);
            if (right.shape(0) != height || right.shape(1) != width || down.shape(0) != height ||
                down.shape(1) != width)
                throw std::invalid_argument("regions and cracks differ in shape");
            const int32_t* end = regions.data() + regions.size();
            if (regions.size() == 0 || *std::min_element(regions.data(), end) < 0)
                throw std::invalid_argument("regions must be numbered from 0");
            const int count = *std::max_element(regions.data(), end) + 1;
            const auto merges = unlocked([&] {
                return merge_weakest(regions.data(), count, static_cast<int>(height), static_cast<int>(width),
                                     right.data(), down.data());
            });
            return std::make_tuple(from_vector(merges.kept), from_vector(merges.gone), from_vector(merges.heights));
        },
        "regions"_a, "right"_a, "down"_a);
    m.def(
        "convolve_planes",
        [](In<float, 3> planes, In<float, 4> weight, In<float, 1> bias, std::optional<In<float, 3>> added,
           bool rectified) {
            const size_t outputs = weight.shape(0), side = weight.shape(2);
            const size_t height = planes.shape(1), width = planes.shape(2);
            if (weight.shape(1) != planes.shape(0) || weight.shape(3) != side || (side != 1 && side != 3) ||
                bias.size() != outputs)
                throw std::invalid_argument("planes, weight and bias do not belong together");
            if (added && (added->shape(0) != outputs || added->shape(1) != height || added->shape(2) != width))
                throw std::invalid_argument("added must have the shape of the result");
            auto out = make<float, 3>({outputs, height, width});
            nb::gil_scoped_release release;
            convolve_planes({planes.data(), static_cast<int>(planes.shape(0)), static_cast<int>(height),
                             static_cast<int>(width), weight.data(), static_cast<int>(outputs), static_cast<int>(side),
                             bias.data(), added ? added->data() : nullptr, rectified, out.data()});
            return out;
        },
        "planes"_a, "weight"_a, "bias"_a, "added"_a.none(), "rectified"_a);
    m.def(
        "half_disc_gradients",
        [](In<uint8_t, 2> bins, int count, int radius, int reach, int step) {
            const int height = extent(bins, 0) - 2 * radius;
            const int width = extent(bins, 1) - 2 * radius;
            if (radius < 1 || radius > kMostRadius || reach < 0 || reach > 2 || step < 1 || height < 1 || width < 1)
                throw std::invalid_argument("radius, reach or step out of range");
            if (count < 1 || count > kMostBins ||
                std::any_of(bins.data(), bins.data() + bins.size(), [&](uint8_t bin) { return bin >= count; }))
                throw std::invalid_argument("bins must lie below count, and count must be at most 64");
            const size_t rows = (height + step - 1) / step, columns = (width + step - 1) / step;
            auto gradients = make<float, 3>({kOrientations, rows, columns});
            nb::gil_scoped_release release;
            half_disc_gradients(bins.data(), height, width, count, radius, reach, step, gradients.data());
            return gradients;
        },
        "bins"_a, "count"_a, "radius"_a, "reach"_a, "step"_a);
    m.def(
        "correlate",
        [](Plane plane, int border, In<int32_t, 1> dy, In<int32_t, 1> dx, In<float, 1> weight) {
            const int height = extent(plane, 0) - 2 * border;
            const int width = extent(plane, 1) - 2 * border;
            const int taps = count_of(weight);
            const auto far = [&](int32_t d) { return d < -border || d > border; };
            if (height < 1 || width < 1 || dy.size() != weight.size() || dx.size() != weight.size() ||
                std::any_of(dy.data(), dy.data() + taps, far) || std::any_of(dx.data(), dx.data() + taps, far))
                throw std::invalid_argument("taps must lie within the border");
            auto out = make<float, 2>({static_cast<size_t>(height), static_cast<size_t>(width)});
            nb::gil_scoped_release release;
            correlate(plane.data(), height, width, border, dy.data(), dx.data(), weight.data(), taps, out.data());
            return out;
        },
        "plane"_a, "border"_a, "dy"_a, "dx"_a, "weight"_a);
}

}  // namespace imtorque
