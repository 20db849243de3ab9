// Detection of objects: contours, outlines, regions, selection among proposals.
#include <cstring>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "detection/component_tree.hpp"
#include "detection/contours.hpp"
#include "detection/distance.hpp"
#include "detection/forest.hpp"
#include "detection/hills.hpp"
#include "detection/max_weight_set.hpp"
#include "detection/outlines.hpp"
#include "detection/smoothing.hpp"

namespace imtorque {
namespace {

Outlines outlines_of(const In<float, 1>& y, const In<float, 1>& x, const Plane& radii) {
    if (y.size() != x.size() || y.size() != radii.shape(0) || radii.shape(1) < 3)
        throw std::invalid_argument("centres and radii differ in number");
    return {y.data(), x.data(), radii.data(), count_of(y), extent(radii, 1)};
}

void bind_contours(nb::module_& m) {
    m.def(
        "closed_contours",
        [](Plane gx, Plane gy, Plane grey, In<double, 2> seeds, int angles, int radii, double nearest, double farthest,
           double slope) {
            require_same_shape(gx, gy);
            require_same_shape(gx, grey);
            if (seeds.shape(0) != 7) throw std::invalid_argument("seeds must have seven rows");
            if (angles < 3 || radii < 2 || !(nearest > 0 && farthest > nearest))
                throw std::invalid_argument("angles or radii out of range");
            const size_t n = seeds.shape(1), t = static_cast<size_t>(angles);
            auto y = make<double, 2>({n, t}), x = make<double, 2>({n, t});
            auto evidence = make<float, 2>({n, t});
            auto seen = make<bool, 2>({n, t});
            auto inside = make<float, 1>({n}), outside = make<float, 1>({n});
            const double* row = seeds.data();
            const Seeds list{row,         row + n,     row + 2 * n, row + 3 * n,
                             row + 4 * n, row + 5 * n, row + 6 * n, static_cast<int>(n)};
            const GradientField field{gx.data(), gy.data(), grey.data(), extent(gx, 0), extent(gx, 1)};
            unlocked([&] {
                closed_contours(field, list, {angles, radii, nearest, farthest, slope},
                                {y.data(), x.data(), evidence.data(), seen.data(), inside.data(), outside.data()});
            });
            return std::make_tuple(y, x, evidence, seen, inside, outside);
        },
        "gx"_a, "gy"_a, "grey"_a, "seeds"_a, "angles"_a, "radii"_a, "nearest"_a, "farthest"_a, "slope"_a);
    m.def(
        "suppress_by_edges",
        [](In<double, 2> y, In<double, 2> x, In<float, 2> evidence, In<double, 1> sign, In<double, 1> diameter,
           int height, int width, double own_share, double overlap, double size_ratio, double margin) {
            const size_t n = y.shape(0), t = y.shape(1);
            if (x.shape(0) != n || x.shape(1) != t || evidence.shape(0) != n || evidence.shape(1) != t ||
                sign.shape(0) != n || diameter.shape(0) != n)
                throw std::invalid_argument("contours differ in number");
            if (height < 1 || width < 1 || static_cast<long long>(height) * width > INT32_MAX)
                throw std::invalid_argument("the grid must not be empty");
            auto labels = make<int32_t, 2>({static_cast<size_t>(height), static_cast<size_t>(width)});
            auto label_of = make<int32_t, 1>({n});
            unlocked([&] {
                suppress_by_edges({y.data(), x.data(), evidence.data(), sign.data(), diameter.data(),
                                   static_cast<int>(n), static_cast<int>(t), height, width},
                                  {own_share, overlap, size_ratio, margin}, labels.data(), label_of.data());
            });
            return std::make_tuple(labels, label_of);
        },
        "y"_a, "x"_a, "evidence"_a, "sign"_a, "diameter"_a, "height"_a, "width"_a, "own_share"_a, "overlap"_a,
        "size_ratio"_a, "margin"_a);
}

void bind_outlines(nb::module_& m) {
    m.def(
        "find_outlines",
        [](Plane gx, Plane gy, In<float, 1> y, In<float, 1> x, In<float, 1> radius, In<int8_t, 1> sign, int angles,
           float low, float high, int steps, float stiffness, float attraction) {
            require_same_shape(gx, gy);
            if (y.size() != x.size() || y.size() != radius.size() || y.size() != sign.size() || angles < 3 || steps < 2)
                throw std::invalid_argument("centres, radii and signs differ in number");
            auto radii = make<float, 2>({y.size(), static_cast<size_t>(angles)});
            auto mean = make<float, 1>({y.size()});
            unlocked([&] {
                find_outlines(gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), y.data(), x.data(), radius.data(),
                              sign.data(), count_of(y), angles, {low, high, steps, stiffness, attraction}, radii.data(),
                              mean.data());
            });
            return std::make_tuple(radii, mean);
        },
        "gx"_a, "gy"_a, "y"_a, "x"_a, "radius"_a, "sign"_a, "angles"_a, "low"_a, "high"_a, "steps"_a, "stiffness"_a,
        "attraction"_a);
    m.def(
        "label_outlines",
        [](In<int32_t, 2> labels, In<int32_t, 1> number, In<float, 1> y, In<float, 1> x, int angles,
           In<float, 1> reach) {
            if (y.size() != x.size() || y.size() != number.size() || y.size() != reach.size() || angles < 3)
                throw std::invalid_argument("centres, numbers and reaches differ in length");
            auto radii = make<float, 2>({y.size(), static_cast<size_t>(angles)});
            nb::gil_scoped_release release;
            label_outlines(labels.data(), extent(labels, 0), extent(labels, 1), number.data(), y.data(), x.data(),
                           count_of(y), angles, reach.data(), radii.data());
            return radii;
        },
        "labels"_a, "number"_a, "y"_a, "x"_a, "angles"_a, "reach"_a);
    m.def(
        "outline_profiles",
        [](In<float, 3> planes, In<float, 1> y, In<float, 1> x, Plane radii, In<float, 1> parts) {
            const Outlines outlines = outlines_of(y, x, radii);
            auto profiles = make<float, 4>({y.size(), planes.shape(0), parts.size(), 2});
            nb::gil_scoped_release release;
            outline_profiles(planes.data(), extent(planes, 0), extent(planes, 1), extent(planes, 2), outlines,
                             parts.data(), count_of(parts), profiles.data());
            return profiles;
        },
        "planes"_a, "y"_a, "x"_a, "radii"_a, "parts"_a);
    m.def(
        "outline_diameters",
        [](In<float, 3> planes, In<float, 1> y, In<float, 1> x, Plane radii) {
            const Outlines outlines = outlines_of(y, x, radii);
            if (outlines.angles % 2) throw std::invalid_argument("directions must be even in number");
            auto lines = make<float, 3>({y.size(), planes.shape(0), 4});
            nb::gil_scoped_release release;
            outline_diameters(planes.data(), extent(planes, 0), extent(planes, 1), extent(planes, 2), outlines,
                              lines.data());
            return lines;
        },
        "planes"_a, "y"_a, "x"_a, "radii"_a);
    m.def(
        "outline_contrasts",
        [](Plane gx, Plane gy, In<float, 1> y, In<float, 1> x, Plane radii) {
            require_same_shape(gx, gy);
            const Outlines outlines = outlines_of(y, x, radii);
            auto contrasts = make<float, 2>({y.size(), 5});
            nb::gil_scoped_release release;
            outline_contrasts(gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), outlines, contrasts.data());
            return contrasts;
        },
        "gx"_a, "gy"_a, "y"_a, "x"_a, "radii"_a);
    m.def(
        "outline_shapes",
        [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width) {
            const Outlines outlines = outlines_of(y, x, radii);
            auto shapes = make<double, 2>({y.size(), 10});
            nb::gil_scoped_release release;
            outline_shapes(outlines, height, width, shapes.data());
            return shapes;
        },
        "y"_a, "x"_a, "radii"_a, "height"_a, "width"_a);
    m.def(
        "outline_overlaps",
        [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width, double part) {
            const Outlines outlines = outlines_of(y, x, radii);
            const auto pairs = unlocked([&] { return outline_overlaps(outlines, height, width, part); });
            return std::make_tuple(from_vector(pairs.first), from_vector(pairs.second), from_vector(pairs.common));
        },
        "y"_a, "x"_a, "radii"_a, "height"_a, "width"_a, "part"_a);
    m.def(
        "paint_outlines",
        [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width) {
            const Outlines outlines = outlines_of(y, x, radii);
            auto labels = make<int32_t, 2>({static_cast<size_t>(height), static_cast<size_t>(width)});
            nb::gil_scoped_release release;
            paint_outlines(outlines, height, width, labels.data());
            return labels;
        },
        "y"_a, "x"_a, "radii"_a, "height"_a, "width"_a);
}

