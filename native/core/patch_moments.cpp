// The sums of (q - p)_i F_j over the box around every pixel, all four in one pass.
//
// There is one size, so no table is kept: for either component of the force, C and D are the sums of F and of
// 2 (y_q - y_p) F over the box's rows of each column, and move on by a row that enters and one that leaves. Along a
// row, P, G and S are the sums over the columns u left of a corner n of C, of (2u - 2n + 1) C, twice the distance to
// the corner, and of D. The centre of a box of width sx lies sx / 2 off its right (h) and its left corner (l), so twice
// its moments are
//     G(h) - G(l) + sx [P(h) + P(l)]   and   S(h) - S(l).
// Integers wrap around as in box_tables.hpp, and the same bound says which width holds the sums: |dx F| <= lever *
// mass. Naive twin: naive.patch_moments.
#include "core/patch_moments.hpp"

#include <algorithm>
#include <memory>

#include "core/parallel.hpp"

namespace imtorque {
namespace {

constexpr double kTime = 4;  // nanoseconds per pixel, about

template <class Number>
class MovingSums {
  public:
    using Uint = typename Number::Uint;

    MovingSums(const Field& field, const Patch& patch, const Tile& tile)
        : field_(field),
          patch_(patch),
          tile_(tile),
          width_(odd_table_width(tile)),
          columns_(new Uint[static_cast<size_t>(width_) * 4]()),
          sums_(new Uint[static_cast<size_t>(width_) * 3]),
          forces_(new float[static_cast<size_t>(width_) * 2]()),
          none_(new float[width_]()) {
        // The rows above the first enter one by one; none of them leaves before the box has moved.
        for (int y = tile.top - 2 * patch.ry; y < tile.top; ++y) {
            poll_();
            for (int force = 0; force < 2; ++force) move_to<false>(y, force);
        }
    }

    // The moments of the boxes around row y, which follows the last: four rows, `plane` apart.
    IMTORQUE_INLINE void next_row(int y, float* out, size_t plane) {
        poll_();
        for (int force = 0; force < 2; ++force) {  // x, then y
            move_to<true>(y, force);
            write(out + force * plane, out + (2 + force) * plane);
        }
    }

  private:
    // A row of forces with zeros around it; of a row outside the image or before the first, zeros.
    const float* forces(int y, int force, int first, float* buffer) const {
        if (y < first || y < 0 || y >= field_.height) return none_.get();
        const int left = tile_.left - tile_.reach_x;
        const int from = std::max(0, left), to = std::min(field_.width, tile_.right + tile_.reach_x);
        const float* row = (force == 0 ? field_.fx : field_.fy) + static_cast<size_t>(y) * field_.width;
        std::copy(row + from, row + to, buffer + from - left);
        return buffer;
    }

    // kSums: whether P, G and S are wanted.
    template <bool kSums>
    IMTORQUE_INLINE void move_to(int y, int force) {
        const int first = tile_.top - patch_.ry;
        const float* in = forces(y + patch_.ry, force, first, forces_.get());
        const float* out = forces(y - patch_.ry - 1, force, first, forces_.get() + width_);
        if (field_.fine)
            sum_row<true, kSums>(in, out, columns_.get() + 2 * force * width_);
        else
            sum_row<false, kSums>(in, out, columns_.get() + 2 * force * width_);
    }

