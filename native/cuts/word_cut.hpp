// A minimum cut by what pixels look like, given as numbered words.
#pragma once

#include <cstdint>

#include "cuts/max_flow.hpp"

namespace imtorque {

// A part of an image of so many columns: `words` is that of its first pixel, and all the rest is ground.
struct WordWindow {
    const int64_t* words;
    int stride, height, width;
};

// Links between neighbours of the whole image, and what they are multiplied by: right (H, W - 1), down (H - 1, W).
struct WordLinks {
    const double *right, *down;
    double cost;
    int height, width, top, left;  // of the image, and where the window begins
};

// Add to `counts` how often each word occurs in the figure and where `on` is set, but not where `off` is. Masks are of
// the window's shape.
void count_words(const WordWindow& window, const uint8_t* figure, const uint8_t* on, const uint8_t* off,
                 double* counts);

// Write 1 in the parts of the cheapest figure that hold a pixel that is `on`, else 0. By `log_odds` of its word a pixel
// is rather figure, or where they are negative, rather ground; what is `on` is figure for sure, other pixels that are
// `off` ground. `flow` is of the whole image: what flows in the window, in the end, and what it begins with, which
// may be that of a cut in another window; any gives the same figure.
void cut_words(const WordWindow& window, const WordLinks& links, const double* log_odds, const uint8_t* on,
               const uint8_t* off, GridSteps& flow, uint8_t* figure);

}  // namespace imtorque
