// Fields, torque, extrema and contributions.
#include <cstring>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/edge_field.hpp"
#include "core/bounded_search.hpp"
#include "core/coherence.hpp"
#include "core/contribution.hpp"
#include "core/extrema.hpp"
#include "core/gradient_torque.hpp"
#include "core/moments_at.hpp"
#include "core/patch_moments.hpp"
#include "core/rounding.hpp"
#include "core/torque.hpp"

namespace imtorque {
namespace {

// A component of the field: a read-only array that keeps the field alive.
template <const float* Field::* kComponent>
nb::ndarray<nb::numpy, const float, nb::ndim<2>> component(nb::handle_t<EdgeField> self) {
    const Field field = nb::cast<const EdgeField&>(self).field();
    return {field.*kComponent, {static_cast<size_t>(field.height), static_cast<size_t>(field.width)}, self};
}

// The numbers that imtorque.core.patches gives to the shapes.
Shape shape_of(int code) {
    if (code < 0 || code > static_cast<int>(Shape::disk)) throw std::invalid_argument("unknown shape of patches");
    return static_cast<Shape>(code);
}

struct Patches {
    std::vector<Patch> patches;
    Shape shape;
};

// heights and widths are odd sides, areas the normalisations Z: torque = moment / (2 Z), and closure = E / (2 Z).
Patches patches_of(const Field& field, const In<int64_t, 1>& heights, const In<int64_t, 1>& widths,
                   const In<double, 1>& areas, int code) {
    std::vector<Patch> patches;
    for (size_t k = 0; k < heights.shape(0); ++k) {
        const double area = areas.data()[k];
        const double norm = field.free ? 1 / (8 * area) : 1 / (4 * area * field.steps);
        const int64_t height = heights.data()[k], width = widths.data()[k];
        patches.push_back({static_cast<int>(height / 2), static_cast<int>(width / 2),
                           area > 0 ? static_cast<float>(norm) : 0.0f,
                           static_cast<double>(height) / static_cast<double>(width)});
    }
    const Shape shape = shape_of(code);
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

void write_rows(const std::vector<UnmergedExtremum>& found, int32_t* row) {
    for (const UnmergedExtremum& f : found) {
        std::memcpy(row, &f.value, sizeof(float));
        row[1] = f.k;
        row[2] = f.y;
        row[3] = f.x;
        row[4] = f.tied;
        row += 5;
    }
}

// From the height and width of a field, and what its statistics say of its forces.
template <double (*kSteps)(const ForceStatistics&, int, int)>
double steps(int height, int width, const std::tuple<int, int, int, int>& extent, double largest, int grain,
             std::vector<int> not_pell, std::vector<std::pair<int, long long>> octaves) {
    const auto [top, left, bottom, right] = extent;
    return kSteps({largest, top, left, bottom, right, grain, std::move(not_pell), std::move(octaves), {}}, height,
                  width);
}

template <void (*kDivide)(const Field&, int, float*)>
void divide(const EdgeField& edges, int half, InOut<float, 2> tau) {
    const Field field = edges.field();
    if (extent(tau, 0) != field.height || extent(tau, 1) != field.width)
        throw std::invalid_argument("tau differs in shape");
    nb::gil_scoped_release release;
    kDivide(field, half, tau.data());
}

void bind_fields(nb::module_& m) {
    nb::class_<EdgeField>(m, "EdgeField")
        .def(nb::init<Plane, Plane>(), "fx"_a, "fy"_a)
        .def("round_to", &EdgeField::round_to, "steps"_a)
        .def("statistics", &EdgeField::statistics)
        .def("turned", &EdgeField::turned, "a"_a, "b"_a, "c"_a, "d"_a)
        .def_prop_ro("mass", &EdgeField::mass)
        .def_prop_ro("fx", &component<&Field::fx>)
        .def_prop_ro("fy", &component<&Field::fy>);
    m.def("unit_exponent", &unit_exponent, "largest"_a);
    m.def("choose_steps", &steps<&choose_steps>, "height"_a, "width"_a, "extent"_a, "largest"_a, "grain"_a,
          "not_pell"_a, "octaves"_a);
    m.def("finest_steps", &steps<&finest_steps>, "height"_a, "width"_a, "extent"_a, "largest"_a, "grain"_a,
          "not_pell"_a, "octaves"_a);
    m.def("divide_by_mass", &divide<&divide_by_mass>, "edges"_a, "half"_a, "tau"_a);
    m.def("divide_by_second_mass", &divide<&divide_by_second_mass>, "edges"_a, "half"_a, "tau"_a);
    m.def(
        "add_coherent_votes",
        [](const EdgeField& edges, In<int64_t, 1> halves, InOut<float, 3> tau, InOut<double, 2> total) {
            const Field field = edges.field();
            const size_t height = static_cast<size_t>(field.height), width = static_cast<size_t>(field.width);
            if (tau.shape(0) != halves.shape(0) || tau.shape(1) != height || tau.shape(2) != width ||
                total.shape(0) != height || total.shape(1) != width)
                throw std::invalid_argument("tau or total differs in shape");
            std::vector<int> sizes;
            for (size_t i = 0; i < halves.shape(0); ++i) {
                if (halves.data()[i] < 0 || halves.data()[i] > INT32_MAX / 2)
                    throw std::invalid_argument("a half size is out of range");
                sizes.push_back(static_cast<int>(halves.data()[i]));
            }
            nb::gil_scoped_release release;
            add_coherent_votes(field, sizes, tau.data(), total.data());
        },
        "edges"_a, "halves"_a, "tau"_a, "total"_a);
}

void bind_torque(nb::module_& m) {
    m.def(
        "torque_volume",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, int shape,
           bool free, InOut<float, 3> out) {
            const Field field = edges.field(free);
            if (out.shape(0) != heights.shape(0) || extent(out, 1) != field.height || extent(out, 2) != field.width)
                throw std::invalid_argument("out has the wrong shape");
            nb::gil_scoped_release release;
            const Patches p = patches_of(field, heights, widths, areas, shape);
            torque_volume(field, p.patches, p.shape, out.data());
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "shape"_a, "free"_a, "out"_a);
    m.def(
        "value_and_scale",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, int shape,
           bool free, In<int32_t, 1> labels) {
            const Field field = edges.field(free);
            const size_t height = static_cast<size_t>(field.height), width = static_cast<size_t>(field.width);
            auto value = make<float, 2>({height, width});
            auto scale = make<int32_t, 2>({height, width});
            unlocked([&] {
                const Patches p = patches_of(field, heights, widths, areas, shape);
                value_and_scale(field, p.patches, p.shape, labels.data(), value.data(), scale.data());
            });
            return std::make_tuple(value, scale);
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "shape"_a, "free"_a, "labels"_a);
    m.def(
        "value_and_scale_of_volume",
        [](In<float, 3> tau, In<int32_t, 1> labels) {
            auto value = make<float, 2>({tau.shape(1), tau.shape(2)});
            auto scale = make<int32_t, 2>({tau.shape(1), tau.shape(2)});
            unlocked([&] {
                value_and_scale_of_volume(tau.data(), extent(tau, 0),
                                          static_cast<long long>(tau.shape(1) * tau.shape(2)), labels.data(),
                                          value.data(), scale.data());
            });
            return std::make_tuple(value, scale);
        },
        "tau"_a, "labels"_a);
    m.def(
        "torque_spectrum",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, int shape,
           bool free, int y, int x) {
            const Field field = edges.field(free);
            auto tau = make<float, 1>({heights.shape(0)});
            nb::gil_scoped_release release;
            const Patches p = patches_of(field, heights, widths, areas, shape);
            torque_spectrum(field, p.patches, p.shape, y, x, tau.data());
            return tau;
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "shape"_a, "free"_a, "y"_a, "x"_a);
    m.def(
        "patch_moments",
        [](const EdgeField& edges, int64_t height, int64_t width) {
            const Field field = edges.field();
            auto moments = make<float, 3>({4, static_cast<size_t>(field.height), static_cast<size_t>(field.width)});
            const Patch box{static_cast<int>(height / 2), static_cast<int>(width / 2),
                            static_cast<float>(1 / (2 * field.steps))};
            nb::gil_scoped_release release;
            patch_moments(field, clip_patches({box}, Shape::box, field).front(), moments.data());
            return moments;
        },
        "edges"_a, "height"_a, "width"_a);
    m.def(
        "moments_at",
        [](const EdgeField& edges, In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height, In<int64_t, 1> width) {
            const Field field = edges.field();
            auto sums = make<double, 2>({y.shape(0), 6});
            nb::gil_scoped_release release;
            moments_at(field, {y.data(), x.data(), height.data(), width.data(), static_cast<long long>(y.shape(0))},
                       sums.data());
            return sums;
        },
        "edges"_a, "y"_a, "x"_a, "height"_a, "width"_a);
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
    m.def(
        "gradient_disks",
        [](In<double, 2> image, In<int64_t, 1> sizes) {
            const size_t height = image.shape(0), width = image.shape(1);
            auto tau = make<float, 3>({sizes.shape(0), height, width});
            std::vector<int> radii;
            for (size_t k = 0; k < sizes.shape(0); ++k) radii.push_back(static_cast<int>(sizes.data()[k] / 2));
            nb::gil_scoped_release release;
            gradient_disks(image.data(), static_cast<int>(height), static_cast<int>(width), radii, tau.data());
            return tau;
        },
        "image"_a, "sizes"_a);
}

void bind_extrema(nb::module_& m) {
    m.def(
        "extrema_of_volume",
        [](In<float, 3> tau, In<int64_t, 1> heights, In<int64_t, 1> widths, int sign, long long count, bool end_scales,
           float least, bool cross, bool inside) {
            if (heights.shape(0) != tau.shape(0) || widths.shape(0) != tau.shape(0))
                throw std::invalid_argument("heights and widths must have one entry for each size");
            std::vector<Reach> halves;
            for (size_t k = 0; k < tau.shape(0); ++k)
                halves.push_back({static_cast<int>(heights.data()[k] / 2), static_cast<int>(widths.data()[k] / 2)});
            const auto extrema = unlocked([&] {
                return extrema_of_volume(tau.data(), halves, extent(tau, 1), extent(tau, 2),
                                         {sign, count, end_scales, least, false, cross, inside});
            });
            return tuple_of(extrema);
        },
        "tau"_a, "heights"_a, "widths"_a, "sign"_a, "count"_a, "end_scales"_a, "least"_a, "cross"_a = false,
        "inside"_a = false);
    // The last number is that of the patches whose torque was computed.
    m.def(
        "extrema_of_field",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, int shape,
           bool free, int sign, long long count, bool end_scales, float least, bool cross, bool inside, bool near) {
            const Field field = edges.field(free);
            long long visited = 0;
            const auto extrema = unlocked([&] {
                const Patches p = patches_of(field, heights, widths, areas, shape);
                return extrema_of_field(field, p.patches, p.shape,
                                        {sign, count, end_scales, least, near, cross, inside}, &visited);
            });
            return std::tuple_cat(tuple_of(extrema), std::make_tuple(visited));
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "shape"_a, "free"_a, "sign"_a, "count"_a, "end_scales"_a,
        "least"_a, "cross"_a = false, "inside"_a = false, "near"_a = false);
    m.def("force_bounded_search", &force_bounded_search, "yes"_a);
    // Rows of (bits of the value, k, y, x, tied): those inside `core`, moved by where the field begins in the image.
    m.def(
        "unmerged_extrema",
        [](const EdgeField& edges, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, int shape,
           bool free, float least, const std::tuple<int, int, int, int>& core, int y, int x, bool end_scales,
           bool cross, bool inside) {
            const Field field = edges.field(free);
            const auto [top, left, bottom, right] = core;
            std::vector<UnmergedExtremum> inner;
            unlocked([&, top = top, left = left, bottom = bottom, right = right] {
                const Patches p = patches_of(field, heights, widths, areas, shape);
                for (UnmergedExtremum f :
                     unmerged_extrema(field, p.patches, p.shape, {0, -1, end_scales, least, false, cross, inside})) {
                    if (f.y < top || f.y >= bottom || f.x < left || f.x >= right) continue;
                    f.y += y;
                    f.x += x;
                    inner.push_back(f);
                }
            });
            auto rows = make<int32_t, 2>({inner.size(), 5});
            write_rows(inner, rows.data());
            return rows;
        },
        "edges"_a, "heights"_a, "widths"_a, "areas"_a, "shape"_a, "free"_a, "least"_a, "core"_a, "y"_a, "x"_a,
        "end_scales"_a = true, "cross"_a = false, "inside"_a = false);
    // Puts such rows, of all parts of an image, in order and merges ties, in place; returns how many are left.
    m.def(
        "merge_extrema",
        [](InOut<int32_t, 2> rows) {
            if (rows.shape(1) != 5) throw std::invalid_argument("rows must have five columns");
            nb::gil_scoped_release release;
            std::vector<UnmergedExtremum> found(rows.shape(0));
            for (size_t i = 0; i < found.size(); ++i) {
                const int32_t* row = rows.data() + 5 * i;
                std::memcpy(&found[i].value, row, sizeof(float));
                found[i].k = row[1];
                found[i].y = row[2];
                found[i].x = row[3];
                found[i].tied = row[4] != 0;
            }
            sort_and_merge(found);
            write_rows(found, rows.data());
            return found.size();
        },
        "rows"_a);
    m.def(
        "suppress_overlaps",
        [](In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height, In<int64_t, 1> width, In<float, 1> value,
           double overlap) {
            auto keep = make<bool, 1>({y.shape(0)});
            nb::gil_scoped_release release;
            const std::vector<bool> kept =
                suppress_overlaps(y.data(), x.data(), height.data(), width.data(), value.data(), extent(y, 0), overlap);
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
           In<double, 1> weight, int shape, bool absolute, bool free) {
            require_same_shape(fx, fy);
            Field field{fx.data(), fy.data(), extent(fx, 0), extent(fx, 1), 1, nullptr};
            field.free = free;
            auto total = like<double>(fx);
            const Votes votes{y.data(),     x.data(),      height.data(),
                              width.data(), weight.data(), static_cast<long long>(y.shape(0))};
            nb::gil_scoped_release release;
            std::fill_n(total.data(), total.size(), 0.0);
            if (absolute)
                add_absolute_contributions(field, votes, shape_of(shape), total.data());
            else
                add_contributions(field, votes, shape_of(shape), total.data());
            return total;
        },
        "fx"_a, "fy"_a, "y"_a, "x"_a, "height"_a, "width"_a, "weight"_a, "shape"_a, "absolute"_a, "free"_a);
}

}  // namespace imtorque
