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
std::atomic<bool> allowed{true};
}  // namespace

bool use_avx2() {
    static const bool has = processor_has_avx2();
    return has && allowed.load(std::memory_order_relaxed);
}
void allow_avx2(bool yes) { allowed.store(yes); }

}  // namespace imtorque
