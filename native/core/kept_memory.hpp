// Memory that is given back and soon asked for again, in the same size: the fields and tables of frame after frame. The
// first touch of new memory costs as much as filling it. Kept only while somebody asks for that.
#pragma once

#include <cstddef>
#include <memory>

namespace imtorque {

void* take_memory(std::size_t bytes);  // not cleared
void give_memory(void* memory) noexcept;

// Calls with true and with false come in pairs; after the last pair all that was kept goes.
void keep_memory(bool yes);

struct GiveMemory {
    void operator()(void* memory) const noexcept { give_memory(memory); }
};
template <class T>
using KeptArray = std::unique_ptr<T[], GiveMemory>;

template <class T>
KeptArray<T> kept_array(std::size_t count) {
    return KeptArray<T>(static_cast<T*>(take_memory(count * sizeof(T))));
}

}  // namespace imtorque
