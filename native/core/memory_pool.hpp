// A pool of memory for fields and tables of the same sizes, frame after frame: the first touch of new memory costs as
// much as filling it. Pooled only between calls of `pool_memory`.
#pragma once

#include <cstddef>
#include <memory>

namespace imtorque {

void* take_memory(std::size_t bytes);  // not cleared
void return_memory(void* memory) noexcept;

// Calls with true and with false come in pairs; the last false frees the pool.
void pool_memory(bool yes);

struct ReturnMemory {
    void operator()(void* memory) const noexcept { return_memory(memory); }
};
template <class T>
using PooledArray = std::unique_ptr<T[], ReturnMemory>;

template <class T>
PooledArray<T> pooled_array(std::size_t count) {
    return PooledArray<T>(static_cast<T*>(take_memory(count * sizeof(T))));
}

}  // namespace imtorque
