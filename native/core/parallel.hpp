// Threads for the kernels: a number shared by all of them, and one loop over independent tasks.
#pragma once

#include <functional>

namespace imtorque {

int num_threads();
void set_num_threads(int n);

// Run task(0) ... task(count - 1), each once, on up to num_threads() threads. Tasks must write to disjoint memory; the
// first exception one of them throws is thrown again here, after all threads have ended.
void parallel_for(int count, const std::function<void(int)>& task);

}  // namespace imtorque
