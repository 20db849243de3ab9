// Which magnitudes the thresholds of Canny's detector are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "edges/canny.hpp"

namespace imtorque {

// Where the magnitudes lie, in ranges of floats that are known before the largest of them is.
class MagnitudeCounts {
  public:
    MagnitudeCounts();
    void add(const float* magnitudes, int count);
    void add(const MagnitudeCounts& other);

    // The bin that the automatic rule chooses, of kBins up to `largest`, where the ranges leave no doubt of it.
    std::optional<int> chosen_bin(long long count, float largest) const;

  private:
    std::vector<uint32_t> counts_;
};

// How many magnitudes lie in each of kBins bins.
void add_to_bins(const float* magnitudes, int count, float largest, long long* bins);

// MATLAB's rule: the first bin up to which more than 70 % of the pixels lie.
int chosen_bin(const std::vector<long long>& bins, long long count);

// The upper edge of a bin is the high threshold; low is 0.4 of it.
Thresholds thresholds_of_bin(int bin, float largest);

// The thresholds that are quantiles of the magnitudes, linear between order statistics; reorders these.
Thresholds thresholds_of_quantiles(std::vector<float>& magnitudes, double low, double high);

// The least `low` that the automatic rule can give where some magnitude is this large.
float least_low(float largest);

}  // namespace imtorque
