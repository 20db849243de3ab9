// Canny's detector in parts of an image, to the bit as in the whole (imtorque.tiling).
//
// A part is looked at through a window that reaches beyond it. Candidates are the pixels that thinning leaves, with
// their gradients; they are kept in lists between the passes over an image, ordered by blocks so that a neighbour can
// read just those it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace imtorque {

struct Part {  // of a window, half-open
    int top, left, bottom, right;
};

// How many magnitudes of a part lie in narrow ranges of floats: which ranges is known before the largest magnitude of
// the whole image is, and nearly always they settle in which of 64 bins the threshold lies.
constexpr int kFineBits = 10;    // of the mantissa, that make ranges
constexpr int kFineOctaves = 6;  // below the largest; what is smaller lies in the first of the 64 bins anyway

struct FineCounts {
    float largest = 0;
    int64_t first = 0;            // range, as the bits of its floats shifted
    std::vector<int64_t> counts;  // from there on; smaller magnitudes are not counted
};

// Write the gradient of the smoothed window where it is a maximum across the edge and its magnitude above `low`, 0
// elsewhere.
void find_candidates(const float* window, int height, int width, double sigma, double low, float* gx, float* gy);

// The 64 bins of the magnitudes inside `core`, for the largest of the whole image.
std::vector<long long> count_bins(const float* window, int height, int width, double sigma, const Part& core,
                                  float largest);

struct Candidate {
    uint32_t at;  // y * width + x in the part
    float gx, gy;
};

// The candidates of a window inside `core`, by blocks of `block` pixels a side, and where each block begins in the
// list. With `fine`, `low` is the least that the automatic rule can give for any image that holds this part, and the
// magnitudes inside `core` are counted.
struct CandidateBlocks {
    std::vector<Candidate> candidates;
    std::vector<int64_t> begins;
};
CandidateBlocks list_candidates(const float* window, int height, int width, double sigma, double low, const Part& core,
                                int block, FineCounts* fine);

// Write candidates of a part `part_width` wide to a window in which the part's first pixel is (y, x).
void place_candidates(const Candidate* candidates, long long count, int part_width, int y, int x, float* gx, float* gy,
                      int height, int width);

// Which of the candidates on the given rows and columns of a part connect inside the part.
struct LinePixel {
    uint32_t at;
    int32_t label;
};
struct Lines {
    std::vector<LinePixel> pixels;
    std::vector<uint8_t> strong;  // by label: whether a strong edge is among its candidates
};
Lines label_tile_edges(const float* gx, const float* gy, int height, int width, float low, float high,
                       const std::vector<int>& rows, const std::vector<int>& columns);

// Turn candidates into edges, in place: those connected to a strong one or to a seed, after `rounds` of corner removal,
// as (g_y, -g_x). The outermost pixels are no edges. Returns whether a spare corner is left inside `core`.
bool connect_edges(float* gx, float* gy, int height, int width, float low, float high, const std::vector<size_t>& seeds,
                   int rounds, const Part& core);

}  // namespace imtorque
