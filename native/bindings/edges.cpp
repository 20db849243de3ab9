// From pixels to forces.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/edge_field.hpp"
#include "edges/canny.hpp"

namespace imtorque {
namespace {

template <class T>
Out<float, 2> bind_to_grey(In<T, 3> pixels, double white, double offset, double scale) {
    auto grey = like<float>(pixels);
    nb::gil_scoped_release release;
    to_grey(pixels.data(), static_cast<long long>(pixels.shape(0) * pixels.shape(1)), extent(pixels, 2), white, offset,
            scale, grey.data());
    return grey;
}

struct Forces {
    Out<float, 2> fx, fy;
    ForceStatistics statistics;
};

Forces forces_of(const Plane& image, double sigma, const Thresholds& thresholds, const Shaping& shaping) {
    const size_t height = image.shape(0), width = image.shape(1);
    Forces found{make<float, 2>({height, width}), make<float, 2>({height, width}), {}};
    nb::gil_scoped_release release;
    found.statistics = canny(image.data(), static_cast<int>(height), static_cast<int>(width), sigma, thresholds,
                             shaping, found.fx.data(), found.fy.data());
    return found;
}

}  // namespace

void bind_edges(nb::module_& m) {
    m.def("to_grey", &bind_to_grey<uint8_t>, "pixels"_a, "white"_a, "offset"_a, "scale"_a);
    m.def("to_grey", &bind_to_grey<uint16_t>, "pixels"_a, "white"_a, "offset"_a, "scale"_a);
    m.def("to_grey", &bind_to_grey<float>, "pixels"_a, "white"_a, "offset"_a, "scale"_a);
    m.def("to_grey", &bind_to_grey<double>, "pixels"_a, "white"_a, "offset"_a, "scale"_a);

    m.def(
        "canny",
        [](Plane image, double sigma, double low, double high, bool quantiles, bool automatic, double scale) {
            auto [fx, fy, statistics] = forces_of(image, sigma, {low, high, quantiles, automatic}, {scale});
            return std::make_tuple(fx, fy);
        },
        "image"_a, "sigma"_a, "low"_a, "high"_a, "quantiles"_a, "automatic"_a, "scale"_a);
    m.def(
        "canny_field",
        [](Plane image, double sigma, double low, double high, bool quantiles, bool automatic, double scale,
           int directions, bool arc_length) {
            auto [fx, fy, statistics] =
                forces_of(image, sigma, {low, high, quantiles, automatic}, {scale, directions, arc_length});
            return EdgeField(Plane(fx), Plane(fy), std::move(statistics));
        },
        "image"_a, "sigma"_a, "low"_a, "high"_a, "quantiles"_a, "automatic"_a, "scale"_a, "directions"_a = 0,
        "arc_length"_a = false);
    m.def(
        "automatic_thresholds",
        [](Plane image, double sigma) {
            nb::gil_scoped_release release;
            const Thresholds t = automatic_thresholds(image.data(), extent(image, 0), extent(image, 1), sigma);
            return std::make_tuple(t.low, t.high);
        },
        "image"_a, "sigma"_a);
    m.def(
        "smoothed_gradient",
        [](Plane image, double sigma) {
            const size_t height = image.shape(0), width = image.shape(1);
            auto gx = make<float, 2>({height, width}), gy = make<float, 2>({height, width});
            unlocked([&] {
                smoothed_gradient(image.data(), static_cast<int>(height), static_cast<int>(width), sigma, gx.data(),
                                  gy.data());
            });
            return std::make_tuple(gx, gy);
        },
        "image"_a, "sigma"_a);
    m.def(
        "suppress_non_maxima",
        [](Plane strength, Plane gx, Plane gy, float threshold) {
            require_same_shape(strength, gx);
            require_same_shape(gx, gy);
            auto thinned = like<float>(strength);
            nb::gil_scoped_release release;
            suppress_non_maxima(strength.data(), gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), threshold,
                                thinned.data());
            return thinned;
        },
        "strength"_a, "gx"_a, "gy"_a, "threshold"_a);
    m.def(
        "shape_forces",
        [](InOut<float, 2> fx, InOut<float, 2> fy, double strength_scale, int directions, bool arc_length) {
            require_same_shape(fx, fy);
            nb::gil_scoped_release release;
            shape_forces(fx.data(), fy.data(), static_cast<long long>(fx.size()),
                         {strength_scale, directions, arc_length});
        },
        "fx"_a, "fy"_a, "strength_scale"_a, "directions"_a, "arc_length"_a);
}

}  // namespace imtorque
