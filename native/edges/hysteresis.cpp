// The last two steps of Canny's detector, 64 pixels at a time. Naive twin: naive.canny.
#include "edges/hysteresis.hpp"

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kBandRows = 64;
constexpr uint64_t kFirstBit = 1, kLastBit = uint64_t{1} << (kWord - 1);

int bands(int height) { return (height + kBandRows - 1) / kBandRows; }

// The runs of `open` that hold bits of `marked`, which is part of it.
uint64_t filled(uint64_t marked, uint64_t open) {
    // Upwards: the sum carries from the lowest mark of a run through the rest of it.
    uint64_t all = open & ((open ^ (open + marked)) | marked);
    for (int step = 1; step < kWord; step *= 2) {  // downwards, in steps that double
        all |= open & (all >> step);
        open &= open >> step;
    }
    return all;
}

class Flood {
  public:
    Flood(const BitPlane& weak, BitPlane& kept) : weak_(weak.data()), kept_(kept.data()), words_(weak.words()) {}

    void begin(size_t word) { open_.push_back(word); }

    // Keep all that is connected with what the words begun from hold, inside the words [from, to).
    void run(size_t from, size_t to) {
        Poll poll(4096);
        while (!open_.empty()) {
            poll();
            const size_t word = open_.back();
            open_.pop_back();
            const uint64_t kept = kept_[word] = filled(kept_[word], weak_[word]);
            const uint64_t beside = kept | kept << 1 | kept >> 1;
            if (word >= from + words_) spread(word - words_, beside, kept);
            spread(word, 0, kept);
            if (word + words_ < to) spread(word + words_, beside, kept);
        }
    }

  private:
    void spread(size_t word, uint64_t beside, uint64_t kept) {
        touch(word, beside);
        // The first and the last column are empty: words to the left of a first bit and to the right of a last exist.
        if (kept & kFirstBit) touch(word - 1, kLastBit);
        if (kept & kLastBit) touch(word + 1, kFirstBit);
    }
    void touch(size_t word, uint64_t bits) {
        const uint64_t fresh = bits & weak_[word] & ~kept_[word];
        if (!fresh) return;
        kept_[word] |= fresh;
        open_.push_back(word);
    }

    const uint64_t* weak_;
    uint64_t* kept_;
    size_t words_;
    std::vector<size_t> open_;
};

}  // namespace

// Bands of rows flood on their own; where an edge leaves its band, one flood over the whole image goes on.
BitPlane keep_connected(const BitPlane& weak, const BitPlane& strong, const std::vector<size_t>& seeds) {
    BitPlane kept = strong;
    const size_t words = weak.words(), all = words * weak.height();
    const int count = useful_threads(1.0 * all * kWord) == 1 ? 1 : bands(weak.height());
    const size_t step = count == 1 ? all : words * kBandRows;
    parallel_for(count, 1.0 * step * kWord, [&](int band) {
        Flood flood(weak, kept);
        const size_t from = band * step, to = std::min(all, from + step);
        for (size_t w = from; w < to; ++w)
            if (kept.data()[w]) flood.begin(w);
        flood.run(from, to);
    });
    Flood flood(weak, kept);
    for (int band = 1; band < count; ++band)
        for (size_t w = band * step - words; w < band * step + words && w < all; ++w)
            if (kept.data()[w]) flood.begin(w);
    for (const size_t place : seeds) {
        if (!weak.has(place)) continue;
        kept.data()[place / kWord] |= uint64_t{1} << (place % kWord);
        flood.begin(place / kWord);
    }
    flood.run(0, all);
    return kept;
}

