#include "edges/candidates.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/parallel.hpp"

namespace imtorque {

Candidates::Candidates(int height, int width, int band_rows)
    : height_(height),
      width_(width),
      band_rows_(band_rows),
      bits_(height, width),
      right_(height, width),
      below_(height, width),
      bands_((height + band_rows - 1) / band_rows) {
    constexpr size_t kUsual = 5;  // pixels of a photograph for one maximum: lists then do not have to grow
    for (Band& band : bands_) {
        band.gx.reserve(static_cast<size_t>(band_rows) * width / kUsual);
        band.gy.reserve(static_cast<size_t>(band_rows) * width / kUsual);
    }
}

int Candidates::bottom(int band) const { return std::min(top(band + 1), height_); }

void Candidates::add_row(int y, const float* gx, const float* gy) {
    Band& band = bands_[y / band_rows_];
    const uint64_t* marked = bits_.row(y);
    size_t next = band.gx.size(), count = 0;
    for (int w = 0; w < bits_.words(); ++w) count += static_cast<size_t>(__builtin_popcountll(marked[w]));
    band.gx.resize(next + count);
    band.gy.resize(next + count);
    for (int w = 0; w < bits_.words(); ++w)
        for_each_bit(marked[w], [&](int i) {
            band.gx[next] = gx[w * kWord + i];
            band.gy[next++] = gy[w * kWord + i];
        });
}

std::pair<BitPlane, BitPlane> Candidates::above(float low, float high) const {
    std::pair<BitPlane, BitPlane> kept{{height_, width_}, {height_, width_}};
    parallel_for(bands(), 1.0 * band_rows_ * width_, [&](int b) {
        const Band& band = bands_[b];
        std::vector<float> magnitude(band.gx.size());
        float ignored;
        gradient_magnitudes(band.gx.data(), band.gy.data(), static_cast<int>(band.gx.size()), magnitude.data(),
                            &ignored);
        const float* next = magnitude.data();
        const size_t words = bits_.words();
        for (size_t w = top(b) * words; w < bottom(b) * words; ++w) {
            uint64_t weak = 0, strong = 0;
            for_each_bit(bits_.data()[w], [&](int i) {
                weak |= static_cast<uint64_t>(*next > low) << i;
                strong |= static_cast<uint64_t>(*next++ > high) << i;
            });
            kept.first.data()[w] = weak;
            kept.second.data()[w] = strong;
        }
    });
    return kept;
}

void Candidates::turn(const Shaping& shaping) {
    parallel_for(bands(), 0.3 * band_rows_ * width_, [&](int b) {
        Band& band = bands_[b];
        for (float& x : band.gx) x = -x;
        std::swap(band.gx, band.gy);
        if (shaping.simple() && shaping.scale >= 0)
            shape_forces(band.gx.data(), band.gy.data(), static_cast<long long>(band.gx.size()), shaping);
    });
}

namespace {

// Write the vectors of a row's kept candidates and note their places, which rise; returns how many. gx and gy are the
// lists of all candidates of the row, so a kept one is found by counting those before it.
IMTORQUE_INLINE void place_row_impl(const uint64_t* marked, const uint64_t* kept, int words, const float* gx,
                                    const float* gy, float* across, float* down, int* places, int* found) {
    int before = 0, count = 0;
    for (int w = 0; w < words; ++w) {
        for (uint64_t left = kept[w]; left; left &= left - 1) {
            const int i = __builtin_ctzll(left), x = w * kWord + i;
            const int next = before + __builtin_popcountll(marked[w] & ((uint64_t{1} << i) - 1));
            across[x] = gx[next];
            down[x] = gy[next];
            places[count] = x;
            count += gx[next] != 0 || gy[next] != 0;  // a weak vector may have become 0
        }
        before += __builtin_popcountll(marked[w]);
    }
    found[0] = count;
    found[1] = before;
}
IMTORQUE_DISPATCH(static, place_row,
                  (const uint64_t* marked, const uint64_t* kept, int words, const float* gx, const float* gy,
                   float* across, float* down, int* places, int* found),
                  (marked, kept, words, gx, gy, across, down, places, found))

// Shape the vectors at these places of a row; returns how many of them are not 0 then, whose places come first.
int shape_row(const Shaping& shaping, float* across, float* down, int* places, int count) {
    int left = 0;
    for (int i = 0; i < count; ++i) {
        const int x = places[i];
        shape_force(across[x], down[x], shaping);
        places[left] = x;
        left += across[x] != 0 || down[x] != 0;
    }
    return left;
}

}  // namespace

ForceStatistics Candidates::spread(const BitPlane& kept, const Shaping& shaping, float* x, float* y) const {
    std::vector<StatisticsPart> parts(bands());
    std::vector<double> blocks = empty_blocks(height_, width_);
    parallel_for(bands(), 1.0 * band_rows_ * width_, [&](int b) {
        const float *gx = bands_[b].gx.data(), *gy = bands_[b].gy.data();
        RowStatistics rows(height_, width_, blocks.data(), parts[b]);
        std::vector<int> places(width_);
        for (int v = top(b); v < bottom(b); ++v) {
            float *across = x + static_cast<size_t>(v) * width_, *down = y + static_cast<size_t>(v) * width_;
            std::fill_n(across, width_, 0.0f);
            std::fill_n(down, width_, 0.0f);
            int found[2];
            place_row(bits_.row(v), kept.row(v), bits_.words(), gx, gy, across, down, places.data(), found);
            if (!shaping.simple()) found[0] = shape_row(shaping, across, down, places.data(), found[0]);
            rows.add(v, across, down, places.data(), found[0]);
            gx += found[1];
            gy += found[1];
        }
    });
    return merged(parts, std::move(blocks), height_, width_);
}

namespace {

// Rows of a band, from the pixels to the candidates.
class BandSearch {
  public:
    BandSearch(int height, int width, const Search& search, std::atomic<float>& largest, Candidates& candidates)
        : height_(height), width_(width), search_(search), largest_(largest), candidates_(candidates) {}

