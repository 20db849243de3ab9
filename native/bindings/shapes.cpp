// Torque tuned to shapes.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "shapes/shape_response.hpp"

namespace imtorque {
namespace {

std::vector<int32_t> borders(const In<int32_t, 1>& offsets, size_t cells) {
    std::vector<int32_t> list(offsets.data(), offsets.data() + offsets.size());
    if (list.size() != cells + 1 || !std::is_sorted(list.begin(), list.end()) || list.back() - list.front() > (1 << 20))
        throw std::invalid_argument("borders of cells must increase, one more than there are cells");
    return list;
}

}  // namespace

void bind_shapes(nb::module_& m) {
    m.def(
        "shape_response",
        [](In<int32_t, 2> first, In<int32_t, 2> second, In<int32_t, 1> down, In<int32_t, 1> across,
           In<float, 3> weights, float floor) {
            require_same_shape(first, second);
            if (weights.shape(0) != 2 || weights.shape(1) == 0 || weights.shape(2) == 0)
                throw std::invalid_argument("weights must be those of two channels");
            const ShapeCells cells{borders(down, weights.shape(1)), borders(across, weights.shape(2)), weights.data(),
                                   weights.data() + weights.shape(1) * weights.shape(2)};
            auto response = like<float>(first);
            nb::gil_scoped_release release;
            shape_response(first.data(), second.data(), extent(first, 0), extent(first, 1), cells, floor,
                           response.data());
            return response;
        },
        "first"_a, "second"_a, "down"_a, "across"_a, "weights"_a, "floor"_a);
}

}  // namespace imtorque
