// One look at an edge field: what its rounding and the bounds of its sums rest on (imtorque._survey chooses the steps).
//
// Rows are looked at once, while they are in the cache, and by the forces they hold: most pixels hold none. Whoever
// writes the forces knows where they are and can have them looked at there (edges/candidates.hpp); `survey` finds them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/forces.hpp"

namespace imtorque {

// What the forces of some rows tell. The parts of a field are merged at the end.
struct SurveyPart {
    int32_t largest = 0;  // force component, as the bits of its float
    int top = std::numeric_limits<int>::max(), bottom = -1, left = std::numeric_limits<int>::max(), right = -1;
    int grain = std::numeric_limits<int>::max();
    int unit = std::numeric_limits<int>::min();  // exponent of the power of two above `largest`
    uint32_t not_pell = 0;                       // bit i: some component is not whole in Pell steps of 2^(unit + i)
    long long octaves[256] = {};

    void raise_unit(int to);           // keeps what is known of not_pell
    void add(const SurveyPart& part);  // all but the unit and what depends on it
};

// Looks at rows in order, from the first row of a block to the last of another. `blocks` is the table of the whole
// field, from `empty_blocks`; sums of blocks are added to it, and `merged` makes it a summed-area table.
class RowSurvey {
  public:
    RowSurvey(int height, int width, double* blocks, SurveyPart& part);

    // Row y, whose forces are at `count` rising places.
    void look(int y, const float* fx, const float* fy, const int* places, int count);

  private:
    void close_block(int by);

    int height_, width_;
    double* blocks_;
    SurveyPart& part_;
    std::vector<float> mass_, ax_, ay_;  // sums down the columns of a block; components of a row's forces
};

// Rising places of a row's forces, and how many there are; `places` has room for a row and one more.
int find_places(const float* fx, const float* fy, int width, int* places);

std::vector<double> empty_blocks(int height, int width);
Survey merged(std::vector<SurveyPart>& parts, std::vector<double> blocks, int height, int width);

}  // namespace imtorque
