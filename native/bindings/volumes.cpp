// Torque in volumes.
#include "volumes/volumes.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace imtorque {
namespace {

using Volume = In<float, 3>;

template <class Array>
Grid grid_of(const Array& volume) {
    return {extent(volume, 0), extent(volume, 1), extent(volume, 2)};
}

void require_one_shape(const Volume& a, const Volume& b) {
    for (int i = 0; i < 3; ++i)
        if (a.shape(i) != b.shape(i)) throw std::invalid_argument("volumes differ in shape");
}

VolumeField field_of(const Volume& gz, const Volume& gy, const Volume& gx, float steps) {
    require_one_shape(gz, gy);
    require_one_shape(gz, gx);
    return {gz.data(), gy.data(), gx.data(), grid_of(gz), steps};
}

std::vector<VolumeBox> boxes_of(const In<int32_t, 2>& halves, const In<float, 1>& norms) {
    if (halves.shape(1) != 3 || halves.shape(0) != norms.size() || !norms.size())
        throw std::invalid_argument("boxes must be three numbers and a factor each");
    std::vector<VolumeBox> boxes;
    for (size_t k = 0; k < norms.size(); ++k) {
        const int32_t* half = halves.data() + 3 * k;
        if (std::min({half[0], half[1], half[2]}) < 0) throw std::invalid_argument("boxes must not be negative");
        boxes.push_back({half[0], half[1], half[2], norms.data()[k]});
    }
    return boxes;
}

auto listed(const std::vector<VolumeExtremum>& found) {
    const size_t n = found.size();
    auto k = make<int32_t, 1>({n}), z = make<int32_t, 1>({n}), y = make<int32_t, 1>({n}), x = make<int32_t, 1>({n});
    auto value = make<float, 1>({n});
    for (size_t i = 0; i < n; ++i) {
        k.data()[i] = found[i].k;
        z.data()[i] = found[i].z;
        y.data()[i] = found[i].y;
        x.data()[i] = found[i].x;
        value.data()[i] = found[i].value;
    }
    return std::make_tuple(k, z, y, x, value);
}

void bind_field(nb::module_& m) {
    m.def(
        "volume_torque",
        [](Volume gz, Volume gy, Volume gx, float steps, In<int32_t, 2> halves, In<float, 1> norms, bool wide) {
            const VolumeField field = field_of(gz, gy, gx, steps);
            const auto boxes = boxes_of(halves, norms);
            auto tau = make<float, 4>({boxes.size(), gz.shape(0), gz.shape(1), gz.shape(2)});
            nb::gil_scoped_release release;
            volume_torque(field, boxes, wide, tau.data());
            return tau;
        },
        "gz"_a, "gy"_a, "gx"_a, "steps"_a, "halves"_a, "norms"_a, "wide"_a);
    m.def(
        "volume_value_and_scale",
        [](Volume gz, Volume gy, Volume gx, float steps, In<int32_t, 2> halves, In<float, 1> norms, bool wide,
           In<int32_t, 1> labels) {
            const VolumeField field = field_of(gz, gy, gx, steps);
            const auto boxes = boxes_of(halves, norms);
            if (labels.size() != boxes.size()) throw std::invalid_argument("labels and boxes differ in number");
            auto value = make<float, 3>({gz.shape(0), gz.shape(1), gz.shape(2)});
            auto scale = make<int32_t, 3>({gz.shape(0), gz.shape(1), gz.shape(2)});
            unlocked([&] { volume_value_and_scale(field, boxes, wide, labels.data(), value.data(), scale.data()); });
            return std::make_tuple(value, scale);
        },
        "gz"_a, "gy"_a, "gx"_a, "steps"_a, "halves"_a, "norms"_a, "wide"_a, "labels"_a);
    m.def(
        "volume_extrema",
        [](Volume gz, Volume gy, Volume gx, float steps, In<int32_t, 2> halves, In<float, 1> norms, bool wide, int sign,
           float least) {
            const VolumeField field = field_of(gz, gy, gx, steps);
            const auto boxes = boxes_of(halves, norms);
            const auto found = unlocked([&] { return volume_extrema(field, boxes, wide, sign, least); });
            return listed(found);
        },
        "gz"_a, "gy"_a, "gx"_a, "steps"_a, "halves"_a, "norms"_a, "wide"_a, "sign"_a, "least"_a);
    m.def(
        "volume_thin",
        [](Volume strength, Volume gz, Volume gy, Volume gx, float threshold) {
            require_one_shape(strength, gz);
            require_one_shape(strength, gy);
            require_one_shape(strength, gx);
            auto thinned = make<float, 3>({gz.shape(0), gz.shape(1), gz.shape(2)});
            nb::gil_scoped_release release;
            volume_thin(strength.data(), gz.data(), gy.data(), gx.data(), grid_of(gz), threshold, thinned.data());
            return thinned;
        },
        "strength"_a, "gz"_a, "gy"_a, "gx"_a, "threshold"_a);
}

void bind_gradient(nb::module_& m) {
    m.def(
        "volume_gradient_torque",
        [](In<int32_t, 3> image, double unit, In<int32_t, 2> halves, In<float, 1> norms) {
            const auto boxes = boxes_of(halves, norms);
            const Grid grid = grid_of(image);
            auto tau = make<float, 4>({boxes.size(), image.shape(0), image.shape(1), image.shape(2)});
            nb::gil_scoped_release release;
            volume_gradient_torque(image.data(), grid, boxes, unit, tau.data());
            return tau;
        },
        "image"_a, "unit"_a, "halves"_a, "norms"_a);
    m.def(
        "volume_gradient_extrema",
        [](In<int32_t, 3> image, double unit, In<int32_t, 2> halves, In<float, 1> norms, int sign, float least) {
            const auto boxes = boxes_of(halves, norms);
            const Grid grid = grid_of(image);
            const auto found =
                unlocked([&] { return volume_gradient_extrema(image.data(), grid, boxes, unit, sign, least); });
            return listed(found);
        },
        "image"_a, "unit"_a, "halves"_a, "norms"_a, "sign"_a, "least"_a);
}

}  // namespace

void bind_volumes(nb::module_& m) {
    bind_field(m);
    bind_gradient(m);
    m.def(
        "volume_suppress",
        [](In<int64_t, 2> centre, In<int64_t, 2> side, In<float, 1> value, double overlap) {
            const size_t n = value.size();
            if (centre.shape(0) != n || side.shape(0) != n || centre.shape(1) != 3 || side.shape(1) != 3)
                throw std::invalid_argument("boxes differ in number");
            auto keep = make<bool, 1>({n});
            const auto kept = unlocked([&] {
                return volume_suppress(centre.data(), side.data(), value.data(), static_cast<int>(n), overlap);
            });
            std::copy(kept.begin(), kept.end(), keep.data());
            return keep;
        },
        "centre"_a, "side"_a, "value"_a, "overlap"_a);
}

}  // namespace imtorque