namespace {

// The bits of the pixels to the left, and to the right, of a word's.
IMTORQUE_INLINE uint64_t left_of(const uint64_t* p) { return p[0] << 1 | p[-1] >> (kWord - 1); }
IMTORQUE_INLINE uint64_t right_of(const uint64_t* p) { return p[0] >> 1 | p[1] << (kWord - 1); }

// Which edges of a word are the corner of a stair and may go: such has an edge beside it and one above or below, and
// its edge neighbours stay connected without it (Yokoi's connectivity number is 1).
IMTORQUE_INLINE uint64_t spare_of(const uint64_t* p, ptrdiff_t words) {
    const uint64_t *above = p - words, *below = p + words;
    const uint64_t n = above[0], s = below[0], w = left_of(p), e = right_of(p);
    const uint64_t a = ~e & (right_of(above) | n), b = ~n & (left_of(above) | w);
    const uint64_t c = ~w & (left_of(below) | s), d = ~s & (right_of(below) | e);
    const uint64_t one_part = (a ^ b ^ c ^ d) & ~((a & b) | (c & d));
    return p[0] & (e | w) & (n | s) & one_part;
}

// Which of the spare corners of a word are weaker than those beside them, or as strong and come first.
IMTORQUE_INLINE uint64_t weakest_of(const uint64_t* spare, const uint64_t* right, const uint64_t* below,
                                    ptrdiff_t words) {
    const uint64_t w = left_of(spare), e = right_of(spare), n = spare[-words], s = spare[words];
    return spare[0] & (~e | right[0]) & ~(w & left_of(right)) & (~s | below[0]) & ~(n & below[-words]);
}

struct Corners {
    uint64_t *edges, *spare, *going;
    const uint64_t *right, *below;  // see Candidates
};

// Rounds of the words of a row: what is spare there, then which of that goes, and that it goes.
IMTORQUE_INLINE void find_spare_impl(const Corners& c, size_t from, int words) {
    IMTORQUE_IVDEP
    for (int i = 0; i < words; ++i) c.spare[from + i] = spare_of(c.edges + from + i, words);
}
IMTORQUE_DISPATCH(static, find_spare, (const Corners& c, size_t from, int words), (c, from, words))

IMTORQUE_INLINE void find_weakest_impl(const Corners& c, size_t from, int words, bool* any) {
    uint64_t all = 0;
    IMTORQUE_IVDEP
    for (int i = 0; i < words; ++i) {
        const size_t w = from + i;
        c.going[w] = weakest_of(c.spare + w, c.right + w, c.below + w, words);
        all |= c.going[w];
    }
    *any = all != 0;
}
IMTORQUE_DISPATCH(static, find_weakest, (const Corners& c, size_t from, int words, bool* any), (c, from, words, any))

}  // namespace

std::vector<size_t> remove_spare_corners(BitPlane& edges, const Candidates& candidates, int rounds) {
    const int height = edges.height(), words = edges.words();
    BitPlane spare(height, static_cast<int>(edges.stride())), going(spare);
    const Corners corners{edges.data(), spare.data(), going.data(), candidates.right().data(),
                          candidates.below().data()};
    // Rows that have changed, with those beside them; never the outermost, where no edge is.
    std::vector<uint8_t> changed(height, 1), near(height);
    const auto for_rows = [&](const std::vector<uint8_t>& listed, const auto& task) {
        parallel_for(bands(height), 0.1 * kBandRows * words * kWord, [&](int band) {
            const int top = std::max(band * kBandRows, 1), bottom = std::min((band + 1) * kBandRows, height - 1);
            for (int y = top; y < bottom; ++y)
                if (listed[y]) task(y, static_cast<size_t>(y) * words);
        });
    };
    const auto widen = [&](std::vector<uint8_t>& to, const std::vector<uint8_t>& from) {
        for (int y = 1; y < height - 1; ++y) to[y] = from[y - 1] | from[y] | from[y + 1];
    };
    for (int round = 0;; ++round) {
        widen(near, changed);
        for_rows(near, [&](int, size_t row) { find_spare(corners, row, words); });
        if (round == rounds) break;
        // Whether a corner is the weakest can change where a neighbour's being spare has.
        std::vector<uint8_t> wider(height);
        widen(wider, near);
        std::fill(changed.begin(), changed.end(), 0);
        for_rows(wider, [&](int y, size_t row) {
            bool any;
            find_weakest(corners, row, words, &any);
            changed[y] = any;
        });
        if (std::find(changed.begin(), changed.end(), 1) == changed.end()) break;
        for_rows(changed, [&](int, size_t row) {
            for (int i = 0; i < words; ++i) corners.edges[row + i] &= ~corners.going[row + i];
        });
    }
    std::vector<size_t> left;
    for (size_t w = 0; w < static_cast<size_t>(height) * words; ++w)
        for_each_bit(corners.spare[w], [&](int i) { left.push_back(w * kWord + i); });
    return left;
}

}  // namespace imtorque
