// The only file that knows Python. Arrays are checked for dtype, rank and contiguity by their types here; what their
// values must satisfy is checked by the public functions above. The GIL is released around every kernel.
#include <nanobind/nanobind.h>

#include "parallel.hpp"

namespace nb = nanobind;


NB_MODULE(_native, m) {
    m.def("num_threads", &imtorque::num_threads);
    m.def("set_num_threads", &imtorque::set_num_threads, nb::arg("n"));
}
