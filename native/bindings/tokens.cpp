// The forest of Sketch Tokens.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "edges/token_trees.hpp"

namespace imtorque {
namespace {

using Numbers = In<int32_t, 1>;

// Refuse what would read beyond the planes at the last patch that is asked for.
void require_within(const In<uint8_t, 3>& planes, const Numbers& first, const Numbers& second, size_t last) {
    if (first.size() != second.size()) throw std::invalid_argument("first and second differ in length");
    const auto beyond = [&](int32_t least) {
        return [&planes, last, least](int32_t place) {
            return place < least || (place >= 0 && last + static_cast<size_t>(place) >= planes.size());
        };
    };
    if (std::any_of(first.data(), first.data() + first.size(), beyond(0)) ||
        std::any_of(second.data(), second.data() + second.size(), beyond(-1)))
        throw std::invalid_argument("features must lie within the planes");
}

TokenPlanes as_planes(const In<uint8_t, 3>& planes) { return {planes.data(), extent(planes, 1), extent(planes, 2)}; }

void require_tree(const Numbers& child, size_t nodes, const Numbers& root) {
    const auto count = static_cast<int64_t>(nodes);
    for (int64_t node = 0; node < count; ++node) {
        const int64_t to = child.data()[node];
        if (to != 0 && (to <= node || to + 1 >= count))
            throw std::invalid_argument("a branch of the trees is out of range");
    }
    if (root.size() == 0 ||
        std::any_of(root.data(), root.data() + root.size(), [&](int32_t node) { return node < 0 || node >= count; }))
        throw std::invalid_argument("a root of the trees is out of range");
}

}  // namespace

void bind_tokens(nb::module_& m) {
    m.def(
        "token_features",
        [](In<uint8_t, 3> planes, Numbers y, Numbers x, Numbers first, Numbers second) {
            if (y.size() != x.size()) throw std::invalid_argument("y and x differ in length");
            const auto height = static_cast<int32_t>(planes.shape(1)), width = static_cast<int32_t>(planes.shape(2));
            size_t last = 0;
            for (size_t i = 0; i < y.size(); ++i) {
                if (y.data()[i] < 0 || y.data()[i] >= height || x.data()[i] < 0 || x.data()[i] >= width)
                    throw std::invalid_argument("pixels must lie within the planes");
                last = std::max(last, static_cast<size_t>(y.data()[i]) * width + x.data()[i]);
            }
            require_within(planes, first, second, last);
            auto features = make<uint8_t, 2>({first.size(), y.size()});
            nb::gil_scoped_release release;
            token_features(as_planes(planes), y.data(), x.data(), count_of(y), first.data(), second.data(),
                           count_of(first), features.data());
            return features;
        },
        "planes"_a, "y"_a, "x"_a, "first"_a, "second"_a);
    m.def(
        "grow_token_tree",
        [](In<uint8_t, 2> features, In<uint8_t, 1> classes, int tried, int least, uint64_t seed) {
            const int columns = extent(features, 0), count = extent(features, 1);
            if (classes.size() != features.shape(1) || count < 1)
                throw std::invalid_argument("features and classes differ in length, or are empty");
            if (tried < 1 || tried > columns || least < 1)
                throw std::invalid_argument("tried must be at most the number of columns, and least at least 1");
            auto leaf = make<int32_t, 1>({classes.size()});
            const auto tree = unlocked([&] {
                return grow_token_tree(features.data(), classes.data(), columns, count, tried, least, seed,
                                       leaf.data());
            });
            return std::make_tuple(from_vector(tree.column), from_vector(tree.threshold), from_vector(tree.child),
                                   leaf);
        },
        "features"_a, "classes"_a, "tried"_a, "least"_a, "seed"_a);
    m.def(
        "token_predictions",
        [](In<uint8_t, 3> planes, int side, int step, Numbers first, Numbers second, In<uint8_t, 1> threshold,
           Numbers child, In<float, 2> value, Numbers root) {
            const int height = extent(planes, 1) - side + 1;
            const int width = extent(planes, 2) - side + 1;
            if (side < 1 || step < 1 || height < 1 || width < 1)
                throw std::invalid_argument("side or step out of range");
            const size_t nodes = child.size();
            if (first.size() != nodes || threshold.size() != nodes || value.shape(0) != nodes ||
                value.shape(1) != kTokenValues)
                throw std::invalid_argument("trees whose arrays differ in length");
            require_tree(child, nodes, root);
            require_within(planes, first, second, static_cast<size_t>(height - 1) * planes.shape(2) + width - 1);
            const size_t rows = (height + step - 1) / step, columns = (width + step - 1) / step;
            auto predictions = make<float, 3>({kTokenValues, rows, columns});
            const TokenForest forest = {first.data(), second.data(), threshold.data(), child.data(),
                                        value.data(), root.data(),   count_of(root)};
            nb::gil_scoped_release release;
            token_predictions(as_planes(planes), forest, step, static_cast<int>(rows), static_cast<int>(columns),
                              predictions.data());
            return predictions;
        },
        "planes"_a, "side"_a, "step"_a, "first"_a, "second"_a, "threshold"_a, "child"_a, "value"_a, "root"_a);
}

}  // namespace imtorque
