// Minimum cuts, seeds, rings and boxes.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "cuts/alpha_expansion.hpp"
#include "cuts/box_scores.hpp"
#include "cuts/flood.hpp"
#include "cuts/max_flow.hpp"
#include "cuts/nearest_seeds.hpp"
#include "cuts/polar_edges.hpp"
#include "cuts/word_cut.hpp"

namespace imtorque {
namespace {

BoxList boxes_of(const In<int64_t, 2>& boxes, int height, int width) {
    if (boxes.shape(1) != 4) throw std::invalid_argument("boxes must have four columns");
    for (const int64_t* box = boxes.data(); box != boxes.data() + boxes.size(); box += 4)
        if (box[0] < 0 || box[1] < 0 || box[2] > height || box[3] > width || box[0] >= box[2] || box[1] >= box[3])
            throw std::invalid_argument("boxes must lie in the image and not be empty");
    return {boxes.data(), static_cast<long long>(boxes.shape(0))};
}

// Links between neighbours of a grid, as GridCapacities stores them; those to diagonal neighbours may be absent.
GridLinks links_of(size_t height, size_t width, const In<double, 2>& right, const In<double, 2>& down,
                   const In<double, 2>& down_right, const In<double, 2>& down_left, bool diagonal, bool wrap_rows) {
    auto is = [](const In<double, 2>& plane, size_t h, size_t w) { return plane.shape(0) == h && plane.shape(1) == w; };
    const size_t rows = wrap_rows ? height : height - 1;
    if (height * width == 0 || !is(right, height, width - 1) || !is(down, rows, width) ||
        (diagonal && (!is(down_right, rows, width - 1) || !is(down_left, rows, width - 1))))
        throw std::invalid_argument("links do not belong to the grid");
    return {static_cast<int>(height), static_cast<int>(width), right.data(), down.data(),
            down_right.data(),        down_left.data(),        diagonal,     wrap_rows};
}

// A flow as Python holds it, which the kernels change in place: the shift, then the steps of so many links.
GridSteps steps_of(const InOut<int64_t, 1>& flow, int64_t links) {
    constexpr int64_t kFarthest = 1 << 20;  // shifts of doubles are nearer to zero
    if (static_cast<int64_t>(flow.size()) != 1 + links || flow.data()[0] < -kFarthest || flow.data()[0] > kFarthest)
        throw std::invalid_argument("the flow does not belong to the grid");
    return {flow.data()[0], flow.data() + 1};
}

void bind_grid_cuts(nb::module_& m) {
    m.def(
        "max_flow",
        [](In<double, 2> source, In<double, 2> sink, In<double, 2> right, In<double, 2> down, In<double, 2> down_right,
           In<double, 2> down_left, bool diagonal, bool wrap_rows) {
            const size_t height = source.shape(0), width = source.shape(1);
            require_same_shape(source, sink);
            const GridLinks links = links_of(height, width, right, down, down_right, down_left, diagonal, wrap_rows);
            auto mask = make<uint8_t, 2>({height, width});
            const auto flow = unlocked([&] { return max_flow(links, source.data(), sink.data(), mask.data()); });
            return std::make_tuple(mask, flow);
        },
        "source"_a, "sink"_a, "right"_a, "down"_a, "down_right"_a, "down_left"_a, "diagonal"_a, "wrap_rows"_a);
    m.def(
        "max_flow_from",
        [](In<double, 2> source, In<double, 2> sink, In<double, 2> right, In<double, 2> down, bool wrap_rows,
           InOut<int64_t, 1> flow) {
            const size_t height = source.shape(0), width = source.shape(1);
            require_same_shape(source, sink);
            const GridLinks links = links_of(height, width, right, down, right, right, false, wrap_rows);
            GridSteps steps = steps_of(flow, straight_links(links));
            auto mask = make<uint8_t, 2>({height, width});
            nb::gil_scoped_release release;
            max_flow_from(links, source.data(), sink.data(), steps, mask.data());
            flow.data()[0] = steps.shift;
            return mask;
        },
        "source"_a, "sink"_a, "right"_a, "down"_a, "wrap_rows"_a, "flow"_a);
    m.def(
        "alpha_expansion",
        [](In<double, 3> unary, In<double, 2> right, In<double, 2> down, In<double, 2> down_right,
           In<double, 2> down_left, bool diagonal, bool wrap_rows, In<double, 2> metric, int cycles,
           In<int32_t, 2> start) {
            const size_t count = unary.shape(0), height = unary.shape(1), width = unary.shape(2);
            if (metric.shape(0) != count || metric.shape(1) != count)
                throw std::invalid_argument("metric must have a row and a column for each label");
            if (start.shape(0) != height || start.shape(1) != width)
                throw std::invalid_argument("start differs in shape");
            for (size_t i = 0; i < start.size(); ++i)
                if (start.data()[i] < 0 || static_cast<size_t>(start.data()[i]) >= count)
                    throw std::invalid_argument("start holds an unknown label");
            const GridLinks links = links_of(height, width, right, down, down_right, down_left, diagonal, wrap_rows);
            auto labels = make<int32_t, 2>({height, width});
            std::copy_n(start.data(), start.size(), labels.data());
            const double energy = unlocked([&] {
                return alpha_expansion(links, unary.data(), metric.data(), extent(unary, 0), cycles, labels.data());
            });
            return std::make_tuple(labels, energy);
        },
        "unary"_a, "right"_a, "down"_a, "down_right"_a, "down_left"_a, "diagonal"_a, "wrap_rows"_a, "metric"_a,
        "cycles"_a, "start"_a);
}

void bind_boxes(nb::module_& m) {
    m.def(
        "box_scores",
        [](In<double, 3> planes, In<int64_t, 2> boxes, double inside, double outside) {
            const int height = extent(planes, 1), width = extent(planes, 2);
            const BoxList list = boxes_of(boxes, height, width);
            auto torque = make<double, 1>({boxes.shape(0)});
            auto sides = make<double, 2>({boxes.shape(0), 4});
            unlocked([&] {
                box_scores(planes.data(), extent(planes, 0), height, width, list, inside, outside, torque.data(),
                           sides.data());
            });
            return std::make_tuple(torque, sides);
        },
        "planes"_a, "boxes"_a, "inside"_a, "outside"_a);
    m.def(
        "distinct_boxes",
        [](In<int64_t, 2> boxes, double overlap, long long most) {
            const BoxList list = boxes_of(boxes, INT32_MAX, INT32_MAX);
            std::vector<int64_t> kept(static_cast<size_t>(std::max(0LL, std::min(most, list.count))));
            unlocked([&] { kept.resize(static_cast<size_t>(distinct_boxes(list, overlap, most, kept.data()))); });
            auto places = make<int64_t, 1>({kept.size()});
            std::copy(kept.begin(), kept.end(), places.data());
            return places;
        },
        "boxes"_a, "overlap"_a, "most"_a);
}

// The window of `words` that begins at (top, left) and has the masks' shape; all its words are in a table of so many.
WordWindow window_of(const In<int64_t, 2>& words, int64_t top, int64_t left, const std::vector<In<uint8_t, 2>>& masks,
                     size_t count) {
    const int64_t height = static_cast<int64_t>(masks[0].shape(0)), width = static_cast<int64_t>(masks[0].shape(1));
    for (const auto& mask : masks)
        if (static_cast<int64_t>(mask.shape(0)) != height || static_cast<int64_t>(mask.shape(1)) != width)
            throw std::invalid_argument("masks differ in shape");
    if (height < 1 || width < 1 || top < 0 || left < 0 || top > static_cast<int64_t>(words.shape(0)) - height ||
        left > static_cast<int64_t>(words.shape(1)) - width)
        throw std::invalid_argument("the window must lie in the image and not be empty");
    const int64_t stride = static_cast<int64_t>(words.shape(1));
    const int64_t* first = words.data() + top * stride + left;
    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
            if (static_cast<uint64_t>(first[y * stride + x]) >= count)
                throw std::invalid_argument("words must be in the table");
    return {first, static_cast<int>(stride), static_cast<int>(height), static_cast<int>(width)};
}

void bind_word_cuts(nb::module_& m) {
    m.def(
        "count_words",
        [](In<int64_t, 2> words, int64_t top, int64_t left, In<uint8_t, 2> figure, In<uint8_t, 2> on,
           In<uint8_t, 2> off, size_t count) {
            const WordWindow window = window_of(words, top, left, {figure, on, off}, count);
            auto counts = make<double, 1>({count});
            std::fill_n(counts.data(), count, 0.0);
            count_words(window, figure.data(), on.data(), off.data(), counts.data());
            return counts;
        },
        "words"_a, "top"_a, "left"_a, "figure"_a, "on"_a, "off"_a, "count"_a);
    m.def(
        "cut_words",
        [](In<int64_t, 2> words, In<double, 2> right, In<double, 2> down, int64_t top, int64_t left,
           In<double, 1> log_odds, double cost, In<uint8_t, 2> on, In<uint8_t, 2> off, InOut<int64_t, 1> flow) {
            const WordWindow window = window_of(words, top, left, {on, off}, log_odds.size());
            const size_t height = words.shape(0), width = words.shape(1);
            const GridLinks whole = links_of(height, width, right, down, right, right, false, false);
            const WordLinks links{whole.right,           whole.down,  cost,
                                  whole.height,          whole.width, static_cast<int>(top),
                                  static_cast<int>(left)};
            auto figure = like<uint8_t>(on);
            GridSteps steps = steps_of(flow, straight_links(whole));
            nb::gil_scoped_release release;
            cut_words(window, links, log_odds.data(), on.data(), off.data(), steps, figure.data());
            flow.data()[0] = steps.shift;
            return figure;
        },
        "words"_a, "right"_a, "down"_a, "top"_a, "left"_a, "log_odds"_a, "cost"_a, "on"_a, "off"_a, "flow"_a);
}

}  // namespace

void bind_cuts(nb::module_& m) {
    bind_grid_cuts(m);
    bind_boxes(m);
    bind_word_cuts(m);
    m.def(
        "polar_edges",
        [](Plane strength, Plane dx, Plane dy, int y, int x, double threshold, size_t columns) {
            require_same_shape(strength, dx);
            require_same_shape(strength, dy);
            if (columns < 1) throw std::invalid_argument("columns must be at least 1");
            auto polar = make<double, 2>({360, columns});
            const EdgePoints edges{strength.data(), dx.data(), dy.data(), extent(strength, 0), extent(strength, 1)};
            nb::gil_scoped_release release;
            std::fill_n(polar.data(), polar.size(), 0.0);
            splat_polar_edges(edges, y, x, threshold, static_cast<int>(columns), polar.data());
            return polar;
        },
        "strength"_a, "dx"_a, "dy"_a, "y"_a, "x"_a, "threshold"_a, "columns"_a);
    m.def(
        "fill_holes",
        [](In<uint8_t, 2> mask) {
            if (mask.size() == 0) throw std::invalid_argument("mask must not be empty");
            auto filled = like<uint8_t>(mask);
            nb::gil_scoped_release release;
            fill_holes(mask.data(), extent(mask, 0), extent(mask, 1), filled.data());
            return filled;
        },
        "mask"_a);
    m.def(
        "nearest_seeds",
        [](In<double, 2> cost, In<int32_t, 2> seeds) {
            require_same_shape(cost, seeds);
            if (cost.size() > INT32_MAX) throw std::invalid_argument("the image has too many pixels");
            auto labels = like<int32_t>(seeds);
            nb::gil_scoped_release release;
            std::copy_n(seeds.data(), seeds.size(), labels.data());
            nearest_seeds(cost.data(), extent(cost, 0), extent(cost, 1), labels.data());
            return labels;
        },
        "cost"_a, "seeds"_a);
}

}  // namespace imtorque