    void run(GradientRows& rows, int top, int bottom) {
        const int from = std::max(top - 1, 0), to = std::min(bottom + 1, height_);
        rows.run(from, to, [&](int y, const float* gx, const float* gy) {
            take(y, y >= top && y < bottom, gx, gy);
            if (y - 1 >= std::max(top, 1)) thin(y - 1);
            before_x_ = gx;
            before_y_ = gy;
        });
    }
    MagnitudeCounts counts;

  private:
    void take(int y, bool own, const float* gx, const float* gy) {
        float* row = strength_.row(y % 3);
        float top;
        gradient_magnitudes(gx, gy, width_, row, &top);
        for (float seen = largest_; top > seen && !largest_.compare_exchange_weak(seen, top);) {
        }
        if (!own) return;
        if (search_.automatic) counts.add(row, width_);
        if (search_.magnitudes) std::copy_n(row, width_, search_.magnitudes + static_cast<size_t>(y) * width_);
    }

    void thin(int y) {
        const float* row = strength_.row(y % 3);
        const float low = search_.automatic ? least_low(largest_) : search_.low;
        mark_maxima({strength_.row((y + 2) % 3), row, strength_.row((y + 1) % 3), before_x_, before_y_, row}, width_,
                    low, candidates_.marks(y));
        candidates_.add_row(y, before_x_, before_y_);
    }

    int height_, width_;
    const Search& search_;
    std::atomic<float>& largest_;
    Candidates& candidates_;
    RowBuffer strength_{3, width_};
    const float *before_x_ = nullptr, *before_y_ = nullptr;
};

// The statistics of a band are taken in blocks of rows.
int whole_blocks(int rows) { return (rows + kMassBlock - 1) / kMassBlock * kMassBlock; }

}  // namespace

Maxima find_maxima(const float* image, int height, int width, double sigma, const Search& search) {
    constexpr double kNanoseconds = 4;  // of a pixel
    constexpr int kLeastRows = 64;      // a band smooths some rows that its neighbours smooth too
    const int threads = useful_threads(kNanoseconds * height * width);
    const int band_rows = threads == 1 ? height : whole_blocks(std::max(kLeastRows, height / (4 * threads)));
    const std::vector<float> kernel = gaussian(sigma);
    Maxima found{Candidates(height, width, band_rows), 0, {}};
    std::atomic<float> largest{0.0f};
    std::vector<MagnitudeCounts> counts(found.candidates.bands());
    parallel_for(found.candidates.bands(), kNanoseconds * band_rows * width, [&](int band) {
        GradientRows rows(image, height, width, kernel);
        BandSearch part(height, width, search, largest, found.candidates);
        part.run(rows, found.candidates.top(band), found.candidates.bottom(band));
        counts[band] = std::move(part.counts);
    });
    found.largest = largest;
    for (const MagnitudeCounts& part : counts) found.counts.add(part);
    return found;
}

}  // namespace imtorque
