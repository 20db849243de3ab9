// How arrays cross between Python and the kernels. Arrays are checked for dtype, rank and contiguity by their types
// here; what their values must satisfy is checked by the public functions above. The GIL is released around every
// kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

namespace imtorque {

namespace nb = nanobind;
using namespace nanobind::literals;

template <class T, int kRank>
using In = nb::ndarray<const T, nb::ndim<kRank>, nb::c_contig, nb::device::cpu>;
template <class T, int kRank>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<kRank>>;
using Plane = In<float, 2>;
// An array that the kernel changes in place.
template <class T, int kRank>
using InOut = nb::ndarray<T, nb::ndim<kRank>, nb::c_contig, nb::device::cpu>;

// Ask for large pages, as NumPy does for its own arrays: the first touch of a page costs as much as filling it.
inline void prefer_large_pages(void* memory, size_t bytes) {
#ifdef __linux__
    constexpr size_t kLeast = size_t{4} << 20, kPage = 4096;
    const size_t offset = kPage - reinterpret_cast<uintptr_t>(memory) % kPage;
    if (bytes >= kLeast) madvise(static_cast<char*>(memory) + offset, bytes - offset, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

template <class T>
T* uninitialised(size_t count) {
    const size_t bytes = std::max<size_t>(count, 1) * sizeof(T);
    void* memory = ::operator new(bytes);
    prefer_large_pages(memory, bytes);
    return static_cast<T*>(memory);
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

template <class T>
Out<T, 1> from_vector(const std::vector<T>& values) {
    auto out = make<T, 1>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

// A new array of a plane's height and width.
template <class T, class Array>
Out<T, 2> like(const Array& plane) {
    return make<T, 2>({plane.shape(0), plane.shape(1)});
}

template <class Array>
int extent(const Array& array, size_t axis) {
    return static_cast<int>(array.shape(axis));
}

template <class Array>
int count_of(const Array& array) {
    return static_cast<int>(array.size());
}

template <class First, class Second>
void require_same_shape(const First& a, const Second& b) {
    if (a.shape(0) != b.shape(0) || a.shape(1) != b.shape(1)) throw std::invalid_argument("planes differ in shape");
}

// Do what needs no Python without the GIL.
template <class Work>
auto unlocked(const Work& work) {
    nb::gil_scoped_release release;
    return work();
}

}  // namespace imtorque
