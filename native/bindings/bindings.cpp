// The only file that knows Python. Arrays are checked for dtype, rank and contiguity by their types here; what their
// values must satisfy is checked by the public functions above. The GIL is released around every kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cuts/alpha_expansion.hpp"
#include "matching/boundary_matching.hpp"
#include "cuts/box_scores.hpp"
#include "edges/canny.hpp"
#include "core/coherence.hpp"
#include "core/contribution.hpp"
#include "recognition/dense_sift.hpp"
#include "core/extrema.hpp"
#include "core/gradient_torque.hpp"
#include "recognition/kernel_machine.hpp"
#include "recognition/linear_coding.hpp"
#include "cuts/max_flow.hpp"
#include "recognition/multiscale_torque.hpp"
#include "cuts/nearest_seeds.hpp"
#include "recognition/nearest_words.hpp"
#include "core/parallel.hpp"
#include "cuts/polar_edges.hpp"
#include "finding/contours.hpp"
#include "core/simd.hpp"
#include "matching/thinning.hpp"
#include "core/torque.hpp"
#include "finding/best_set.hpp"
#include "finding/climb.hpp"
#include "finding/component_tree.hpp"
#include "finding/distance.hpp"
#include "finding/forest.hpp"
#include "finding/outlines.hpp"

namespace nb = nanobind;

namespace {

using namespace imtorque;

template <class T, int kRank>
using In = nb::ndarray<const T, nb::ndim<kRank>, nb::c_contig, nb::device::cpu>;
template <class T, int kRank>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kRank>>;
using Plane = In<float, 2>;

template <class T>
T* uninitialised(size_t count) {
    return static_cast<T*>(::operator new(std::max<size_t>(count, 1) * sizeof(T)));
}

// A new array that owns its memory. Not cleared: kernels write every element.
template <class T, int kRank>
Out<T, kRank> make(std::initializer_list<size_t> shape) {
    size_t count = 1;
    for (size_t n : shape) count *= n;
    T* data = uninitialised<T>(count);
    nb::capsule owner(data, [](void* p) noexcept { ::operator delete(p); });
    return Out<T, kRank>(data, shape, owner);
}

void require_same_shape(const Plane& a, const Plane& b) {
    if (a.shape(0) != b.shape(0) || a.shape(1) != b.shape(1)) throw std::invalid_argument("planes differ in shape");
}

void require_words(const Plane& descriptors, const Plane& words, int neighbours) {
    if (descriptors.shape(1) != words.shape(1)) throw std::invalid_argument("descriptors and words differ in length");
    if (neighbours < 1 || neighbours > kMostNeighbours || static_cast<size_t>(neighbours) > words.shape(0))
        throw std::invalid_argument("neighbours must be between 1 and 32, and no more than there are words");
}

void require_within(const In<int32_t, 2>& index, int count) {
    for (size_t i = 0; i < index.size(); ++i)
        if (index.data()[i] < 0 || index.data()[i] >= count) throw std::invalid_argument("an index is out of range");
}

Field field_of(const Plane& fx, const Plane& fy, double steps, const In<double, 2>& blocks) {
    require_same_shape(fx, fy);
    const int height = static_cast<int>(fx.shape(0)), width = static_cast<int>(fx.shape(1));
    if (static_cast<int>(blocks.shape(0)) != block_rows(height) || static_cast<int>(blocks.shape(1)) != block_rows(width))
        throw std::invalid_argument("blocks do not belong to the field");
    return {fx.data(), fy.data(), height, width, steps, blocks.data()};
}

// ---- finding ----

Outlines outlines_of(const In<float, 1>& y, const In<float, 1>& x, const Plane& radii) {
    if (y.size() != x.size() || y.size() != radii.shape(0) || radii.shape(1) < 3)
        throw std::invalid_argument("centres and radii differ in number");
    return {y.data(), x.data(), radii.data(), static_cast<int>(y.size()), static_cast<int>(radii.shape(1))};
}

template <class T>
Out<T, 1> array_of(const std::vector<T>& values) {
    auto array = make<T, 1>({values.size()});
    std::copy(values.begin(), values.end(), array.data());
    return array;
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

nb::tuple tuple_of(const std::vector<Extremum>& extrema) {
    auto k = make<int64_t, 1>({extrema.size()}), y = make<int64_t, 1>({extrema.size()}),
         x = make<int64_t, 1>({extrema.size()});
    auto value = make<float, 1>({extrema.size()});
    for (size_t i = 0; i < extrema.size(); ++i) {
        k.data()[i] = extrema[i].k;
        y.data()[i] = extrema[i].y;
        x.data()[i] = extrema[i].x;
        value.data()[i] = extrema[i].value;
    }
    return nb::make_tuple(k, y, x, value);
}

BoxList boxes_of(const In<int64_t, 2>& boxes, int height, int width) {
    if (boxes.shape(1) != 4) throw std::invalid_argument("boxes must have four columns");
    for (const int64_t* box = boxes.data(); box != boxes.data() + boxes.size(); box += 4)
        if (box[0] < 0 || box[1] < 0 || box[2] > height || box[3] > width || box[0] >= box[2] || box[1] >= box[3])
            throw std::invalid_argument("boxes must lie in the image and not be empty");
    return {boxes.data(), static_cast<long long>(boxes.shape(0))};
}

template <class T>
Out<float, 2> bind_to_grey(In<T, 3> pixels, double white, double offset, double scale) {
    auto grey = make<float, 2>({pixels.shape(0), pixels.shape(1)});
    nb::gil_scoped_release release;
    to_grey(pixels.data(), static_cast<long long>(pixels.shape(0) * pixels.shape(1)), static_cast<int>(pixels.shape(2)),
            white, offset, scale, grey.data());
    return grey;
}

// Links between neighbours of a grid, as GridCapacities stores them; those to diagonal neighbours may be absent.
GridLinks links_of(size_t height, size_t width, const In<double, 2>& right, const In<double, 2>& down,
                   const In<double, 2>& down_right, const In<double, 2>& down_left, bool diagonal, bool wrap_rows) {
    auto is = [](const In<double, 2>& plane, size_t h, size_t w) { return plane.shape(0) == h && plane.shape(1) == w; };
    const size_t rows = wrap_rows ? height : height - 1;
    if (height * width == 0 || !is(right, height, width - 1) || !is(down, rows, width) ||
        (diagonal && (!is(down_right, rows, width - 1) || !is(down_left, rows, width - 1))))
        throw std::invalid_argument("links do not belong to the grid");
    return {static_cast<int>(height), static_cast<int>(width), right.data(), down.data(), down_right.data(),
            down_left.data(), diagonal, wrap_rows};
}

// Run `match` once per truth, in parallel; the maps' pixels lie between consecutive starts.
template <class Match>
Out<int32_t, 2> match_truths(const In<int32_t, 1>& pixels, const In<int64_t, 1>& starts, const In<uint8_t, 3>& truths,
                             const Match& match) {
    const size_t count = truths.shape(0), area = truths.shape(1) * truths.shape(2);
    auto partners = make<int32_t, 2>({count, pixels.size()});
    const BoundaryMaps maps{pixels.data(), starts.data(), static_cast<int>(starts.size()) - 1,
                            static_cast<int>(truths.shape(1)), static_cast<int>(truths.shape(2))};
    nb::gil_scoped_release release;
    parallel_for(static_cast<int>(count), [&](int k) {
        match(maps, truths.data() + k * area, partners.data() + k * pixels.size());
    });
    return partners;
}

}  // namespace

NB_MODULE(_native, m) {
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, nb::arg("n"));
    m.def("uses_avx2", &use_avx2);
    m.def("allow_avx2", &allow_avx2, nb::arg("yes"));

