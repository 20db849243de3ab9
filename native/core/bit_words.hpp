// Marks of 64 pixels in a word, the lowest bit first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/simd.hpp"

namespace imtorque {

constexpr int kWord = 64;  // pixels whose marks share a word

// Bit k of byte j becomes bit j of byte k.
IMTORQUE_INLINE uint64_t transposed(uint64_t bits) {
    uint64_t t = (bits ^ (bits >> 7)) & 0x00AA00AA00AA00AAu;
    bits ^= t ^ (t << 7);
    t = (bits ^ (bits >> 14)) & 0x0000CCCC0000CCCCu;
    bits ^= t ^ (t << 14);
    t = (bits ^ (bits >> 28)) & 0x00000000F0F0F0F0u;
    return bits ^ t ^ (t << 28);
}

// Eight lanes of up to eight bits, pixel 8 k + j in bit k of lane j, as the word of these pixels.
IMTORQUE_INLINE uint64_t word_of(const Lanes<int32_t>& found) {
    int32_t lanes[kLanes];
    std::memcpy(lanes, &found, sizeof lanes);
    uint64_t bytes = 0;
    for (int j = 0; j < kLanes; ++j) bytes |= static_cast<uint64_t>(lanes[j]) << (8 * j);
    return transposed(bytes);
}

// Call use(index) for each set bit, from the lowest.
template <class Use>
inline void for_each_bit(uint64_t bits, const Use& use) {
    for (; bits; bits &= bits - 1) use(__builtin_ctzll(bits));
}

// Call use(x) for each flag that is set. There is room for whole words of flags, and what is beyond the row is not set.
template <class Use>
void for_each_flag(const uint8_t* flags, int width, const Use& use) {
    for (int x = 0; x < width; x += 8) {
        uint64_t word;
        std::memcpy(&word, flags + x, sizeof word);
        if (!word) continue;
        for (int i = x; i < std::min(x + 8, width); ++i)
            if (flags[i]) use(i);
    }
}

}  // namespace imtorque
