// Fields, torque, extrema and contributions.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/coherence.hpp"
#include "core/contribution.hpp"
#include "core/extrema.hpp"
#include "core/gradient_torque.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

// An edge field as Python holds it: opaque. It keeps the arrays it was given, shows them read-only, and is surveyed
// when it is made; `round_to` must be called before a kernel sees it.
class EdgeField {
  public:
    EdgeField(Plane fx, Plane fy) : fx_(std::move(fx)), fy_(std::move(fy)) {
        require_same_shape(fx_, fy_);
        nb::gil_scoped_release release;
        survey_ = survey(fx_.data(), fy_.data(), height(), width());
    }
    void round_to(double steps) { steps_ = steps; }
    auto surveyed() const {
        using Units = nb::typed<nb::tuple, int, nb::ellipsis>;
        using Octaves = nb::typed<nb::tuple, std::tuple<int, long long>, nb::ellipsis>;
        nb::list not_pell, octaves;
        for (const int unit : survey_.not_pell) not_pell.append(unit);
        for (const auto& [octave, count] : survey_.octaves) octaves.append(nb::make_tuple(octave, count));
        return std::make_tuple(std::make_tuple(survey_.top, survey_.left, survey_.bottom, survey_.right),
                               survey_.largest, survey_.grain, Units(nb::tuple(not_pell)), Octaves(nb::tuple(octaves)));
    }
    double mass() const { return survey_.blocks.back(); }
    Field field() const {
        const bool fine = survey_.largest * steps_ >= kQuickRounding;
        return {fx_.data(), fy_.data(), height(), width(), steps_, survey_.blocks.data(), fine};
    }

  private:
    int height() const { return static_cast<int>(fx_.shape(0)); }
    int width() const { return static_cast<int>(fx_.shape(1)); }

    Plane fx_, fy_;
    Survey survey_;
    double steps_ = 1;
};

// A component of the field: a read-only array that keeps the field alive.
template <const float* Field::* kComponent>
nb::ndarray<nb::numpy, const float, nb::ndim<2>> component(nb::handle_t<EdgeField> self) {
    const Field field = nb::cast<const EdgeField&>(self).field();
    return {field.*kComponent, {static_cast<size_t>(field.height), static_cast<size_t>(field.width)}, self};
}

struct Patches {
    std::vector<Patch> patches;
    Shape shape;
};

// heights and widths are odd sides, norms the normalising areas Z; torque = moment / (2 Z).
Patches patches_of(const Field& field, const In<int64_t, 1>& heights, const In<int64_t, 1>& widths,
                   const In<double, 1>& areas, bool disk) {
    std::vector<Patch> patches;
    for (size_t k = 0; k < heights.shape(0); ++k) {
        const double area = areas.data()[k];
        patches.push_back({static_cast<int>(heights.data()[k] / 2), static_cast<int>(widths.data()[k] / 2),
                           area > 0 ? static_cast<float>(1 / (4 * area * field.steps)) : 0.0f});
    }
    const Shape shape = disk ? Shape::disk : Shape::box;
    return {clip_patches(std::move(patches), shape, field), shape};
}

auto tuple_of(const std::vector<Extremum>& extrema) {
    auto k = make<int64_t, 1>({extrema.size()}), y = make<int64_t, 1>({extrema.size()}),
         x = make<int64_t, 1>({extrema.size()});
    auto value = make<float, 1>({extrema.size()});
    for (size_t i = 0; i < extrema.size(); ++i) {
        k.data()[i] = extrema[i].k;
        y.data()[i] = extrema[i].y;
        x.data()[i] = extrema[i].x;
        value.data()[i] = extrema[i].value;
    }
    return std::make_tuple(k, y, x, value);
}

void bind_fields(nb::module_& m) {
    nb::class_<EdgeField>(m, "EdgeField")
        .def(nb::init<Plane, Plane>(), "fx"_a, "fy"_a)
        .def("round_to", &EdgeField::round_to, "steps"_a)
        .def("survey", &EdgeField::surveyed)
        .def_prop_ro("mass", &EdgeField::mass)
        .def_prop_ro("fx", &component<&Field::fx>)
        .def_prop_ro("fy", &component<&Field::fy>);
    m.def(
        "divide_by_mass",
        [](const EdgeField& edges, int half, InOut<float, 2> tau) {
            const Field field = edges.field();
            if (static_cast<int>(tau.shape(0)) != field.height || static_cast<int>(tau.shape(1)) != field.width)
                throw std::invalid_argument("tau differs in shape");
            nb::gil_scoped_release release;
            divide_by_mass(field, half, tau.data());
        },
        "edges"_a, "half"_a, "tau"_a);
    m.def(
        "add_coherent_votes",
        [](Plane fx, Plane fy, Plane coherence, int half, InOut<double, 2> total) {
            require_same_shape(fx, fy);
            require_same_shape(fx, coherence);
            if (total.shape(0) != fx.shape(0) || total.shape(1) != fx.shape(1))
                throw std::invalid_argument("total differs in shape");
            const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)),
                              1,         nullptr};
            nb::gil_scoped_release release;
            add_coherent_votes(field, coherence.data(), half, total.data());
        },
        "fx"_a, "fy"_a, "coherence"_a, "half"_a, "total"_a);
}

