#include "core/simd.hpp"

#include <atomic>

namespace imtorque {
namespace {
bool processor_has_avx2() {
#ifdef IMTORQUE_HAS_AVX2
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}
bool processor_has_avx512() {
#ifdef IMTORQUE_HAS_AVX2
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}
std::atomic<bool> allowed{true}, allowed_512{true};
}  // namespace

bool use_avx2() {
    static const bool has = processor_has_avx2();
    return has && allowed.load(std::memory_order_relaxed);
}
bool use_avx512() {
    static const bool has = processor_has_avx512();
    return has && use_avx2() && allowed_512.load(std::memory_order_relaxed);
}
void allow_avx2(bool yes) { allowed.store(yes); }
void allow_avx512(bool yes) { allowed_512.store(yes); }

}  // namespace imtorque
