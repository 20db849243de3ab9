// Values are counted by their leading bits; only those that share them with a wanted one are then put in order. Naive
// twin: a sort.
#include "detection/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace imtorque {
namespace {

constexpr int kBits = 16;

// A float's leading bits as a number that grows with the float; -0 counts as 0.
uint32_t bucket(float value) {
    const float plain = value + 0.0f;
    uint32_t bits;
    std::memcpy(&bits, &plain, sizeof bits);
    return (bits >> 31 ? ~bits : bits | 0x80000000u) >> (32 - kBits);
}

}  // namespace

std::vector<float> order_statistics(const float* values, std::size_t count, const std::vector<int64_t>& ranks) {
    std::vector<int64_t> ends(std::size_t{1} << kBits);  // how many values lie in a bucket or below
    for (std::size_t i = 0; i < count; ++i) ++ends[bucket(values[i])];
    for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];

    std::vector<int> place(ends.size(), -1);  // of a wanted bucket among `held`
    std::vector<std::vector<float>> held;
    std::vector<std::size_t> wanted;
    for (int64_t rank : ranks) {
        wanted.push_back(std::upper_bound(ends.begin(), ends.end(), rank) - ends.begin());
        if (place[wanted.back()] >= 0) continue;
        place[wanted.back()] = static_cast<int>(held.size());
        held.emplace_back();
    }
    for (std::size_t i = 0; i < count; ++i) {
        const int at = place[bucket(values[i])];
        if (at >= 0) held[at].push_back(values[i]);
    }
    std::vector<float> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        std::vector<float>& near = held[place[wanted[i]]];
        const auto here = near.begin() + (ranks[i] - (wanted[i] ? ends[wanted[i] - 1] : 0));
        std::nth_element(near.begin(), here, near.end());
        found.push_back(*here);
    }
    return found;
}

}  // namespace imtorque
