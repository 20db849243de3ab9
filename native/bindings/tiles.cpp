// Edges and extrema in parts of an image, for imtorque.tiling.
#include "edges/tiles.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace imtorque {
namespace {

using Bounds = std::tuple<int, int, int, int>;  // top, left, bottom, right

Part part_of(const Bounds& bounds, size_t height, size_t width) {
    const auto [top, left, bottom, right] = bounds;
    if (top < 0 || left < 0 || top > bottom || left > right || bottom > static_cast<int>(height) ||
        right > static_cast<int>(width))
        throw std::invalid_argument("the part lies outside its window");
    return {top, left, bottom, right};
}

auto bind_find_candidates(Plane window, double sigma, double low) {
    const size_t height = window.shape(0), width = window.shape(1);
    auto gx = make<float, 2>({height, width}), gy = make<float, 2>({height, width});
    unlocked([&] {
        find_candidates(window.data(), static_cast<int>(height), static_cast<int>(width), sigma, low, gx.data(),
                        gy.data());
    });
    return std::make_tuple(gx, gy);
}

auto bind_list_candidates(Plane window, double sigma, double low, bool automatic, const Bounds& core, int block) {
    const Part part = part_of(core, window.shape(0), window.shape(1));
    if (block < 1) throw std::invalid_argument("block must be at least 1");
    FineCounts fine;
    const CandidateBlocks found = unlocked([&] {
        return list_candidates(window.data(), extent(window, 0), extent(window, 1), sigma, low, part, block,
                               automatic ? &fine : nullptr);
    });
    auto rows = make<uint32_t, 2>({found.candidates.size(), 3});
    static_assert(sizeof(Candidate) == 3 * sizeof(uint32_t), "a row of the list");
    if (!found.candidates.empty())
        std::memcpy(rows.data(), found.candidates.data(), found.candidates.size() * sizeof(Candidate));
    return std::make_tuple(rows, from_vector(found.begins), fine.largest, fine.first, from_vector(fine.counts));
}

auto bind_label_tile_edges(Plane gx, Plane gy, float low, float high, In<int64_t, 1> rows, In<int64_t, 1> columns) {
    require_same_shape(gx, gy);
    const auto checked = [](const In<int64_t, 1>& given, size_t length) {
        std::vector<int> kept;
        for (size_t i = 0; i < given.shape(0); ++i) {
            if (given.data()[i] < 0 || given.data()[i] >= static_cast<int64_t>(length))
                throw std::invalid_argument("a line lies outside its part");
            kept.push_back(static_cast<int>(given.data()[i]));
        }
        return kept;
    };
    const std::vector<int> across = checked(rows, gx.shape(0)), down = checked(columns, gx.shape(1));
    const auto lines = unlocked(
        [&] { return label_tile_edges(gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), low, high, across, down); });
    auto at = make<int64_t, 1>({lines.pixels.size()}), label = make<int64_t, 1>({lines.pixels.size()});
    auto strong = make<bool, 1>({lines.strong.size()});
    for (size_t i = 0; i < lines.pixels.size(); ++i) {
        at.data()[i] = lines.pixels[i].at;
        label.data()[i] = lines.pixels[i].label;
    }
    std::copy(lines.strong.begin(), lines.strong.end(), strong.data());
    return std::make_tuple(at, label, strong);
}

bool bind_connect_edges(InOut<float, 2> gx, InOut<float, 2> gy, float low, float high, In<int64_t, 1> seeds, int rounds,
                        const Bounds& core) {
    require_same_shape(gx, gy);
    const Part part = part_of(core, gx.shape(0), gx.shape(1));
    std::vector<size_t> known;
    for (size_t i = 0; i < seeds.shape(0); ++i) {
        if (seeds.data()[i] < 0 || static_cast<size_t>(seeds.data()[i]) >= gx.size())
            throw std::invalid_argument("a seed lies outside its window");
        known.push_back(static_cast<size_t>(seeds.data()[i]));
    }
    nb::gil_scoped_release release;
    return connect_edges(gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), low, high, known, rounds, part);
}

}  // namespace

void bind_tiles(nb::module_& m) {
    m.def("find_candidates", &bind_find_candidates, "window"_a, "sigma"_a, "low"_a);
    m.def(
        "count_bins",
        [](Plane window, double sigma, const Bounds& core, float largest) {
            const Part part = part_of(core, window.shape(0), window.shape(1));
            const auto counts = unlocked(
                [&] { return count_bins(window.data(), extent(window, 0), extent(window, 1), sigma, part, largest); });
            return from_vector(std::vector<int64_t>(counts.begin(), counts.end()));
        },
        "window"_a, "sigma"_a, "core"_a, "largest"_a);
    m.def("list_candidates", &bind_list_candidates, "window"_a, "sigma"_a, "low"_a, "automatic"_a, "core"_a, "block"_a);
    m.def(
        "place_candidates",
        [](In<uint32_t, 2> candidates, int part_width, int y, int x, InOut<float, 2> gx, InOut<float, 2> gy) {
            require_same_shape(gx, gy);
            if (candidates.shape(1) != 3 || part_width < 1)
                throw std::invalid_argument("candidates must have three columns");
            nb::gil_scoped_release release;
            std::vector<Candidate> rows(candidates.shape(0));
            if (!rows.empty()) std::memcpy(rows.data(), candidates.data(), rows.size() * sizeof(Candidate));
            place_candidates(rows.data(), static_cast<long long>(rows.size()), part_width, y, x, gx.data(), gy.data(),
                             extent(gx, 0), extent(gx, 1));
        },
        "candidates"_a, "part_width"_a, "y"_a, "x"_a, "gx"_a, "gy"_a);
    m.def("label_tile_edges", &bind_label_tile_edges, "gx"_a, "gy"_a, "low"_a, "high"_a, "rows"_a, "columns"_a);
    m.def("connect_edges", &bind_connect_edges, "gx"_a, "gy"_a, "low"_a, "high"_a, "seeds"_a, "rounds"_a, "core"_a);
}

}  // namespace imtorque
