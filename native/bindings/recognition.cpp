// Descriptors, codes and machines.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "recognition/dense_sift.hpp"
#include "recognition/linear_coding.hpp"
#include "recognition/linear_svm.hpp"
#include "recognition/multiscale_torque.hpp"
#include "recognition/nearest_words.hpp"

namespace imtorque {
namespace {

void require_words(const Plane& descriptors, const Plane& words, int neighbours) {
    if (descriptors.shape(1) != words.shape(1)) throw std::invalid_argument("descriptors and words differ in length");
    if (neighbours < 1 || neighbours > kMostNeighbours || static_cast<size_t>(neighbours) > words.shape(0))
        throw std::invalid_argument("neighbours must be between 1 and 32, and no more than there are words");
}

void require_within(const In<int32_t, 2>& index, int count) {
    for (size_t i = 0; i < index.size(); ++i)
        if (index.data()[i] < 0 || index.data()[i] >= count) throw std::invalid_argument("an index is out of range");
}

void bind_descriptors(nb::module_& m) {
    m.def(
        "multiscale_torque",
        [](Plane fx, Plane fy, double steps, In<int64_t, 1> y, In<int64_t, 1> x, In<int64_t, 1> height,
           In<int64_t, 1> width, In<double, 1> regions, In<double, 1> distances, bool align) {
            require_same_shape(fx, fy);
            const Field field{fx.data(), fy.data(), extent(fx, 0), extent(fx, 1), steps, nullptr};
            const Layout layout{regions.data(), count_of(regions), distances.data(), count_of(distances), align};
            if (x.size() != y.size() || height.size() != y.size() || width.size() != y.size())
                throw std::invalid_argument("patches differ in number");
            auto descriptors = make<float, 2>({y.size(), static_cast<size_t>(descriptor_length(layout))});
            nb::gil_scoped_release release;
            multiscale_torque(field, y.data(), x.data(), height.data(), width.data(), static_cast<long long>(y.size()),
                              layout, descriptors.data());
            return descriptors;
        },
        "fx"_a, "fy"_a, "steps"_a, "y"_a, "x"_a, "height"_a, "width"_a, "regions"_a, "distances"_a, "align"_a);
    m.def(
        "direction_histograms",
        [](Plane gx, Plane gy, int size, In<int32_t, 1> top, In<int32_t, 1> left) {
            require_same_shape(gx, gy);
            if (size < kSiftCells || size % kSiftCells) throw std::invalid_argument("size must be a multiple of 4");
            auto histograms = make<float, 2>({top.size() * left.size(), static_cast<size_t>(kSiftLength)});
            nb::gil_scoped_release release;
            direction_histograms(gx.data(), gy.data(), extent(gx, 0), extent(gx, 1), size, top.data(), count_of(top),
                                 left.data(), count_of(left), histograms.data());
            return histograms;
        },
        "gx"_a, "gy"_a, "size"_a, "top"_a, "left"_a);
}

void bind_codes(nb::module_& m) {
    m.def(
        "linear_codes",
        [](Plane descriptors, Plane words, int neighbours, double beta) {
            require_words(descriptors, words, neighbours);
            const size_t n = descriptors.shape(0);
            auto index = make<int32_t, 2>({n, static_cast<size_t>(neighbours)});
            auto weight = make<float, 2>({n, static_cast<size_t>(neighbours)});
            unlocked([&] {
                linear_codes(descriptors.data(), static_cast<int>(n), extent(descriptors, 1), words.data(),
                             extent(words, 0), neighbours, beta, index.data(), weight.data());
            });
            return std::make_tuple(index, weight);
        },
        "descriptors"_a, "words"_a, "neighbours"_a, "beta"_a);
    m.def(
        "max_pool",
        [](In<int32_t, 2> index, Plane weight, In<int32_t, 2> cell, int words, int cells) {
            const size_t n = index.shape(0), count = index.shape(1);
            if (weight.shape(0) != n || weight.shape(1) != count || cell.shape(0) != n)
                throw std::invalid_argument("codes and cells differ in shape");
            require_within(index, words);
            require_within(cell, cells);
            auto pooled = make<float, 2>({static_cast<size_t>(cells), static_cast<size_t>(words)});
            nb::gil_scoped_release release;
            max_pool(index.data(), weight.data(), static_cast<int>(n), static_cast<int>(count), cell.data(),
                     extent(cell, 1), words, cells, pooled.data());
            return pooled;
        },
        "index"_a, "weight"_a, "cell"_a, "words"_a, "cells"_a);
    m.def(
        "sum_by_word",
        [](Plane descriptors, Plane words) {
            require_words(descriptors, words, 1);
            const size_t n = descriptors.shape(0), length = descriptors.shape(1), count = words.shape(0);
            auto sums = make<double, 2>({count, length});
            auto counts = make<int64_t, 1>({count});
            auto index = make<int32_t, 1>({n});
            unlocked([&] {
                sum_by_word(descriptors.data(), static_cast<int>(n), static_cast<int>(length), words.data(),
                            static_cast<int>(count), sums.data(), counts.data(), index.data());
            });
            return std::make_tuple(sums, counts, index);
        },
        "descriptors"_a, "words"_a);
}

}  // namespace

void bind_recognition(nb::module_& m) {
    bind_descriptors(m);
    bind_codes(m);
    m.def(
        "train_linear_svms",
        [](Plane products, In<int32_t, 1> label, double cost, double tolerance, int most, InOut<float, 2> coefficient) {
            const size_t n = label.size();
            if (products.shape(0) != n || products.shape(1) != n || coefficient.shape(0) != n)
                throw std::invalid_argument("products, labels and coefficients differ in number");
            nb::gil_scoped_release release;
            return train_linear_svms(products.data(), static_cast<int>(n), label.data(), extent(coefficient, 1), cost,
                                     tolerance, most, coefficient.data());
        },
        "products"_a, "label"_a, "cost"_a, "tolerance"_a, "most"_a, "coefficient"_a);
}

}  // namespace imtorque