    m.def("to_grey", &bind_to_grey<uint8_t>);
    m.def("to_grey", &bind_to_grey<uint16_t>);
    m.def("to_grey", &bind_to_grey<float>);
    m.def("to_grey", &bind_to_grey<double>);

    m.def("canny", [](Plane image, double sigma, double low, double high, bool quantiles, bool automatic) {
        const size_t height = image.shape(0), width = image.shape(1);
        auto fx = make<float, 2>({height, width}), fy = make<float, 2>({height, width});
        {
            nb::gil_scoped_release release;
            canny(image.data(), static_cast<int>(height), static_cast<int>(width), sigma,
                  {low, high, quantiles, automatic}, fx.data(), fy.data());
        }
        return nb::make_tuple(fx, fy);
    });
    m.def("smoothed_gradient", [](Plane image, double sigma) {
        const size_t height = image.shape(0), width = image.shape(1);
        auto gx = make<float, 2>({height, width}), gy = make<float, 2>({height, width});
        {
            nb::gil_scoped_release release;
            smoothed_gradient(image.data(), static_cast<int>(height), static_cast<int>(width), sigma, gx.data(),
                              gy.data());
        }
        return nb::make_tuple(gx, gy);
    });
    m.def("suppress_non_maxima", [](Plane strength, Plane gx, Plane gy, float threshold) {
        require_same_shape(strength, gx);
        require_same_shape(gx, gy);
        auto thinned = make<float, 2>({strength.shape(0), strength.shape(1)});
        nb::gil_scoped_release release;
        suppress_non_maxima(strength.data(), gx.data(), gy.data(), static_cast<int>(gx.shape(0)),
                            static_cast<int>(gx.shape(1)), threshold, thinned.data());
        return thinned;
    });
    m.def("shape_forces", [](nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> fx,
                             nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> fy, double strength_scale,
                             int directions, bool arc_length) {
        if (fx.shape(0) != fy.shape(0) || fx.shape(1) != fy.shape(1)) throw std::invalid_argument("fx and fy differ in shape");
        nb::gil_scoped_release release;
        shape_forces(fx.data(), fy.data(), static_cast<long long>(fx.size()), strength_scale, directions, arc_length);
    });