void bind_torque(nb::module_& m) {
    m.def(
        "torque_volume",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk,
           InOut<float, 3> out) {
            const Field field = edges.field();
            if (out.shape(0) != heights.shape(0) || static_cast<int>(out.shape(1)) != field.height ||
                static_cast<int>(out.shape(2)) != field.width)
                throw std::invalid_argument("out has the wrong shape");
            nb::gil_scoped_release release;
            const Patches p = patches_of(field, heights, widths, areas, disk);
            torque_volume(field, p.patches, p.shape, out.data());
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "disk"_a, "out"_a);
    m.def(
        "value_and_scale",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk,
           In<int32_t, 1> labels) {
            const Field field = edges.field();
            const size_t height = static_cast<size_t>(field.height), width = static_cast<size_t>(field.width);
            auto value = make<float, 2>({height, width});
            auto scale = make<int32_t, 2>({height, width});
            {
                nb::gil_scoped_release release;
                const Patches p = patches_of(field, heights, widths, areas, disk);
                value_and_scale(field, p.patches, p.shape, labels.data(), value.data(), scale.data());
            }
            return std::make_tuple(value, scale);
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "disk"_a, "labels"_a);
    m.def(
        "value_and_scale_of_volume",
        [](In<float, 3> tau, In<int32_t, 1> labels) {
            auto value = make<float, 2>({tau.shape(1), tau.shape(2)});
            auto scale = make<int32_t, 2>({tau.shape(1), tau.shape(2)});
            {
                nb::gil_scoped_release release;
                value_and_scale_of_volume(tau.data(), static_cast<int>(tau.shape(0)),
                                          static_cast<long long>(tau.shape(1) * tau.shape(2)), labels.data(),
                                          value.data(), scale.data());
            }
            return std::make_tuple(value, scale);
        },
        "tau"_a, "labels"_a);
    m.def(
        "torque_spectrum",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk, int y,
           int x) {
            const Field field = edges.field();
            auto tau = make<float, 1>({heights.shape(0)});
            nb::gil_scoped_release release;
            const Patches p = patches_of(field, heights, widths, areas, disk);
            torque_spectrum(field, p.patches, p.shape, y, x, tau.data());
            return tau;
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "disk"_a, "y"_a, "x"_a);
    m.def(
        "gradient_torque",
        [](In<double, 2> image, In<int64_t, 1> heights, In<int64_t, 1> widths) {
            const size_t height = image.shape(0), width = image.shape(1);
            auto tau = make<float, 3>({heights.shape(0), height, width});
            std::vector<Box> boxes;
            for (size_t k = 0; k < heights.shape(0); ++k)
                boxes.push_back({static_cast<int>(heights.data()[k] / 2), static_cast<int>(widths.data()[k] / 2)});
            nb::gil_scoped_release release;
            gradient_torque(image.data(), static_cast<int>(height), static_cast<int>(width), boxes, tau.data());
            return tau;
        },
        "image"_a, "heights"_a, "widths"_a);
}

void bind_extrema(nb::module_& m) {
    m.def(
        "extrema_of_volume",
        [](In<float, 3> tau, int sign, long long count, bool end_scales, float least) {
            std::vector<Extremum> extrema;
            {
                nb::gil_scoped_release release;
                extrema = extrema_of_volume(tau.data(), static_cast<int>(tau.shape(0)), static_cast<int>(tau.shape(1)),
                                            static_cast<int>(tau.shape(2)), {sign, count, end_scales, least});
            }
            return tuple_of(extrema);
        },
        "tau"_a, "sign"_a, "count"_a, "end_scales"_a, "least"_a);
    m.def(
        "extrema_of_field",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk,
           int sign, long long count, bool end_scales, float least) {
            const Field field = edges.field();
            std::vector<Extremum> extrema;
            {
                nb::gil_scoped_release release;
                const Patches p = patches_of(field, heights, widths, areas, disk);
                extrema = extrema_of_field(field, p.patches, p.shape, {sign, count, end_scales, least});
            }
            return tuple_of(extrema);
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "disk"_a, "sign"_a, "count"_a, "end_scales"_a, "least"_a);
    m.def(
        "suppress_overlaps",
        [](In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height, In<int64_t, 1> width, In<float, 1> value,
           double overlap) {
            auto keep = make<bool, 1>({y.shape(0)});
            nb::gil_scoped_release release;
            const std::vector<bool> kept = suppress_overlaps(y.data(), x.data(), height.data(), width.data(),
                                                             value.data(), static_cast<int>(y.shape(0)), overlap);
            std::copy(kept.begin(), kept.end(), keep.data());
            return keep;
        },
        "y"_a, "x"_a, "height"_a, "width"_a, "value"_a, "overlap"_a);
}

}  // namespace

void bind_core(nb::module_& m) {
    bind_fields(m);
    bind_torque(m);
    bind_extrema(m);
    m.def(
        "contributions",
        [](Plane fx, Plane fy, In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height, In<int64_t, 1> width,
           In<double, 1> weight, bool disk, bool absolute) {
            require_same_shape(fx, fy);
            const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)),
                              1,         nullptr};
            auto total = make<double, 2>({fx.shape(0), fx.shape(1)});
            const Votes votes{y.data(),     x.data(),      height.data(),
                              width.data(), weight.data(), static_cast<long long>(y.shape(0))};
            nb::gil_scoped_release release;
            std::fill_n(total.data(), total.size(), 0.0);
            const Shape shape = disk ? Shape::disk : Shape::box;
            if (absolute)
                add_absolute_contributions(field, votes, shape, total.data());
            else
                add_contributions(field, votes, shape, total.data());
            return total;
        },
        "fx"_a, "fy"_a, "y"_a, "x"_a, "height"_a, "width"_a, "weight"_a, "disk"_a, "absolute"_a);
}

}  // namespace imtorque
