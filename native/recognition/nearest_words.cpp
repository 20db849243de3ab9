// Naive twin: naive.nearest_words.
#include "recognition/nearest_words.hpp"

#include <algorithm>
#include <cstring>

#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kGroup = 2 * kLanes;  // words scored together
constexpr int kTile = 6;            // descriptors scored together: with two vectors each, twelve of sixteen registers
constexpr float kNever = 3e38f;

struct Nearest {  // the words found so far for one descriptor, best first
    float score[kMostNeighbours];
    int32_t index[kMostNeighbours];
};

IMTORQUE_INLINE void insert(Nearest& found, int neighbours, float score, int32_t index) {
    int at = neighbours - 1;
    for (; at > 0 && score > found.score[at - 1]; --at) {
        found.score[at] = found.score[at - 1];
        found.index[at] = found.index[at - 1];
    }
    found.score[at] = score;
    found.index[at] = index;
}

IMTORQUE_INLINE bool any(const Lanes<int32_t>& flags) {
    uint64_t bits[4];
    std::memcpy(bits, &flags, sizeof bits);
    return (bits[0] | bits[1]) | (bits[2] | bits[3]);
}

// Scores of `kRows` descriptors with one group of words; whatever beats the worst neighbour enters.
template <int kRows>
IMTORQUE_INLINE void score_tile(const float* x, int length, const float* group, const float* offset, int first,
                                int neighbours, Nearest* found) {
    Lanes<float> sum[kRows][2], low, high, half_low, half_high;
    for (int r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = Lanes<float>{};
    for (int k = 0; k < length; ++k) {
        load(group + k * kGroup, low);
        load(group + k * kGroup + kLanes, high);
#pragma GCC unroll 6
        for (int r = 0; r < kRows; ++r) {
            const float component = x[r * length + k];
            sum[r][0] += component * low;
            sum[r][1] += component * high;
        }
    }
    load(offset, half_low);
    load(offset + kLanes, half_high);
    for (int r = 0; r < kRows; ++r) {
        const Lanes<float> scores[2] = {sum[r][0] - half_low, sum[r][1] - half_high};
        const float worst = found[r].score[neighbours - 1];
        if (!any((scores[0] > worst) | (scores[1] > worst))) continue;
        float score[kGroup];
        std::memcpy(score, scores, sizeof score);
        for (int j = 0; j < kGroup; ++j)
            if (score[j] > found[r].score[neighbours - 1]) insert(found[r], neighbours, score[j], first + j);
    }
}

IMTORQUE_INLINE void search_impl(const float* x, int n, int length, const float* packed, const float* offset,
                                 int groups, int neighbours, Nearest* found) {
    for (int g = 0; g < groups; ++g) {
        const float* group = packed + static_cast<size_t>(g) * kGroup * length;
        int i = 0;
        for (; i + kTile <= n; i += kTile)
            score_tile<kTile>(x + static_cast<size_t>(i) * length, length, group, offset + g * kGroup, g * kGroup,
                              neighbours, found + i);
        for (; i < n; ++i)
            score_tile<1>(x + static_cast<size_t>(i) * length, length, group, offset + g * kGroup, g * kGroup,
                          neighbours, found + i);
    }
}
IMTORQUE_DISPATCH(static, search,
                  (const float* x, int n, int length, const float* packed, const float* offset, int groups,
                   int neighbours, Nearest* found),
                  (x, n, length, packed, offset, groups, neighbours, found))

}  // namespace

Words::Words(const float* words, int count, int length) : count_(count), length_(length) {
    const int groups = (count + kGroup - 1) / kGroup;
    packed_.reset(new float[static_cast<size_t>(groups) * kGroup * length]());
    offset_.reset(new float[static_cast<size_t>(groups) * kGroup]);
    std::fill_n(offset_.get(), static_cast<size_t>(groups) * kGroup, kNever);
    for (int w = 0; w < count; ++w) {
        float* group = packed_.get() + static_cast<size_t>(w / kGroup) * kGroup * length + w % kGroup;
        double square = 0;
        for (int k = 0; k < length; ++k) {
            const float component = words[static_cast<size_t>(w) * length + k];
            group[static_cast<size_t>(k) * kGroup] = component;
            square += static_cast<double>(component) * component;
        }
        offset_[w] = static_cast<float>(square / 2);
    }
}

void Words::nearest(const float* x, int n, int neighbours, int32_t* index) const {
    Nearest found[kBatch];
    const int groups = (count_ + kGroup - 1) / kGroup;
    for (int from = 0; from < n; from += kBatch) {
        const int batch = std::min(kBatch, n - from);
        for (int i = 0; i < batch; ++i) {
            std::fill_n(found[i].score, neighbours, -kNever);
            std::fill_n(found[i].index, neighbours, 0);
        }
        search(x + static_cast<size_t>(from) * length_, batch, length_, packed_.get(), offset_.get(), groups,
               neighbours, found);
        for (int i = 0; i < batch; ++i)
            std::copy_n(found[i].index, neighbours, index + static_cast<size_t>(from + i) * neighbours);
    }
}

}  // namespace imtorque
