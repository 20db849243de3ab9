// Boundary maps matched to what people drew.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "core/parallel.hpp"
#include "matching/boundary_matching.hpp"
#include "matching/thinning.hpp"

namespace imtorque {
namespace {

// Run `match` once per truth, in parallel; the maps' pixels lie between consecutive starts.
template <class Match>
Out<int32_t, 2> match_truths(const In<int32_t, 1>& pixels, const In<int64_t, 1>& starts, const In<uint8_t, 3>& truths,
                             const Match& match) {
    const size_t count = truths.shape(0), area = truths.shape(1) * truths.shape(2);
    auto partners = make<int32_t, 2>({count, pixels.size()});
    const BoundaryMaps maps{pixels.data(), starts.data(), static_cast<int>(starts.size()) - 1, extent(truths, 1),
                            extent(truths, 2)};
    nb::gil_scoped_release release;
    // Each pixel has several neighbours to be matched with, and is looked at several times.
    parallel_for(static_cast<int>(count), 500.0 * static_cast<double>(pixels.size()),
                 [&](int k) { match(maps, truths.data() + k * area, partners.data() + k * pixels.size()); });
    return partners;
}

}  // namespace

void bind_matching(nb::module_& m) {
    m.def(
        "thin",
        [](In<uint8_t, 2> image) {
            auto thinned = like<uint8_t>(image);
            nb::gil_scoped_release release;
            std::copy_n(image.data(), image.size(), thinned.data());
            thin(thinned.data(), extent(image, 0), extent(image, 1));
            return thinned;
        },
        "image"_a);
    m.def(
        "match_min_cost",
        [](In<int32_t, 1> pixels, In<int64_t, 1> starts, In<uint8_t, 3> truths, double radius, double outlier_cost) {
            return match_truths(pixels, starts, truths,
                                [=](const BoundaryMaps& maps, const uint8_t* truth, int32_t* partner) {
                                    match_min_cost(maps, truth, radius, outlier_cost, partner);
                                });
        },
        "pixels"_a, "starts"_a, "truths"_a, "radius"_a, "outlier_cost"_a);
    m.def(
        "match_cardinality",
        [](In<int32_t, 1> pixels, In<int64_t, 1> starts, In<uint8_t, 3> truths, double radius) {
            return match_truths(pixels, starts, truths,
                                [=](const BoundaryMaps& maps, const uint8_t* truth, int32_t* partner) {
                                    match_cardinality(maps, truth, radius, partner);
                                });
        },
        "pixels"_a, "starts"_a, "truths"_a, "radius"_a);
}

}  // namespace imtorque
