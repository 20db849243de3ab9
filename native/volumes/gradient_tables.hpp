// A summed-volume table of whole numbers, and the gradient torque of boxes from it.
//
// The two faces just outside a box along one axis are the box that is one voxel longer at both ends, less the box. So
// the torque needs four boxes: the box itself and one longer along each axis. The volume repeats its border voxels as
// far as boxes reach. Naive twin: naive_volumes.gradient_torque.
#pragma once

#include <memory>

#include "volumes/sweep.hpp"

namespace imtorque {

class GradientTables {
  public:
    using Uint = int64_t;

    GradientTables(const int32_t* image, Grid grid, const std::vector<VolumeBox>& boxes, double unit)
        : image_(image), grid_(grid), reach_(reach_of(boxes)), unit_(unit) {
        reach_ = {reach_.z + 1, reach_.y + 1, reach_.x + 1};
        ring_ = 2 * reach_.z + 2;
        width_ = grid.width + 2 * reach_.x + 1;
        rows_ = grid.height + 2 * reach_.y + 1;
        cells_.reset(new int64_t[slice_cells() * ring_]);
        sums_.reset(new int64_t[width_]);
        std::fill_n(slice(0), slice_cells(), 0);
    }

    size_t scratch() const { return static_cast<size_t>(width_) * 3; }

    void build_to(int z) {
        for (const int wanted = z + 2 * reach_.z + 1; built_ < wanted; ++built_) add_slice();
    }

    void row(const VolumeBox& box, int z, int y, int64_t* scratch, float* out) const {
        const int cz = z + reach_.z, cy = y + reach_.y;  // in the table, which is longer by the reach
        int64_t *own = scratch, *longer_z = own + width_, *longer_y = longer_z + width_;
        join(cz - box.rz, cz + box.rz + 1, cy - box.ry, cy + box.ry + 1, own);
        join(cz - box.rz - 1, cz + box.rz + 2, cy - box.ry, cy + box.ry + 1, longer_z);
        join(cz - box.rz, cz + box.rz + 1, cy - box.ry - 1, cy + box.ry + 2, longer_y);
        const double sz = 2.0 * box.rz + 1, sy = 2.0 * box.ry + 1, sx = 2.0 * box.rx + 1;
        const double inside = unit_ / (sz * sy * sx), face_z = unit_ / (6 * sy * sx), face_y = unit_ / (6 * sz * sx),
                     face_x = unit_ / (6 * sz * sy);
        for (int x = 0; x < grid_.width; ++x) {
            const int l = x + reach_.x - box.rx, r = x + reach_.x + box.rx + 1;
            const int64_t whole = own[r] - own[l];
            const int64_t faces_z = longer_z[r] - longer_z[l] - whole, faces_y = longer_y[r] - longer_y[l] - whole,
                          faces_x = own[r + 1] - own[l - 1] - whole;
            out[x] = static_cast<float>(static_cast<double>(whole) * inside - static_cast<double>(faces_z) * face_z -
                                        static_cast<double>(faces_y) * face_y - static_cast<double>(faces_x) * face_x);
        }
    }

  private:
    size_t slice_cells() const { return static_cast<size_t>(width_) * rows_; }
    int64_t* slice(int c) const { return cells_.get() + slice_cells() * (c % ring_); }
    const int64_t* table_row(int c, int y) const { return slice(c) + static_cast<size_t>(width_) * y; }

    void join(int above, int below, int high, int low, int64_t* __restrict out) const {
        const int64_t *bl = table_row(below, low), *bh = table_row(below, high), *al = table_row(above, low),
                      *ah = table_row(above, high);
        for (int i = 0; i < width_; ++i) out[i] = bl[i] - bh[i] - al[i] + ah[i];
    }

    void add_slice() {
        const int64_t* above = slice(built_);
        int64_t *below = slice(built_ + 1), *sums = sums_.get();
        std::fill_n(sums, width_, 0);
        std::fill_n(below, width_, 0);
        const int z = std::clamp(built_ - reach_.z, 0, grid_.depth - 1);
        for (int v = 0; v + 1 < rows_; ++v) {
            const int y = std::clamp(v - reach_.y, 0, grid_.height - 1);
            const int32_t* line =
                image_ + static_cast<size_t>(z) * grid_.plane() + static_cast<size_t>(y) * grid_.width;
            int64_t run = 0;
            for (int u = 0; u + 1 < width_; ++u) {
                run += line[std::clamp(u - reach_.x, 0, grid_.width - 1)];
                sums[u + 1] += run;
            }
            above += width_;
            below += width_;
            for (int i = 0; i < width_; ++i) below[i] = above[i] + sums[i];
        }
    }

    const int32_t* image_;
    Grid grid_;
    Reach reach_;
    double unit_;
    int ring_ = 0, width_ = 0, rows_ = 0, built_ = 0;
    std::unique_ptr<int64_t[]> cells_, sums_;
};

}  // namespace imtorque
