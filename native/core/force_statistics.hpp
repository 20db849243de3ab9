// Statistics of an edge field in one pass: what its rounding and the bounds of its sums are derived from
// (imtorque.core.quantisation chooses the steps).
//
// Rows are read once, while they are in the cache, and by the forces they hold: most pixels hold none. A kernel that
// writes forces knows where they are and adds them there (edges/candidates.hpp); `force_statistics` finds them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/forces.hpp"

namespace imtorque {

// Statistics of some rows. The parts of a field are merged at the end.
struct StatisticsPart {
    int32_t largest = 0;  // force component, as the bits of its float
    int top = std::numeric_limits<int>::max(), bottom = -1, left = std::numeric_limits<int>::max(), right = -1;
    int grain = std::numeric_limits<int>::max();
    int unit = std::numeric_limits<int>::min();  // exponent of the power of two above `largest`
    uint32_t not_pell = 0;                       // bit i: some component is not whole in Pell steps of 2^(unit + i)
    long long octaves[256] = {};

    void raise_unit(int to);               // keeps what is known of not_pell
    void add(const StatisticsPart& part);  // all but the unit and what depends on it
};

// Adds rows in order, from the first row of a block to the last of another. `blocks` is the table of the whole
// field, from `empty_blocks`; sums of blocks are added to it, and `merged` makes it a summed-area table.
class RowStatistics {
  public:
    RowStatistics(int height, int width, double* blocks, StatisticsPart& part);

    // Row y, whose forces are at `count` rising places.
    void add(int y, const float* fx, const float* fy, const int* places, int count);

  private:
    void close_block(int by);

    int height_, width_;
    double* blocks_;
    StatisticsPart& part_;
    std::vector<float> mass_, ax_, ay_;  // sums down the columns of a block; components of a row's forces
};

// Rising places of a row's forces, and how many there are; `places` has room for a row and one more.
int find_places(const float* fx, const float* fy, int width, int* places);

std::vector<double> empty_blocks(int height, int width);
ForceStatistics merged(std::vector<StatisticsPart>& parts, std::vector<double> blocks, int height, int width);

}  // namespace imtorque
