// Pixels that may be edges: marked by bits, with their gradients in lists. Few pixels are, so what follows them - the
// thresholds, hysteresis, the removal of corners - looks at little memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/bit_words.hpp"
#include "core/force_statistics.hpp"
#include "edges/canny.hpp"
#include "edges/gradient_rows.hpp"
#include "edges/suppress.hpp"
#include "edges/thresholds.hpp"

namespace imtorque {

// A bit for every pixel. A pixel is known by its place, y * stride() + x. Pixels on the outermost rows and columns are
// never set, so every set pixel has its eight neighbours.
class BitPlane {
  public:
    BitPlane(int height, int width)
        : height_(height), words_((width + kWord - 1) / kWord), bits_(static_cast<size_t>(height) * words_ + 2, 0) {}
    int height() const { return height_; }
    int words() const { return words_; }  // in a row
    size_t stride() const { return static_cast<size_t>(words_) * kWord; }
    uint64_t* row(int y) { return data() + static_cast<size_t>(y) * words_; }
    const uint64_t* row(int y) const { return data() + static_cast<size_t>(y) * words_; }
    uint64_t* data() { return bits_.data() + 1; }  // one word more before the first and after the last row
    const uint64_t* data() const { return bits_.data() + 1; }
    bool has(size_t place) const { return data()[place / kWord] >> (place % kWord) & 1; }

  private:
    int height_, words_;
    std::vector<uint64_t> bits_;
};

class Candidates {
  public:
    Candidates(int height, int width, int band_rows);

    int bands() const { return static_cast<int>(bands_.size()); }
    int top(int band) const { return band * band_rows_; }
    int bottom(int band) const;

    const BitPlane& bits() const { return bits_; }
    const BitPlane& right() const { return right_; }  // those not stronger than the neighbour to the right,
    const BitPlane& below() const { return below_; }  // and below

    // Where the next row of a band is to be marked, and what takes the gradients of its candidates then.
    Marks marks(int y) { return {bits_.row(y), right_.row(y), below_.row(y)}; }
    void add_row(int y, const float* gx, const float* gy);

    // Candidates that are stronger than `low`, and than `high`.
    std::pair<BitPlane, BitPlane> above(float low, float high) const;

    // Turn every gradient to the direction of its edge, (g_y, -g_x), and shape it where that is simple.
    void turn(const Shaping& shaping);

    // Write the vectors of the kept candidates, shaped where that was left, and 0 elsewhere; returns their statistics.
    ForceStatistics spread(const BitPlane& kept, const Shaping& shaping, float* x, float* y) const;

    // Call use(y, x, gx, gy) for the kept candidates, in the order of their places.
    template <class Use>
    void for_each(const BitPlane& kept, const Use& use) const {
        for (int b = 0; b < bands(); ++b) {
            const float *gx = bands_[b].gx.data(), *gy = bands_[b].gy.data();
            for (int y = top(b); y < bottom(b); ++y)
                for (int w = 0; w < bits_.words(); ++w) {
                    const uint64_t marked = bits_.row(y)[w];
                    for_each_bit(marked & kept.row(y)[w], [&](int i) {
                        const int next = __builtin_popcountll(marked & ((uint64_t{1} << i) - 1));
                        use(y, w * kWord + i, gx[next], gy[next]);
                    });
                    gx += __builtin_popcountll(marked);
                    gy += __builtin_popcountll(marked);
                }
        }
    }

  private:
    struct Band {
        std::vector<float> gx, gy;
    };
    int height_, width_, band_rows_;
    BitPlane bits_, right_, below_;
    std::vector<Band> bands_;
};

// The maxima across edges of an image that are stronger than `low`; where that is automatic, stronger than the least
// it can be.
struct Maxima {
    Candidates candidates;
    float largest;  // of all magnitudes
    MagnitudeCounts counts;
};
struct Search {
    float low;
    bool automatic;
    float* magnitudes;  // of the whole image are written here, unless nullptr
};
Maxima find_maxima(const float* image, int height, int width, double sigma, const Search& search);

}  // namespace imtorque