void bind_selection(nb::module_& m) {
    m.def(
        "extremal_regions",
        [](In<uint8_t, 2> image, long long smallest, long long largest, double growth, int angles) {
            const auto regions = unlocked([&] {
                return extremal_regions(image.data(), extent(image, 0), extent(image, 1),
                                        {smallest, largest, growth, angles});
            });
            auto radii = make<float, 2>({regions.y.size(), static_cast<size_t>(angles)});
            std::copy(regions.radii.begin(), regions.radii.end(), radii.data());
            return std::make_tuple(from_vector(regions.y), from_vector(regions.x), radii, from_vector(regions.area),
                                   from_vector(regions.stability), from_vector(regions.level));
        },
        "image"_a, "smallest"_a, "largest"_a, "growth"_a, "angles"_a);
    m.def(
        "distance_transform",
        [](In<uint8_t, 2> inside) {
            auto distance = like<float>(inside);
            nb::gil_scoped_release release;
            distance_transform(inside.data(), extent(inside, 0), extent(inside, 1), distance.data());
            return distance;
        },
        "inside"_a);
    m.def(
        "smooth_plane",
        [](Plane plane, In<double, 1> weights) {
            if (!weights.size()) throw std::invalid_argument("weights must not be empty");
            auto out = like<float>(plane);
            const std::vector<double> half(weights.data(), weights.data() + weights.size());
            nb::gil_scoped_release release;
            smooth_plane(plane.data(), extent(plane, 0), extent(plane, 1), half, out.data());
            return out;
        },
        "plane"_a, "weights"_a);
    m.def(
        "box_mean",
        [](Plane plane, int size) {
            if (size < 1) throw std::invalid_argument("size must be at least 1");
            auto out = like<float>(plane);
            nb::gil_scoped_release release;
            box_mean(plane.data(), extent(plane, 0), extent(plane, 1), size, out.data());
            return out;
        },
        "plane"_a, "size"_a);
    m.def(
        "label_hills",
        [](Plane plane, In<uint8_t, 2> inside) {
            require_same_shape(plane, inside);
            auto labels = like<int32_t>(plane);
            const auto hills = unlocked([&] {
                return label_hills(plane.data(), inside.data(), extent(plane, 0), extent(plane, 1), labels.data());
            });
            auto table = make<int64_t, 2>({hills.size(), 7});
            static_assert(sizeof(Hill) == 7 * sizeof(int64_t), "a row of the table");
            if (!hills.empty()) std::memcpy(table.data(), hills.data(), hills.size() * sizeof(Hill));
            return std::make_tuple(labels, table);
        },
        "plane"_a, "inside"_a);
    m.def(
        "max_weight_set",
        [](In<double, 1> weight, In<int32_t, 1> first, In<int32_t, 1> second, int budget) {
            if (first.size() != second.size()) throw std::invalid_argument("pairs differ in number");
            const int count = count_of(weight);
            for (size_t i = 0; i < first.size(); ++i)
                if (first.data()[i] < 0 || second.data()[i] < 0 || first.data()[i] >= count ||
                    second.data()[i] >= count)
                    throw std::invalid_argument("an index is out of range");
            auto selected = make<uint8_t, 1>({weight.size()});
            const auto exact = unlocked([&] {
                return max_weight_set(weight.data(), count,
                                      {first.data(), second.data(), static_cast<long long>(first.size())}, budget,
                                      selected.data());
            });
            return std::make_tuple(selected, exact);
        },
        "weight"_a, "first"_a, "second"_a, "budget"_a);
    m.def(
        "forest_values",
        [](In<int32_t, 1> feature, In<float, 1> threshold, In<int32_t, 1> left, In<int32_t, 1> right,
           In<float, 1> value, In<int32_t, 1> root, Plane features) {
            const size_t nodes = feature.size();
            if (threshold.size() != nodes || left.size() != nodes || right.size() != nodes || value.size() != nodes)
                throw std::invalid_argument("arrays of the forest differ in length");
            const auto within = [](int64_t i, size_t n) { return i >= 0 && static_cast<size_t>(i) < n; };
            for (size_t t = 0; t < root.size(); ++t)
                if (!within(root.data()[t], nodes)) throw std::invalid_argument("a root is out of range");
            for (size_t i = 0; i < nodes; ++i) {
                if (feature.data()[i] < 0) continue;
                const int64_t node = static_cast<int64_t>(i);  // children come later, so every walk ends
                if (!within(feature.data()[i], features.shape(1)) || !within(left.data()[i], nodes) ||
                    !within(right.data()[i], nodes) || left.data()[i] <= node || right.data()[i] <= node)
                    throw std::invalid_argument("a node of the forest is out of range");
            }
            auto values = make<float, 1>({features.shape(0)});
            nb::gil_scoped_release release;
            forest_values({feature.data(), threshold.data(), left.data(), right.data(), value.data(), root.data(),
                           count_of(root)},
                          features.data(), extent(features, 0), extent(features, 1), values.data());
            return values;
        },
        "feature"_a, "threshold"_a, "left"_a, "right"_a, "value"_a, "root"_a, "features"_a);
}

}  // namespace

void bind_detection(nb::module_& m) {
    bind_contours(m);
    bind_outlines(m);
    bind_selection(m);
}

}  // namespace imtorque