    template <bool kFine, bool kSums>
    IMTORQUE_INLINE void sum_row(const float* in, const float* out, Uint* columns) {
        const int w = width_;
        const float steps = static_cast<float>(field_.steps);
        const Uint enters = 2 * static_cast<Uint>(patch_.ry);
        Uint* __restrict sums = sums_.get();
        Lanes<Uint> p = {}, g = {}, s = {}, c, d;
        for (int n = 0; n < w; n += kLanes) {
            const Lanes<Uint> more = rounded<Uint, kFine>(in + n, steps), less = rounded<Uint, kFine>(out + n, steps);
            load(columns + n, c);
            load(columns + n + w, d);
            d += enters * (more + less) + less + less - c - c;  // what leaves has a lever longer by 2
            c += more - less;
            store<Uint>(c, columns + n);
            store<Uint>(d, columns + n + w);
            if (!kSums) continue;
            const Lanes<Uint> run_c = running<Uint>(c), before = p + run_c - c;
            const Lanes<Uint> step = before + before + c, run_step = running<Uint>(step);
            const Lanes<Uint> run_d = running<Uint>(d);
            store<Uint>(before, sums + n);
            store<Uint>(g - (run_step - step), sums + n + w);
            store<Uint>(s + run_d - d, sums + n + 2 * w);
            p += last<Uint>(run_c);
            g -= last<Uint>(run_step);
            s += last<Uint>(run_d);
        }
    }

    IMTORQUE_INLINE void write(float* __restrict out_x, float* __restrict out_y) const {
        const int w = width_, count = tile_.right - tile_.left;
        const Uint* l = sums_.get() + tile_.reach_x - patch_.rx;
        const Uint* h = l + 2 * patch_.rx + 1;
        const Uint sx = static_cast<Uint>(2 * patch_.rx + 1);
        const float norm = patch_.norm;
        IMTORQUE_IVDEP
        for (int i = 0; i < count; ++i) {
            out_x[i] = Number::to_float(h[i + w] - l[i + w] + sx * (h[i] + l[i])) * norm;
            out_y[i] = Number::to_float(h[i + 2 * w] - l[i + 2 * w]) * norm;
        }
    }

    Field field_;
    Patch patch_;
    Tile tile_;
    int width_;
    Poll poll_{16};
    std::unique_ptr<Uint[]> columns_;         // C and D of Fx, then of Fy
    std::unique_ptr<Uint[]> sums_;            // P, G and S of the current row
    std::unique_ptr<float[]> forces_, none_;  // the rows that enter and leave; zeros
};

struct Job {
    Field field;
    Patch patch;
    float* moments;
};

template <class Number>
IMTORQUE_INLINE void run_tile_impl(Number, const Job& job, const Tile& tile) {
    MovingSums<Number> sums(job.field, job.patch, tile);
    const size_t plane = static_cast<size_t>(job.field.height) * job.field.width;
    for (int y = tile.top; y < tile.bottom; ++y)
        sums.next_row(y, job.moments + static_cast<size_t>(y) * job.field.width + tile.left, plane);
}
IMTORQUE_DISPATCH(template <class Number> static, run_tile, (Number number, const Job& job, const Tile& tile),
                  (number, job, tile))

// Strips whose sums fit the first-level cache, but wide beside what they share with their neighbours; and bands of rows
// where there are more threads.
template <class Number>
void run(Number number, const Job& job) {
    constexpr int kColumns = 960, kRows = 64;
    const int height = job.field.height, width = job.field.width, ry = job.patch.ry, rx = job.patch.rx;
    const double work = kTime * height * width;
    const int columns = std::max(kColumns, 4 * rx), strips = (width + columns - 1) / columns;
    const int threads = useful_threads(work), wanted = threads > 1 ? (2 * threads + strips - 1) / strips : 1;
    const int bands = std::max(1, std::min(wanted, height / std::max(kRows, 4 * ry)));
    const auto cut = [](int length, int i, int n) { return static_cast<int>(static_cast<long long>(length) * i / n); };
    parallel_for(strips * bands, work / (strips * bands), [&](int i) {
        const int s = i % strips, b = i / strips;
        run_tile(number, job,
                 Tile{cut(height, b, bands), cut(height, b + 1, bands), cut(width, s, strips),
                      cut(width, s + 1, strips), ry, rx});
    });
}

}  // namespace

void patch_moments(const Field& field, const Patch& patch, float* moments) {
    const Job job{field, patch, moments};
    const Width width = width_of_sums(field, patch);
    if (width == Width::bits32)
        run(Narrow{}, job);
    else if (width == Width::bits64)
        run(Wide{}, job);
    else
        run(WideLong{}, job);
}

}  // namespace imtorque
