// The module _native. Only this folder knows Python.
#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace nb = nanobind;
using namespace imtorque;

NB_MODULE(_native, m) {
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, nb::arg("n"));
    m.def("uses_avx2", &use_avx2);
    m.def("allow_avx2", &allow_avx2, nb::arg("yes"));
    bind_edges(m);
    bind_core(m);
    bind_cuts(m);
    bind_matching(m);
    bind_recognition(m);
}
