// Sums of the mass of forces, |Fx| + |Fy|, and of |Fx| alone, over rows of a tile: what bounds rest on.
//
// Prefix sums at every row, but at every fourth column only: near enough for a bound, and a quarter of a table each.
// Those of every eighth column lie side by side, so that the sums of eight neighbouring cells of pixels, kLanes columns
// each, are one load.
#pragma once

#include <algorithm>
#include <memory>

#include "core/box_tables.hpp"

namespace imtorque {

template <class Uint>
class MassRows {
  public:
    // `rows` is how many image rows are worked on together.
    MassRows(const Field& field, const Tile& tile, int rows)
        : field_(field),
          left_(tile.left - whole_vectors(tile.reach_x)),
          margin_(whole_vectors(tile.reach_x)),
          groups_((whole_vectors(tile.right - tile.left) + 2 * margin_) / kLanes),
          stride_(whole_vectors(groups_ + 1) + kLanes),
          reach_(tile.reach_y),
          first_(std::max(0, tile.top - tile.reach_y)),
          built_(first_),
          turn_(first_),
          ring_(2 * tile.reach_y + rows + 2),
          cells_(new Uint[kPlanes * stride_ * (static_cast<size_t>(ring_) + 1)]),
          sums_(cells_.get() + kPlanes * stride_ * ring_) {
        std::fill_n(cells(first_), kPlanes * stride_, Uint{0});
        std::fill_n(sums_, kPlanes * stride_, Uint{0});
    }

    // Sums over the rows above an image row and over the columns that patches of half the side r around the pixels of a
    // cell touch, or a few more: of eight cells, from cell j of the tile on.
    struct Spans {
        const Uint *left, *right;
        IMTORQUE_INLINE Lanes<Uint> at(ptrdiff_t j) const {
            Lanes<Uint> l, r;
            load(left + j, l);
            load(right + j, r);
            return r - l;
        }
    };
    enum Kind { kMass = 0, kAcross = 2 };  // |Fx| + |Fy|, |Fx|: the first of two planes
    IMTORQUE_INLINE Spans spans(Kind kind, int y, int r) const {
        const int l = (margin_ - r) / kStep, h = (margin_ + kLanes + r + kStep - 1) / kStep;
        const Uint* row = cells(std::max(first_, std::min(y, field_.height)));
        const auto plane = [&](int cell) { return row + (kind + cell % 2) * stride_ + cell / 2; };
        return {plane(l), plane(h)};
    }

    // Make the sums for image rows up to (not including) `bottom` and their reach.
    IMTORQUE_INLINE void build_to(int bottom) {
        for (const int last = std::min(bottom + reach_, field_.height); built_ < last; ++built_) {
            if (built_ + 1 == turn_ + ring_) turn_ += ring_;
            if (field_.fine)
                add_row<true>(built_);
            else
                add_row<false>(built_);
        }
    }

  private:
    static constexpr int kPlanes = 4;  // mass at even and at odd cells, |Fx| likewise
    static constexpr int kStep = 4;    // columns

    // Row y is one of the last that were made, or the next.
    Uint* cells(int y) const { return cells_.get() + kPlanes * stride_ * (y - turn_ + (y < turn_ ? ring_ : 0)); }

    template <bool kFine>
    IMTORQUE_INLINE void add_row(int y) {
        const float steps = static_cast<float>(field_.steps);
        const float *fx = field_.fx + static_cast<size_t>(y) * field_.width,
                    *fy = field_.fy + static_cast<size_t>(y) * field_.width;
        const Uint* above = cells(y);
        Uint *below = cells(y + 1), sums[2] = {0, 0};
        for (int n = 0; n < groups_; ++n) {
            for (int k = 0; k < 2; ++k) sums_[2 * k * stride_ + n] = sums[k];
            const EightForces forces(fx, fy, left_ + n * kLanes, field_.width);
            const Lanes<Uint> across = magnitude<Uint>(rounded<Uint, kFine>(forces.fx, steps)),
                              mass = across + magnitude<Uint>(rounded<Uint, kFine>(forces.fy, steps));
            // Pairs of both, then fours.
            Lanes<Uint> fours = pick<Uint, 0, 2, 4, 6, 8, 10, 12, 14>(mass, across) +
                                pick<Uint, 1, 3, 5, 7, 9, 11, 13, 15>(mass, across);
            fours += pick<Uint, 1, 0, 3, 2, 5, 4, 7, 6>(fours, fours);
            Uint own[kLanes];
            store<Uint>(fours, own);
            for (int k = 0; k < 2; ++k) {
                const Uint half = sums[k] + own[4 * k];
                sums_[(2 * k + 1) * stride_ + n] = half;
                sums[k] = half + own[4 * k + 2];
            }
        }
        for (int k = 0; k < 2; ++k) {
            sums_[2 * k * stride_ + groups_] = sums[k];
            sums_[(2 * k + 1) * stride_ + groups_] = sums[k];
        }
        const ptrdiff_t count = kPlanes * stride_;
        IMTORQUE_IVDEP
        for (ptrdiff_t i = 0; i < count; ++i) below[i] = above[i] + sums_[i];
    }

    Field field_;
    int left_, margin_, groups_;  // the first column, those before the tile, and how many eights of columns
    ptrdiff_t stride_;
    int reach_;
    int first_, built_, turn_, ring_;  // rows: the first, the next, the one that lies first in the ring, and its length
    std::unique_ptr<Uint[]> cells_;
    Uint* sums_;  // of the current row
};

}  // namespace imtorque
