// One function per subject adds its kernels to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace imtorque {

void bind_core(nanobind::module_& m);
void bind_edges(nanobind::module_& m);
void bind_detectors(nanobind::module_& m);
void bind_detection(nanobind::module_& m);
void bind_cuts(nanobind::module_& m);
void bind_matching(nanobind::module_& m);
void bind_recognition(nanobind::module_& m);
void bind_volumes(nanobind::module_& m);
void bind_shapes(nanobind::module_& m);
void bind_tiles(nanobind::module_& m);
void bind_tokens(nanobind::module_& m);

}  // namespace imtorque