    m.def("survey", [](Plane fx, Plane fy) {
        require_same_shape(fx, fy);
        const int height = static_cast<int>(fx.shape(0)), width = static_cast<int>(fx.shape(1));
        Survey result;
        {
            nb::gil_scoped_release release;
            result = survey(fx.data(), fy.data(), height, width);
        }
        auto blocks =
            make<double, 2>({static_cast<size_t>(block_rows(height)), static_cast<size_t>(block_rows(width))});
        std::copy(result.blocks.begin(), result.blocks.end(), blocks.data());
        return nb::make_tuple(result.largest, result.steps, blocks);
    });
    m.def("torque_volume",
          [](Plane fx, Plane fy, double steps, In<double, 2> blocks, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk,
             nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu> out) {
              const Field field = field_of(fx, fy, steps, blocks);
              if (out.shape(0) != heights.shape(0) || out.shape(1) != fx.shape(0) || out.shape(2) != fx.shape(1))
                  throw std::invalid_argument("out has the wrong shape");
              nb::gil_scoped_release release;
              const Patches p = patches_of(field, heights, widths, areas, disk);
              torque_volume(field, p.patches, p.shape, out.data());
          });
    m.def("value_and_scale",
          [](Plane fx, Plane fy, double steps, In<double, 2> blocks, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas, bool disk,
             In<int32_t, 1> labels) {
              const Field field = field_of(fx, fy, steps, blocks);
              auto value = make<float, 2>({fx.shape(0), fx.shape(1)});
              auto scale = make<int32_t, 2>({fx.shape(0), fx.shape(1)});
              {
                  nb::gil_scoped_release release;
                  const Patches p = patches_of(field, heights, widths, areas, disk);
                  value_and_scale(field, p.patches, p.shape, labels.data(), value.data(), scale.data());
              }
              return nb::make_tuple(value, scale);
          });
    m.def("value_and_scale_of_volume", [](In<float, 3> tau, In<int32_t, 1> labels) {
        auto value = make<float, 2>({tau.shape(1), tau.shape(2)});
        auto scale = make<int32_t, 2>({tau.shape(1), tau.shape(2)});
        {
            nb::gil_scoped_release release;
            value_and_scale_of_volume(tau.data(), static_cast<int>(tau.shape(0)),
                                      static_cast<long long>(tau.shape(1) * tau.shape(2)), labels.data(), value.data(),
                                      scale.data());
        }
        return nb::make_tuple(value, scale);
    });
    m.def("torque_spectrum", [](Plane fx, Plane fy, double steps, In<double, 2> blocks, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas,
                                bool disk, int y, int x) {
        const Field field = field_of(fx, fy, steps, blocks);
        auto tau = make<float, 1>({heights.shape(0)});
        nb::gil_scoped_release release;
        const Patches p = patches_of(field, heights, widths, areas, disk);
        torque_spectrum(field, p.patches, p.shape, y, x, tau.data());
        return tau;
    });
    m.def("gradient_torque", [](In<double, 2> image, In<int64_t, 1> heights, In<int64_t, 1> widths) {
        const size_t height = image.shape(0), width = image.shape(1);
        auto tau = make<float, 3>({heights.shape(0), height, width});
        std::vector<Box> boxes;
        for (size_t k = 0; k < heights.shape(0); ++k)
            boxes.push_back({static_cast<int>(heights.data()[k] / 2), static_cast<int>(widths.data()[k] / 2)});
        nb::gil_scoped_release release;
        gradient_torque(image.data(), static_cast<int>(height), static_cast<int>(width), boxes, tau.data());
        return tau;
    });

