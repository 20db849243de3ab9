// Run-time choice of instruction set. Kernels are plain loops in always-inlined functions; each is compiled twice, for
// the baseline and for AVX2, and the processor decides at run time; where twice the registers help, once more, for
// AVX-512. Integer sums are exact and floats are never contracted or reordered, so all give the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#define IMTORQUE_INLINE inline __attribute__((always_inline))

// Before a loop: its iterations do not depend on each other.
#if defined(__clang__)
#define IMTORQUE_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IMTORQUE_IVDEP _Pragma("GCC ivdep")
#endif

// Not by gcc on Windows, which does not align its stack for vectors of 32 bytes (gcc bug 54412).
#if (defined(__x86_64__) || defined(__i386__)) && (!defined(_WIN32) || defined(__clang__))
#define IMTORQUE_HAS_AVX2
#define IMTORQUE_AVX2 __attribute__((target("avx2")))
#define IMTORQUE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
#else
#define IMTORQUE_AVX2
#define IMTORQUE_AVX512
#endif

// Define `name params` as the run-time choice between two compilations of `name_impl args`. `prefix` is `static` or
// `template <class Number> static`.
#define IMTORQUE_DISPATCH(prefix, name, params, args)                  \
    prefix void name##_baseline params { name##_impl args; }           \
    prefix IMTORQUE_AVX2 void name##_avx2 params { name##_impl args; } \
    prefix void name params {                                          \
        if (imtorque::use_avx2())                                      \
            name##_avx2 args;                                          \
        else                                                           \
            name##_baseline args;                                      \
    }

// The same with a third compilation: for the 32 registers of AVX-512, in vectors of the same width.
#define IMTORQUE_DISPATCH_REGISTERS(prefix, name, params, args)            \
    prefix void name##_baseline params { name##_impl args; }               \
    prefix IMTORQUE_AVX2 void name##_avx2 params { name##_impl args; }     \
    prefix IMTORQUE_AVX512 void name##_avx512 params { name##_impl args; } \
    prefix void name params {                                              \
        if (imtorque::use_avx512())                                        \
            name##_avx512 args;                                            \
        else if (imtorque::use_avx2())                                     \
            name##_avx2 args;                                              \
        else                                                               \
            name##_baseline args;                                          \
    }

namespace imtorque {

// Eight numbers at a time, whatever the width of the processor's vectors.
constexpr int kLanes = 8;
template <class T>
struct LanesOf {
    typedef T type __attribute__((vector_size(kLanes * sizeof(T))));
};
template <class T>
using Lanes = typename LanesOf<T>::type;

// So many that they are whole vectors of lanes.
template <class Int>
constexpr Int whole_vectors(Int count) {
    return (count + kLanes - 1) / kLanes * kLanes;
}

template <class T>
IMTORQUE_INLINE void load(const T* p, Lanes<T>& lanes) {
    std::memcpy(&lanes, p, sizeof lanes);
}
template <class T>
IMTORQUE_INLINE void store(const Lanes<T>& lanes, T* p) {
    std::memcpy(p, &lanes, sizeof lanes);
}

// Numbers of two vectors, a's counted first. They are moved as floats: gcc has quicker instructions for those.
template <class Uint, int... kPlaces>
IMTORQUE_INLINE Lanes<Uint> pick(const Lanes<Uint>& a, const Lanes<Uint>& b) {
    using Real = std::conditional_t<sizeof(Uint) == sizeof(float), float, double>;
    return (Lanes<Uint>)__builtin_shufflevector((Lanes<Real>)a, (Lanes<Real>)b, kPlaces...);
}

// |value| of each.
IMTORQUE_INLINE Lanes<float> magnitudes_of(const Lanes<float>& values) {
    return (Lanes<float>)((Lanes<int32_t>)values & 0x7FFFFFFF);
}

bool use_avx2();            // the processor has AVX2 and it has not been switched off
bool use_avx512();          // likewise, and AVX2 has not been either
void allow_avx2(bool yes);  // for tests that compare them
void allow_avx512(bool yes);

}  // namespace imtorque
