// A summed-volume table of whole numbers, and the gradient torque of boxes from it.
//
// The two faces just outside a box along one axis are the box that is one voxel longer at both ends, less the box. So
// the torque needs four boxes: the box itself and one longer along each axis. Beyond the border the volume repeats its
// border voxels, so that prefix sums go on along straight lines there: S(-k) = -k S(1) and
// S(n + k) = S(n) + k (S(n) - S(n - 1)). Tables are as large as the volume, however far boxes reach. Sums wrap around,
// which is harmless where that of the box fits. Naive twin: naive_volumes.gradient_torque.
#pragma once

#include <memory>

#include "volumes/sweep.hpp"

namespace imtorque {

class GradientTables {
  public:
    using Uint = uint64_t;

    GradientTables(const int32_t* image, Grid grid, const std::vector<VolumeBox>& boxes, double unit)
        : image_(image),
          grid_(grid),
          unit_(unit),
          reach_(reach_of(boxes).z + 1),
          ring_(std::min(2 * reach_ + 2, grid.depth + 1)),
          width_(grid.width + 1),
          cells_(new Uint[slice_cells() * ring_]),
          sums_(new Uint[width_]) {
        std::fill_n(slice(0), slice_cells(), Uint{0});
    }

    size_t scratch() const { return static_cast<size_t>(width_) * 5; }

    void build_to(int z) {
        for (const int wanted = std::min(z + reach_ + 1, grid_.depth); built_ < wanted; ++built_) {
            check_interrupt();
            add_slice();
        }
    }

    void row(const VolumeBox& box, int z, int y, Uint* scratch, float* out) const {
        const int n = grid_.width;
        Uint *joined = scratch, *own = joined + width_, *longer_x = own + n, *longer_z = longer_x + n,
             *longer_y = longer_z + n;
        const Ends in_z(z, box.rz, grid_.depth), in_y(y, box.ry, grid_.height);
        join(in_z, in_y, joined);
        spans(joined, box.rx, own);
        spans(joined, box.rx + 1, longer_x);
        join(Ends(z, box.rz + 1, grid_.depth), in_y, joined);
        spans(joined, box.rx, longer_z);
        join(in_z, Ends(y, box.ry + 1, grid_.height), joined);
        spans(joined, box.rx, longer_y);
        const double sz = 2.0 * box.rz + 1, sy = 2.0 * box.ry + 1, sx = 2.0 * box.rx + 1;
        const double inside = unit_ / (sz * sy * sx), face_z = unit_ / (6 * sy * sx), face_y = unit_ / (6 * sz * sx),
                     face_x = unit_ / (6 * sz * sy);
        for (int x = 0; x < n; ++x)
            out[x] = static_cast<float>(number(own[x]) * inside - number(longer_z[x] - own[x]) * face_z -
                                        number(longer_y[x] - own[x]) * face_y - number(longer_x[x] - own[x]) * face_x);
    }

  private:
    // S(p + r + 1) - S(p - r) along an axis of n voxels, of prefix sums S(0) = 0 to S(n): at most three of them,
    // weighed.
    struct Ends {
        int at[3];
        Uint weight[3];
        int count = 0;

        Ends(int p, int r, int n) {
            const int low = p - r, beyond = p + r + 1 - n;
            if (low < 0) add(1, static_cast<Uint>(-low));
            if (low > 0) add(low, -Uint{1});
            if (beyond > 0 && n > 1) add(n - 1, -static_cast<Uint>(beyond));
            add(std::min(p + r + 1, n), 1 + static_cast<Uint>(std::max(beyond, 0)));
        }
        void add(int place, Uint factor) {
            for (int i = 0; i < count; ++i)
                if (at[i] == place) return void(weight[i] += factor);
            at[count] = place;
            weight[count++] = factor;
        }
    };

    static double number(Uint sum) { return static_cast<double>(static_cast<int64_t>(sum)); }
    size_t slice_cells() const { return static_cast<size_t>(width_) * (grid_.height + 1); }
    Uint* slice(int c) const { return cells_.get() + slice_cells() * (c % ring_); }

    void join(const Ends& in_z, const Ends& in_y, Uint* __restrict out) const {
        std::fill_n(out, width_, Uint{0});
        for (int i = 0; i < in_z.count; ++i)
            for (int j = 0; j < in_y.count; ++j) {
                const Uint* row = slice(in_z.at[i]) + static_cast<size_t>(width_) * in_y.at[j];
                const Uint weight = in_z.weight[i] * in_y.weight[j];
                for (int u = 0; u < width_; ++u) out[u] += weight * row[u];
            }
    }

    // out[x] = S(x + r + 1) - S(x - r) along a row of prefix sums.
    void spans(const Uint* row, int r, Uint* __restrict out) const {
        const int n = grid_.width, right = std::max(n - r, 0), left = std::min(r, n);
        const Uint first = row[1], last = row[n] - row[n - 1];
        for (int x = 0; x < right; ++x) out[x] = row[x + r + 1];
        for (int x = right; x < n; ++x) out[x] = row[n] + static_cast<Uint>(x + r + 1 - n) * last;
        for (int x = 0; x < left; ++x) out[x] += static_cast<Uint>(r - x) * first;
        for (int x = left; x < n; ++x) out[x] -= row[x - r];
    }

    void add_slice() {
        const Uint* above = slice(built_);
        Uint *below = slice(built_ + 1), *sums = sums_.get();
        std::fill_n(sums, width_, Uint{0});
        std::fill_n(below, width_, Uint{0});
        const int32_t* line = image_ + static_cast<size_t>(built_) * grid_.plane();
        for (int y = 0; y < grid_.height; ++y, line += grid_.width) {
            Uint run = 0;
            for (int x = 0; x < grid_.width; ++x) {
                run += static_cast<Uint>(static_cast<int64_t>(line[x]));
                sums[x + 1] += run;
            }
            above += width_;
            below += width_;
            for (int i = 0; i < width_; ++i) below[i] = above[i] + sums[i];
        }
    }

    const int32_t* image_;
    Grid grid_;
    double unit_;
    int reach_, ring_, width_, built_ = 0;
    std::unique_ptr<Uint[]> cells_, sums_;
};

}  // namespace imtorque