    m.def("extrema_of_volume", [](In<float, 3> tau, int sign, long long count, bool end_scales) {
        std::vector<Extremum> extrema;
        {
            nb::gil_scoped_release release;
            extrema = extrema_of_volume(tau.data(), static_cast<int>(tau.shape(0)), static_cast<int>(tau.shape(1)),
                                        static_cast<int>(tau.shape(2)), {sign, count, end_scales});
        }
        return tuple_of(extrema);
    });
    m.def("extrema_of_field", [](Plane fx, Plane fy, double steps, In<double, 2> blocks, In<int64_t, 1> heights, In<int64_t, 1> widths, In<double, 1> areas,
                                 bool disk, int sign, long long count, bool end_scales) {
        const Field field = field_of(fx, fy, steps, blocks);
        std::vector<Extremum> extrema;
        {
            nb::gil_scoped_release release;
            const Patches p = patches_of(field, heights, widths, areas, disk);
            extrema = extrema_of_field(field, p.patches, p.shape, {sign, count, end_scales});
        }
        return tuple_of(extrema);
    });
    m.def("suppress_overlaps", [](In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height, In<int64_t, 1> width,
                                  In<float, 1> value, double overlap) {
        auto keep = make<bool, 1>({y.shape(0)});
        nb::gil_scoped_release release;
        const std::vector<bool> kept = suppress_overlaps(y.data(), x.data(), height.data(), width.data(), value.data(),
                                                         static_cast<int>(y.shape(0)), overlap);
        std::copy(kept.begin(), kept.end(), keep.data());
        return keep;
    });
    m.def("contributions", [](Plane fx, Plane fy, In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height,
                              In<int64_t, 1> width, In<double, 1> weight, bool disk, bool absolute) {
        require_same_shape(fx, fy);
        const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)), 1, nullptr};
        auto total = make<double, 2>({fx.shape(0), fx.shape(1)});
        const Votes votes{y.data(),      x.data(),      height.data(), width.data(),
                          weight.data(), static_cast<long long>(y.shape(0))};
        nb::gil_scoped_release release;
        std::fill_n(total.data(), total.size(), 0.0);
        const Shape shape = disk ? Shape::disk : Shape::box;
        if (absolute)
            add_absolute_contributions(field, votes, shape, total.data());
        else
            add_contributions(field, votes, shape, total.data());
        return total;
    });

    m.def("divide_by_mass", [](Plane fx, Plane fy, double steps, int half,
                               nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> tau) {
        require_same_shape(fx, fy);
        if (tau.shape(0) != fx.shape(0) || tau.shape(1) != fx.shape(1)) throw std::invalid_argument("tau differs in shape");
        const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)), steps, nullptr};
        nb::gil_scoped_release release;
        divide_by_mass(field, half, tau.data());
    });
    m.def("add_coherent_votes", [](Plane fx, Plane fy, Plane coherence, int half,
                                   nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> total) {
        require_same_shape(fx, fy);
        require_same_shape(fx, coherence);
        if (total.shape(0) != fx.shape(0) || total.shape(1) != fx.shape(1))
            throw std::invalid_argument("total differs in shape");
        const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)), 1, nullptr};
        nb::gil_scoped_release release;
        add_coherent_votes(field, coherence.data(), half, total.data());
    });

    m.def("polar_edges", [](Plane strength, Plane dx, Plane dy, int y, int x, double threshold, size_t columns) {
        require_same_shape(strength, dx);
        require_same_shape(strength, dy);
        if (columns < 1) throw std::invalid_argument("columns must be at least 1");
        auto polar = make<double, 2>({360, columns});
        const EdgePoints edges{strength.data(), dx.data(), dy.data(), static_cast<int>(strength.shape(0)),
                               static_cast<int>(strength.shape(1))};
        nb::gil_scoped_release release;
        std::fill_n(polar.data(), polar.size(), 0.0);
        splat_polar_edges(edges, y, x, threshold, static_cast<int>(columns), polar.data());
        return polar;
    });
    m.def("nearest_seeds", [](In<double, 2> cost, In<int32_t, 2> seeds) {
        if (cost.shape(0) != seeds.shape(0) || cost.shape(1) != seeds.shape(1))
            throw std::invalid_argument("cost and seeds differ in shape");
        if (cost.size() > INT32_MAX) throw std::invalid_argument("the picture has too many pixels");
        auto labels = make<int32_t, 2>({seeds.shape(0), seeds.shape(1)});
        nb::gil_scoped_release release;
        std::copy_n(seeds.data(), seeds.size(), labels.data());
        nearest_seeds(cost.data(), static_cast<int>(cost.shape(0)), static_cast<int>(cost.shape(1)), labels.data());
        return labels;
    });

    m.def("box_scores", [](In<double, 3> planes, In<int64_t, 2> boxes, double inside, double outside) {
        const int height = static_cast<int>(planes.shape(1)), width = static_cast<int>(planes.shape(2));
        const BoxList list = boxes_of(boxes, height, width);
        auto torque = make<double, 1>({boxes.shape(0)});
        auto sides = make<double, 2>({boxes.shape(0), 4});
        {
            nb::gil_scoped_release release;
            box_scores(planes.data(), static_cast<int>(planes.shape(0)), height, width, list, inside, outside,
                       torque.data(), sides.data());
        }
        return nb::make_tuple(torque, sides);
    });
    m.def("closed_contours", [](Plane gx, Plane gy, Plane grey, In<double, 2> seeds, int angles, int radii, double nearest,
                                double farthest, double slope) {
        require_same_shape(gx, gy);
        require_same_shape(gx, grey);
        if (seeds.shape(0) != 6) throw std::invalid_argument("seeds must have six rows");
        if (angles < 3 || radii < 2 || !(nearest > 0 && farthest > nearest)) throw std::invalid_argument("rays are not usable");
        const size_t n = seeds.shape(1), t = static_cast<size_t>(angles);
        auto y = make<double, 2>({n, t}), x = make<double, 2>({n, t});
        auto evidence = make<float, 2>({n, t});
        auto seen = make<bool, 2>({n, t});
        auto inside = make<float, 1>({n}), outside = make<float, 1>({n});
        const double* row = seeds.data();
        const Seeds list{row, row + n, row + 2 * n, row + 3 * n, row + 4 * n, row + 5 * n, static_cast<int>(n)};
        const GradientField field{gx.data(), gy.data(), grey.data(), static_cast<int>(gx.shape(0)), static_cast<int>(gx.shape(1))};
        {
            nb::gil_scoped_release release;
            closed_contours(field, list, {angles, radii, nearest, farthest, slope},
                            {y.data(), x.data(), evidence.data(), seen.data(), inside.data(), outside.data()});
        }
        return nb::make_tuple(y, x, evidence, seen, inside, outside);
    });
    m.def("claim_edges", [](In<double, 2> y, In<double, 2> x, In<float, 2> evidence, In<double, 1> sign, In<double, 1> diameter,
                            int height, int width, double fresh, double overlap, double nested, double reach) {
        const size_t n = y.shape(0), t = y.shape(1);
        if (x.shape(0) != n || x.shape(1) != t || evidence.shape(0) != n || evidence.shape(1) != t || sign.shape(0) != n ||
            diameter.shape(0) != n)
            throw std::invalid_argument("contours differ in number");
        if (height < 1 || width < 1 || static_cast<long long>(height) * width > INT32_MAX) throw std::invalid_argument("no such grid");
        auto labels = make<int32_t, 2>({static_cast<size_t>(height), static_cast<size_t>(width)});
        auto label_of = make<int32_t, 1>({n});
        {
            nb::gil_scoped_release release;
            claim_edges({y.data(), x.data(), evidence.data(), sign.data(), diameter.data(), static_cast<int>(n),
                         static_cast<int>(t), height, width}, {fresh, overlap, nested, reach}, labels.data(), label_of.data());
        }
        return nb::make_tuple(labels, label_of);
    });
    m.def("distinct_boxes", [](In<int64_t, 2> boxes, double overlap, long long most) {
        const BoxList list = boxes_of(boxes, INT32_MAX, INT32_MAX);
        std::vector<int64_t> kept(static_cast<size_t>(std::max(0LL, std::min(most, list.count))));
        {
            nb::gil_scoped_release release;
            kept.resize(static_cast<size_t>(distinct_boxes(list, overlap, most, kept.data())));
        }
        auto places = make<int64_t, 1>({kept.size()});
        std::copy(kept.begin(), kept.end(), places.data());
        return places;
    });

    m.def("thin", [](In<uint8_t, 2> picture) {
        auto thinned = make<uint8_t, 2>({picture.shape(0), picture.shape(1)});
        nb::gil_scoped_release release;
        std::copy_n(picture.data(), picture.size(), thinned.data());
        thin(thinned.data(), static_cast<int>(picture.shape(0)), static_cast<int>(picture.shape(1)));
        return thinned;
    });
    m.def("max_flow", [](In<double, 2> source, In<double, 2> sink, In<double, 2> right, In<double, 2> down,
                         In<double, 2> down_right, In<double, 2> down_left, bool diagonal, bool wrap_rows) {
        const size_t height = source.shape(0), width = source.shape(1);
        if (sink.shape(0) != height || sink.shape(1) != width) throw std::invalid_argument("source and sink differ in shape");
        const GridLinks links = links_of(height, width, right, down, down_right, down_left, diagonal, wrap_rows);
        auto mask = make<uint8_t, 2>({height, width});
        double flow;
        {
            nb::gil_scoped_release release;
            flow = max_flow(links, source.data(), sink.data(), mask.data());
        }
        return nb::make_tuple(mask, flow);
    });
    m.def("alpha_expansion", [](In<double, 3> unary, In<double, 2> right, In<double, 2> down, In<double, 2> down_right,
                                In<double, 2> down_left, bool diagonal, bool wrap_rows, In<double, 2> metric, int cycles,
                                In<int32_t, 2> start) {
        const size_t count = unary.shape(0), height = unary.shape(1), width = unary.shape(2);
        if (metric.shape(0) != count || metric.shape(1) != count) throw std::invalid_argument("metric is not of the labels");
        if (start.shape(0) != height || start.shape(1) != width) throw std::invalid_argument("start differs in shape");
        for (size_t i = 0; i < start.size(); ++i)
            if (start.data()[i] < 0 || static_cast<size_t>(start.data()[i]) >= count)
                throw std::invalid_argument("start holds an unknown label");
        const GridLinks links = links_of(height, width, right, down, down_right, down_left, diagonal, wrap_rows);
        auto labels = make<int32_t, 2>({height, width});
        double energy;
        {
            nb::gil_scoped_release release;
            std::copy_n(start.data(), start.size(), labels.data());
            energy = alpha_expansion(links, unary.data(), metric.data(), static_cast<int>(count), cycles, labels.data());
        }
        return nb::make_tuple(labels, energy);
    });
    m.def("match_min_cost", [](In<int32_t, 1> pixels, In<int64_t, 1> starts, In<uint8_t, 3> truths, double radius,
                               double outlier_cost) {
        return match_truths(pixels, starts, truths, [=](const BoundaryMaps& maps, const uint8_t* truth, int32_t* partner) {
            match_min_cost(maps, truth, radius, outlier_cost, partner);
        });
    });
    m.def("match_cardinality", [](In<int32_t, 1> pixels, In<int64_t, 1> starts, In<uint8_t, 3> truths, double radius) {
        return match_truths(pixels, starts, truths, [=](const BoundaryMaps& maps, const uint8_t* truth, int32_t* partner) {
            match_cardinality(maps, truth, radius, partner);
        });
    });

    m.def("multiscale_torque", [](Plane fx, Plane fy, double steps, In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> size,
                                  In<double, 1> regions, In<double, 1> distances, bool align) {
        require_same_shape(fx, fy);
        const Field field{fx.data(), fy.data(), static_cast<int>(fx.shape(0)), static_cast<int>(fx.shape(1)), steps, nullptr};
        const Layout layout{regions.data(), static_cast<int>(regions.size()), distances.data(),
                            static_cast<int>(distances.size()), align};
        if (x.size() != y.size() || size.size() != y.size()) throw std::invalid_argument("patches differ in number");
        auto descriptors = make<float, 2>({y.size(), static_cast<size_t>(descriptor_length(layout))});
        nb::gil_scoped_release release;
        multiscale_torque(field, y.data(), x.data(), size.data(), static_cast<long long>(y.size()), layout,
                          descriptors.data());
        return descriptors;
    });
    m.def("direction_histograms", [](Plane gx, Plane gy, int size, In<int32_t, 1> top, In<int32_t, 1> left) {
        require_same_shape(gx, gy);
        if (size < kSiftCells || size % kSiftCells) throw std::invalid_argument("size must be a multiple of 4");
        auto histograms = make<float, 2>({top.size() * left.size(), static_cast<size_t>(kSiftLength)});
        nb::gil_scoped_release release;
        direction_histograms(gx.data(), gy.data(), static_cast<int>(gx.shape(0)), static_cast<int>(gx.shape(1)), size,
                             top.data(), static_cast<int>(top.size()), left.data(), static_cast<int>(left.size()),
                             histograms.data());
        return histograms;
    });
    m.def("linear_codes", [](Plane descriptors, Plane words, int neighbours, double beta) {
        require_words(descriptors, words, neighbours);
        const size_t n = descriptors.shape(0);
        auto index = make<int32_t, 2>({n, static_cast<size_t>(neighbours)});
        auto weight = make<float, 2>({n, static_cast<size_t>(neighbours)});
        {
            nb::gil_scoped_release release;
            linear_codes(descriptors.data(), static_cast<int>(n), static_cast<int>(descriptors.shape(1)), words.data(),
                         static_cast<int>(words.shape(0)), neighbours, beta, index.data(), weight.data());
        }
        return nb::make_tuple(index, weight);
    });
    m.def("pool_largest", [](In<int32_t, 2> index, Plane weight, In<int32_t, 2> cell, int words, int cells) {
        const size_t n = index.shape(0), count = index.shape(1);
        if (weight.shape(0) != n || weight.shape(1) != count || cell.shape(0) != n)
            throw std::invalid_argument("codes and cells differ in shape");
        require_within(index, words);
        require_within(cell, cells);
        auto pooled = make<float, 2>({static_cast<size_t>(cells), static_cast<size_t>(words)});
        nb::gil_scoped_release release;
        pool_largest(index.data(), weight.data(), static_cast<int>(n), static_cast<int>(count), cell.data(),
                     static_cast<int>(cell.shape(1)), words, cells, pooled.data());
        return pooled;
    });
    m.def("sum_by_word", [](Plane descriptors, Plane words) {
        require_words(descriptors, words, 1);
        const size_t n = descriptors.shape(0), length = descriptors.shape(1), count = words.shape(0);
        auto sums = make<double, 2>({count, length});
        auto counts = make<int64_t, 1>({count});
        auto index = make<int32_t, 1>({n});
        {
            nb::gil_scoped_release release;
            sum_by_word(descriptors.data(), static_cast<int>(n), static_cast<int>(length), words.data(),
                        static_cast<int>(count), sums.data(), counts.data(), index.data());
        }
        return nb::make_tuple(sums, counts, index);
    });
    m.def("train_machines", [](Plane products, In<int32_t, 1> label, double cost, double tolerance, int most,
                               nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> coefficient) {
        const size_t n = label.size();
        if (products.shape(0) != n || products.shape(1) != n || coefficient.shape(0) != n)
            throw std::invalid_argument("products, labels and coefficients differ in number");
        nb::gil_scoped_release release;
        return train_machines(products.data(), static_cast<int>(n), label.data(), static_cast<int>(coefficient.shape(1)),
                              cost, tolerance, most, coefficient.data());
    });

    m.def("find_outlines", [](Plane gx, Plane gy, In<float, 1> y, In<float, 1> x, In<float, 1> radius,
                              In<int8_t, 1> sign, int angles, float low, float high, int steps, float stiffness,
                              float attraction) {
        require_same_shape(gx, gy);
        if (y.size() != x.size() || y.size() != radius.size() || y.size() != sign.size() || angles < 3 || steps < 2)
            throw std::invalid_argument("centres, radii and signs differ in number");
        auto radii = make<float, 2>({y.size(), static_cast<size_t>(angles)});
        auto mean = make<float, 1>({y.size()});
        {
            nb::gil_scoped_release release;
            find_outlines(gx.data(), gy.data(), static_cast<int>(gx.shape(0)), static_cast<int>(gx.shape(1)), y.data(),
                          x.data(), radius.data(), sign.data(), static_cast<int>(y.size()), angles,
                          {low, high, steps, stiffness, attraction}, radii.data(), mean.data());
        }
        return nb::make_tuple(radii, mean);
    });
    m.def("label_outlines", [](In<int32_t, 2> labels, In<int32_t, 1> number, In<float, 1> y, In<float, 1> x, int angles,
                               float reach) {
        if (y.size() != x.size() || y.size() != number.size() || angles < 3)
            throw std::invalid_argument("centres and numbers differ in number");
        auto radii = make<float, 2>({y.size(), static_cast<size_t>(angles)});
        nb::gil_scoped_release release;
        label_outlines(labels.data(), static_cast<int>(labels.shape(0)), static_cast<int>(labels.shape(1)), number.data(),
                       y.data(), x.data(), static_cast<int>(y.size()), angles, reach, radii.data());
        return radii;
    });
    m.def("outline_profiles", [](In<float, 3> planes, In<float, 1> y, In<float, 1> x, Plane radii, In<float, 1> parts) {
        const Outlines outlines = outlines_of(y, x, radii);
        auto profiles = make<float, 4>({y.size(), planes.shape(0), parts.size(), 2});
        nb::gil_scoped_release release;
        outline_profiles(planes.data(), static_cast<int>(planes.shape(0)), static_cast<int>(planes.shape(1)),
                         static_cast<int>(planes.shape(2)), outlines, parts.data(), static_cast<int>(parts.size()),
                         profiles.data());
        return profiles;
    });
    m.def("outline_lines", [](In<float, 3> planes, In<float, 1> y, In<float, 1> x, Plane radii) {
        const Outlines outlines = outlines_of(y, x, radii);
        if (outlines.angles % 2) throw std::invalid_argument("directions must be even in number");
        auto lines = make<float, 3>({y.size(), planes.shape(0), 4});
        nb::gil_scoped_release release;
        outline_lines(planes.data(), static_cast<int>(planes.shape(0)), static_cast<int>(planes.shape(1)),
                      static_cast<int>(planes.shape(2)), outlines, lines.data());
        return lines;
    });
    m.def("outline_contrasts", [](Plane gx, Plane gy, In<float, 1> y, In<float, 1> x, Plane radii) {
        require_same_shape(gx, gy);
        const Outlines outlines = outlines_of(y, x, radii);
        auto contrasts = make<float, 2>({y.size(), 5});
        nb::gil_scoped_release release;
        outline_contrasts(gx.data(), gy.data(), static_cast<int>(gx.shape(0)), static_cast<int>(gx.shape(1)), outlines,
                          contrasts.data());
        return contrasts;
    });
    m.def("outline_shapes", [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width) {
        const Outlines outlines = outlines_of(y, x, radii);
        auto shapes = make<double, 2>({y.size(), 10});
        nb::gil_scoped_release release;
        outline_shapes(outlines, height, width, shapes.data());
        return shapes;
    });
    m.def("outline_overlaps", [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width, double part) {
        const Outlines outlines = outlines_of(y, x, radii);
        Pairs pairs;
        {
            nb::gil_scoped_release release;
            pairs = outline_overlaps(outlines, height, width, part);
        }
        return nb::make_tuple(array_of(pairs.first), array_of(pairs.second), array_of(pairs.common));
    });
    m.def("paint_outlines", [](In<float, 1> y, In<float, 1> x, Plane radii, int height, int width) {
        const Outlines outlines = outlines_of(y, x, radii);
        auto labels = make<int32_t, 2>({static_cast<size_t>(height), static_cast<size_t>(width)});
        nb::gil_scoped_release release;
        paint_outlines(outlines, height, width, labels.data());
        return labels;
    });
    m.def("extremal_regions", [](In<uint8_t, 2> picture, long long smallest, long long largest, double growth, int angles) {
        Regions regions;
        {
            nb::gil_scoped_release release;
            regions = extremal_regions(picture.data(), static_cast<int>(picture.shape(0)),
                                       static_cast<int>(picture.shape(1)), {smallest, largest, growth, angles});
        }
        auto radii = make<float, 2>({regions.y.size(), static_cast<size_t>(angles)});
        std::copy(regions.radii.begin(), regions.radii.end(), radii.data());
        return nb::make_tuple(array_of(regions.y), array_of(regions.x), radii, array_of(regions.area),
                              array_of(regions.stability), array_of(regions.level));
    });
    m.def("ground_distance", [](In<uint8_t, 2> inside) {
        auto distance = make<float, 2>({inside.shape(0), inside.shape(1)});
        nb::gil_scoped_release release;
        ground_distance(inside.data(), static_cast<int>(inside.shape(0)), static_cast<int>(inside.shape(1)),
                        distance.data());
        return distance;
    });
    m.def("climb", [](Plane plane, In<uint8_t, 2> inside) {
        if (plane.shape(0) != inside.shape(0) || plane.shape(1) != inside.shape(1))
            throw std::invalid_argument("planes differ in shape");
        auto labels = make<int32_t, 2>({plane.shape(0), plane.shape(1)});
        int32_t summits = 0;
        {
            nb::gil_scoped_release release;
            summits = climb(plane.data(), inside.data(), static_cast<int>(plane.shape(0)),
                            static_cast<int>(plane.shape(1)), labels.data());
        }
        return nb::make_tuple(labels, summits);
    });
    m.def("best_set", [](In<double, 1> weight, In<int32_t, 1> first, In<int32_t, 1> second, int budget) {
        if (first.size() != second.size()) throw std::invalid_argument("pairs differ in number");
        const int count = static_cast<int>(weight.size());
        for (size_t i = 0; i < first.size(); ++i)
            if (first.data()[i] < 0 || second.data()[i] < 0 || first.data()[i] >= count || second.data()[i] >= count)
                throw std::invalid_argument("an index is out of range");
        auto chosen = make<uint8_t, 1>({weight.size()});
        bool exact = false;
        {
            nb::gil_scoped_release release;
            exact = best_set(weight.data(), count, {first.data(), second.data(), static_cast<long long>(first.size())},
                             budget, chosen.data());
        }
        return nb::make_tuple(chosen, exact);
    });
    m.def("forest_values", [](In<int32_t, 1> feature, In<float, 1> threshold, In<int32_t, 1> left, In<int32_t, 1> right,
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
                       static_cast<int>(root.size())},
                      features.data(), static_cast<int>(features.shape(0)), static_cast<int>(features.shape(1)),
                      values.data());
        return values;
    });
}
