// The only file that knows Python. Arrays are checked for dtype, rank and contiguity by their types here; what their
// values must satisfy is checked by the public functions above. The GIL is released around every kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>

#include "boundary_matching.hpp"
#include "parallel.hpp"
#include "thinning.hpp"

namespace nb = nanobind;

// Boundary evaluation
namespace {

template <typename T, typename... Shape>
using Input = nb::ndarray<const T, Shape..., nb::c_contig, nb::device::cpu>;
using Partners = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
using Picture = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;

// An uninitialised array that NumPy owns.
template <typename Array>
Array new_array(std::size_t rows, std::size_t columns) {
    auto* data = new typename Array::Scalar[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<typename Array::Scalar*>(p); });
    return Array(data, {rows, columns}, owner);
}

Picture thin(Input<std::uint8_t, nb::ndim<2>> picture) {
    Picture thinned = new_array<Picture>(picture.shape(0), picture.shape(1));
    nb::gil_scoped_release release;
    std::copy_n(picture.data(), picture.size(), thinned.data());
    imtorque::thin(thinned.data(), static_cast<int>(picture.shape(0)), static_cast<int>(picture.shape(1)));
    return thinned;
}

// Run `match` once per truth, in parallel.
template <typename Match>
Partners match_truths(const Input<std::int32_t, nb::ndim<1>>& pixels, const Input<std::int64_t, nb::ndim<1>>& starts,
                      const Input<std::uint8_t, nb::ndim<3>>& truths, const Match& match) {
    const std::size_t count = truths.shape(0), area = truths.shape(1) * truths.shape(2);
    Partners partners = new_array<Partners>(count, pixels.size());
    const imtorque::BoundaryMaps maps{pixels.data(), starts.data(), static_cast<int>(starts.size()) - 1,
                                      static_cast<int>(truths.shape(1)), static_cast<int>(truths.shape(2))};
    nb::gil_scoped_release release;
    imtorque::parallel_for(static_cast<int>(count), [&](int k) {
        match(maps, truths.data() + k * area, partners.data() + k * pixels.size());
    });
    return partners;
}

Partners match_min_cost(Input<std::int32_t, nb::ndim<1>> pixels, Input<std::int64_t, nb::ndim<1>> starts,
                        Input<std::uint8_t, nb::ndim<3>> truths, double radius, double outlier_cost) {
    return match_truths(pixels, starts, truths, [=](const auto& maps, const std::uint8_t* truth, std::int32_t* partner) {
        imtorque::match_min_cost(maps, truth, radius, outlier_cost, partner);
    });
}

Partners match_cardinality(Input<std::int32_t, nb::ndim<1>> pixels, Input<std::int64_t, nb::ndim<1>> starts,
                           Input<std::uint8_t, nb::ndim<3>> truths, double radius) {
    return match_truths(pixels, starts, truths, [=](const auto& maps, const std::uint8_t* truth, std::int32_t* partner) {
        imtorque::match_cardinality(maps, truth, radius, partner);
    });
}

}  // namespace

NB_MODULE(_native, m) {
    m.def("num_threads", &imtorque::num_threads);
    m.def("set_num_threads", &imtorque::set_num_threads, nb::arg("n"));

    m.def("thin", &thin, nb::arg("picture"));
    m.def("match_min_cost", &match_min_cost, nb::arg("pixels"), nb::arg("starts"), nb::arg("truths"), nb::arg("radius"),
          nb::arg("outlier_cost"));
    m.def("match_cardinality", &match_cardinality, nb::arg("pixels"), nb::arg("starts"), nb::arg("truths"),
          nb::arg("radius"));
}
