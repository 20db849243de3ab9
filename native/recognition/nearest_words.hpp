// The nearest words of descriptors.
//
// The word w nearest to x has the largest score x . w - |w|^2 / 2. Scores of a tile of descriptors with sixteen words
// stay in registers: a lane per word, so that each score is one sum over the components, in their order, whatever the
// width of the processor's vectors. Words are stored in groups of sixteen, component by component, and a group is used
// for all descriptors of a batch while both lie in the first-level cache.
#pragma once

#include <cstdint>
#include <memory>

namespace imtorque {

constexpr int kMostNeighbours = 32;

class Words {
  public:
    Words(const float* words, int count, int length);

    int count() const { return count_; }
    int length() const { return length_; }

    // For descriptors x[0] ... x[n - 1], the indices of the nearest `neighbours` words each, nearest first; of equally
    // near ones the first. index[i * neighbours + j].
    void nearest(const float* x, int n, int neighbours, int32_t* index) const;

  private:
    int count_, length_;
    std::unique_ptr<float[]> packed_;  // [group of 16][component][16]
    std::unique_ptr<float[]> offset_;  // |w|^2 / 2; of words that only fill a group, huge
};

constexpr int kBatch = 36;  // descriptors worked on together

}  // namespace imtorque
