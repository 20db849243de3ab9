// Summed-volume tables of a field, and the torque of boxes from them.
//
// With exclusive prefix sums K_z, K_y, K_x of the rounded field and M of q . g, a box with the corner sums S is
//     sum of (q - p) . g = S(M) - p_z S(K_z) - p_y S(K_y) - p_x S(K_x).
// Along a row p_z and p_y are constant: four corners in z and y are joined first into U = M - p_z K_z - p_y K_y and
// V = K_x, for the whole row, and a box is then two look-ups in each. All integers wrap around, which is harmless where
// the final sum fits. Naive twin: naive_volumes.torque.
#pragma once

#include <memory>

#include "core/forces.hpp"
#include "volumes/sweep.hpp"

namespace imtorque {

inline float signed_float(uint32_t sum) { return static_cast<float>(static_cast<int32_t>(sum)); }
inline float signed_float(uint64_t sum) { return static_cast<float>(static_cast<int64_t>(sum)); }

template <class Number>
class TorqueTables {
  public:
    using Uint = Number;

    TorqueTables(const VolumeField& field, const std::vector<VolumeBox>& boxes)
        : field_(field),
          reach_(reach_of(boxes)),
          pad_(std::min(reach_.x, field.grid.width)),
          ring_(std::min(2 * reach_.z + 2, field.grid.depth + 1)),
          width_(field.grid.width + 2 * pad_ + 1),
          cells_(new Uint[slice_cells() * ring_]),
          sums_(new Uint[static_cast<size_t>(width_) * 4]) {
        std::fill_n(slice(0), slice_cells(), Uint{0});
    }

    size_t scratch() const { return static_cast<size_t>(width_) * 2; }

    void build_to(int z) {
        for (const int wanted = std::min<long long>(static_cast<long long>(z) + reach_.z + 1, field_.grid.depth);
             built_ < wanted; ++built_) {
            check_interrupt();
            parallel_for(4, 2.0 * static_cast<double>(field_.grid.plane()), [&](int f) { add_slice(f); });
        }
    }

    void row(const VolumeBox& box, int z, int y, Uint* scratch, float* out) const {
        const Grid& grid = field_.grid;
        const int below = static_cast<int>(std::min<long long>(static_cast<long long>(z) + box.rz + 1, grid.depth));
        const int above = std::max(z - box.rz, 0);
        const int low = static_cast<int>(std::min<long long>(static_cast<long long>(y) + box.ry + 1, grid.height));
        const int high = std::max(y - box.ry, 0);
        const Corners c{table_row(below, low), table_row(below, high), table_row(above, low), table_row(above, high)};
        const int rx = std::min(box.rx, pad_);
        box_row<Uint>(c, static_cast<Uint>(z), static_cast<Uint>(y), width_, scratch, rx, pad_, grid.width, box.norm,
                      out);
    }

  private:
    struct Corners {
        const Uint *bl, *bh, *al, *ah;  // below or above in z, low or high in y; the four tables lie one after another
    };

    template <class U>
    static IMTORQUE_INLINE void box_row_impl(const Corners& c, U z, U y, int w, U* scratch, int rx, int pad, int count,
                                             float norm, float* __restrict out) {
        U* __restrict u = scratch;
        U* __restrict v = scratch + w;
        IMTORQUE_IVDEP
        for (int i = 0; i < w; ++i) {
            const U m = c.bl[i] - c.bh[i] - c.al[i] + c.ah[i];
            const U kz = c.bl[i + w] - c.bh[i + w] - c.al[i + w] + c.ah[i + w];
            const U ky = c.bl[i + 2 * w] - c.bh[i + 2 * w] - c.al[i + 2 * w] + c.ah[i + 2 * w];
            u[i] = m - z * kz - y * ky;
            v[i] = c.bl[i + 3 * w] - c.bh[i + 3 * w] - c.al[i + 3 * w] + c.ah[i + 3 * w];
        }
        const U *ur = u + pad + rx + 1, *ul = u + pad - rx, *vr = v + pad + rx + 1, *vl = v + pad - rx;
        IMTORQUE_IVDEP
        for (int x = 0; x < count; ++x)
            out[x] = signed_float(static_cast<U>(x) * (vr[x] - vl[x]) - (ur[x] - ul[x])) * norm;
    }
    IMTORQUE_DISPATCH(template <class U> static, box_row,
                      (const Corners& c, U z, U y, int w, U* scratch, int rx, int pad, int count, float norm,
                       float* out),
                      (c, z, y, w, scratch, rx, pad, count, norm, out))

    size_t slice_cells() const { return static_cast<size_t>(width_) * 4 * (field_.grid.height + 1); }
    Uint* slice(int c) const { return cells_.get() + slice_cells() * (c % ring_); }
    const Uint* table_row(int c, int y) const { return slice(c) + static_cast<size_t>(width_) * 4 * y; }

    Uint rounded(const float* plane, size_t at) const {
        return static_cast<Uint>(round_force(plane[at], field_.steps));
    }

    // Table f (0: M, 1 to 3: K_z, K_y, K_x) of the slice after the last one.
    void add_slice(int f) {
        const Grid& grid = field_.grid;
        const Uint* above = slice(built_) + static_cast<size_t>(f) * width_;
        Uint* below = slice(built_ + 1) + static_cast<size_t>(f) * width_;
        Uint* sums = sums_.get() + static_cast<size_t>(f) * width_;
        const float* one = f == 1 ? field_.gz : f == 2 ? field_.gy : field_.gx;
        const size_t stride = static_cast<size_t>(width_) * 4;
        std::fill_n(sums, width_, Uint{0});
        std::fill_n(below, width_, Uint{0});
        size_t at = static_cast<size_t>(built_) * grid.plane();
        for (int y = 0; y < grid.height; ++y) {
            Uint run = 0;
            for (int x = 0; x < grid.width; ++x, ++at) {
                if (f == 0)
                    run += static_cast<Uint>(built_) * rounded(field_.gz, at) +
                           static_cast<Uint>(y) * rounded(field_.gy, at) +
                           static_cast<Uint>(x) * rounded(field_.gx, at);
                else
                    run += rounded(one, at);
                sums[pad_ + 1 + x] += run;
            }
            for (int i = pad_ + 1 + grid.width; i < width_; ++i) sums[i] = sums[pad_ + grid.width];
            above += stride;
            below += stride;
            for (int i = 0; i < width_; ++i) below[i] = above[i] + sums[i];
        }
    }

    VolumeField field_;
    Reach reach_;
    int pad_, ring_, width_, built_ = 0;
    std::unique_ptr<Uint[]> cells_, sums_;
};

}  // namespace imtorque
