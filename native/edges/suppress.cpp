#include "edges/suppress.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bit_words.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "edges/canny.hpp"
#include "edges/gradient_rows.hpp"

namespace imtorque {
namespace {

constexpr float kTie = 1e-5f;  // relative difference below which two neighbours count as equal

IMTORQUE_INLINE void magnitudes_impl(const float* gx, const float* gy, int count, float* __restrict magnitude,
                                     float* largest) {
    int32_t top = 0;  // as bits: non-negative floats have the order of their bits, and integer maxima vectorise
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        const float m = std::sqrt(gx[x] * gx[x] + gy[x] * gy[x]);
        const float kept = m < kNoise ? 0.0f : m;
        int32_t bits;
        std::memcpy(&bits, &kept, sizeof bits);
        magnitude[x] = kept;
        top = bits > top ? bits : top;
    }
    std::memcpy(largest, &top, sizeof top);
}
IMTORQUE_DISPATCH(static, magnitudes, (const float* gx, const float* gy, int count, float* magnitude, float* largest),
                  (gx, gy, count, magnitude, largest))

// Compare each pixel with the strength one pixel along the gradient and one pixel against it, interpolated between the
// four pixels around either point. (Points on the ring of eight neighbours, the cheaper habit, lie 1.4 pixels away on
// diagonals and leave those two pixels wide.) Of two equal neighbours across an edge the one on the bright side stays:
// a rule that turns and mirrors with the image. A gradient of length 0 has no direction: what it gives is no number,
// and fails every comparison.
IMTORQUE_INLINE Lanes<int32_t> maxima(const Strengths& r, int x, float threshold) {
    Lanes<float> here, gx, gy, length, e, w, n, s, ne, nw, se, sw;
    load(r.row + x, here), load(r.gx + x, gx), load(r.gy + x, gy), load(r.length + x, length);
    load(r.row + x + 1, e), load(r.row + x - 1, w), load(r.above + x, n), load(r.below + x, s);
    load(r.above + x + 1, ne), load(r.above + x - 1, nw), load(r.below + x + 1, se), load(r.below + x - 1, sw);
    const Lanes<float> across = magnitudes_of(gx) / length, down = magnitudes_of(gy) / length;
    const Lanes<int32_t> right = gx > 0, lower = gy > 0;
    const Lanes<float> ahead_x = right ? e : w, behind_x = right ? w : e;
    const Lanes<float> ahead_y = lower ? s : n, behind_y = lower ? n : s;
    const Lanes<float> ahead_xy = lower ? (right ? se : sw) : (right ? ne : nw);
    const Lanes<float> behind_xy = lower ? (right ? nw : ne) : (right ? sw : se);
    const Lanes<float> own = (1 - across) * (1 - down) * here;
    const Lanes<float> part_x = across * (1 - down), part_y = (1 - across) * down, part_xy = across * down;
    const Lanes<float> bright = own + part_x * ahead_x + part_y * ahead_y + part_xy * ahead_xy;
    const Lanes<float> dark = own + part_x * behind_x + part_y * behind_y + part_xy * behind_xy;
    return (here > threshold) & (here > bright * (1 + kTie)) & (here * (1 + kTie) >= dark);
}

IMTORQUE_INLINE bool any_above(const float* row, float threshold) {  // of a word's pixels
    Lanes<int32_t> above = {};
    for (int k = 0; k < kWord; k += kLanes) {
        Lanes<float> here;
        load(row + k, here);
        above |= here > threshold;
    }
    uint64_t parts[4];
    std::memcpy(parts, &above, sizeof parts);
    return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
}

IMTORQUE_INLINE void mark_words_impl(const Strengths& s, int words, float threshold, const Marks& marks) {
    for (int word = 0; word < words; ++word) {
        const int from = word * kWord;
        marks.maximum[word] = marks.right[word] = marks.below[word] = 0;
        if (!any_above(s.row + from, threshold)) continue;
        Lanes<int32_t> found = {}, right = {}, below = {};
        for (int k = 0; k < kLanes; ++k) {
            Lanes<float> here, e, b;
            const int x = from + k * kLanes;
            load(s.row + x, here), load(s.row + x + 1, e), load(s.below + x, b);
            found |= (s.gx ? maxima(s, x, threshold) : here > threshold) & (1 << k);
            right |= (here <= e) & (1 << k);
            below |= (here <= b) & (1 << k);
        }
        marks.maximum[word] = word_of(found);
        marks.right[word] = word_of(right);
        marks.below[word] = word_of(below);
    }
}
IMTORQUE_DISPATCH_REGISTERS(static, mark_words, (const Strengths& s, int words, float threshold, const Marks& marks),
                            (s, words, threshold, marks))

IMTORQUE_INLINE void lengths_impl(const float* gx, const float* gy, int count, float* __restrict length) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) length[x] = std::sqrt(gx[x] * gx[x] + gy[x] * gy[x]);
}
IMTORQUE_DISPATCH(static, lengths, (const float* gx, const float* gy, int count, float* length),
                  (gx, gy, count, length))

}  // namespace

void gradient_magnitudes(const float* gx, const float* gy, int count, float* magnitude, float* largest) {
    magnitudes(gx, gy, count, magnitude, largest);
}

void mark_maxima(const Strengths& strengths, int width, float threshold, const Marks& marks) {
    mark_words(strengths, (width + kWord - 1) / kWord, threshold, marks);
    marks.maximum[0] &= ~uint64_t{1};
    marks.maximum[(width - 1) / kWord] &= ~(uint64_t{1} << ((width - 1) % kWord));
}

void suppress_non_maxima(const float* strength, const float* gx, const float* gy, int height, int width,
                         float threshold, float* thinned) {
    constexpr int kBandRows = 32;
    parallel_for((height + kBandRows - 1) / kBandRows, 3.0 * kBandRows * width, [&](int band) {
        RowBuffer rows(3, width), along(3, width);
        std::vector<uint64_t> marked(rows.whole() / kWord), right(marked), below(marked);
        const int top = band * kBandRows, bottom = std::min(top + kBandRows, height);
        const auto copy = [&](int y) {
            std::copy_n(strength + static_cast<size_t>(y) * width, width, rows.row(y % 3));
        };
        for (int y = std::max(top - 1, 0); y <= top; ++y) copy(y);
        for (int y = top; y < bottom; ++y) {
            const size_t at = static_cast<size_t>(y) * width;
            std::fill_n(thinned + at, width, 0.0f);
            if (y + 1 < height) copy(y + 1);
            if (y == 0 || y == height - 1) continue;
            std::copy_n(gx + at, width, along.row(0));
            std::copy_n(gy + at, width, along.row(1));
            lengths(gx + at, gy + at, width, along.row(2));
            mark_maxima({rows.row((y - 1) % 3), rows.row(y % 3), rows.row((y + 1) % 3), along.row(0), along.row(1),
                         along.row(2)},
                        width, threshold, {marked.data(), right.data(), below.data()});
            for (size_t w = 0; w < marked.size(); ++w)
                for (uint64_t bits = marked[w]; bits; bits &= bits - 1) {
                    const size_t x = w * kWord + static_cast<size_t>(__builtin_ctzll(bits));
                    thinned[at + x] = strength[at + x];
                }
        }
    });
}

}  // namespace imtorque
