// The module _native. Only this folder knows Python.
#include <nanobind/nanobind.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <pthread.h>
#endif

#include "bindings/bindings.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace nb = nanobind;
using namespace imtorque;

namespace {

#if !defined(__linux__) && !defined(__APPLE__)
unsigned long main_thread = 0;  // as Python numbers threads; read when the module is made
#endif

// Python runs signal handlers on its main thread alone, which is the process's first. Others need not ask, and must
// not: a thread that wants the GIL while Python ends never gets it.
bool on_main_thread() {
#ifdef __linux__
    return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np() != 0;
#else
    return PyThread_get_thread_ident() == main_thread;
#endif
}

// Let Python handle what has come in; if a handler raises (Ctrl-C: KeyboardInterrupt), end the kernel with that.
void handle_signals() {
    if (!on_main_thread()) return;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// What one thread sets and the kernels of another end by.
struct Cancellation {
    std::shared_ptr<std::atomic<bool>> flag = std::make_shared<std::atomic<bool>>(false);
};

void bind_cancellation(nb::module_& m) {
    nb::exception<Cancelled>(m, "Cancelled");
    nb::class_<Cancellation>(m, "Cancellation")
        .def(nb::init<>())
        .def("cancel", [](const Cancellation& self) { *self.flag = true; })
        .def("watch", [](const Cancellation& self) { watch(self.flag); })
        .def_prop_ro("cancelled", [](const Cancellation& self) { return self.flag->load(); });
    m.def("watch_nothing", [] { watch(nullptr); });
    m.def("check_interrupt", &check_interrupt);
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The compiled kernels: arrays in, arrays out; the public functions check and choose.";
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, nb::arg("n"));
    m.def("uses_avx2", &use_avx2);
    m.def("allow_avx2", &allow_avx2, nb::arg("yes"));
    m.def("uses_avx512", &use_avx512);
    m.def("allow_avx512", &allow_avx512, nb::arg("yes"));
    m.def("use_all_threads", &use_all_threads, nb::arg("yes"));
    // A daemon thread that is inside a kernel when Python ends keeps what it was given; nanobind would call that a
    // leak.
    nb::set_leak_warnings(false);
#if !defined(__linux__) && !defined(__APPLE__)
    main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
#endif
    set_interrupt_check(&handle_signals);
    bind_cancellation(m);
    bind_edges(m);
    bind_detectors(m);
    bind_detection(m);
    bind_core(m);
    bind_cuts(m);
    bind_matching(m);
    bind_recognition(m);
    bind_volumes(m);
    bind_shapes(m);
    bind_tiles(m);
    bind_tokens(m);
}
