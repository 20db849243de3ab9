// Closure of rectangles: how much more edges run along ellipses of the rectangle's proportions than across them.
//
// With f = height / width the ellipse that fills a rectangle is a circle in the coordinates (f^(1/2) dx, f^(-1/2) dy),
// and
//     E = sum (dx Fy - dy Fx)^2 - sum (f dx Fx + dy Fy / f)^2
//       = sum dx^2 Fy^2 + sum dy^2 Fx^2 - 4 sum dx dy Fx Fy - f^2 sum dx^2 Fx^2 - sum dy^2 Fy^2 / f^2,
// which for f = 1 is the closure of squares. f is any ratio, so each of the five sums is made for itself, exactly, from
// fourteen tables: of Fx^2 and Fy^2 times 1, i, j, i^2, j^2 and of Fx Fy times 1, i, j, i j, with i and j twice the
// distances to a cell's corner as in free_tables.hpp. Then they are converted to double and combined.
// Naive twin: naive.closure_volume.
#pragma once

#include "core/free_tables.hpp"

namespace imtorque {

template <class Number>
class EllipseTables;

template <class Number>
struct Elliptic : Number {  // the same numbers in tables of rectangles
    template <int>
    using Tables = EllipseTables<Number>;
};

// Four times the sums over a patch of dx^2 Fy^2, dy^2 Fx^2, dx dy Fx Fy, dx^2 Fx^2 and dy^2 Fy^2.
template <class Uint>
struct SecondSums {
    Uint xx_yy, yy_xx, xy_xy, xx_xx, yy_yy;
};

template <class Number>
IMTORQUE_INLINE double ellipse_closure(const SecondSums<typename Number::Uint>& s, double aspect) {
    if (aspect == 1) return Number::to_double(s.xx_yy + s.yy_xx - 4 * s.xy_xy - s.xx_xx - s.yy_yy);
    const double f = aspect * aspect;
    const double across = Number::to_double(s.xx_yy) + Number::to_double(s.yy_xx) - 4 * Number::to_double(s.xy_xy);
    return across - (f * Number::to_double(s.xx_xx) + Number::to_double(s.yy_yy) / f);
}

template <class Number>
class EllipseTables {
  public:
    using Uint = typename Number::Uint;
    static constexpr bool kSelects = false, kSkewed = false;
    static constexpr int kTables = 14;
    static constexpr size_t kCellBytes = kTables * sizeof(Uint);

    EllipseTables(const Field& field, const Tile& tile, int rows)
        : field_(field),
          tile_(tile),
          ring_(2 * tile.reach_y + 1 + rows),
          width_(odd_table_width(tile)),
          built_(0),
          cells_(new Uint[static_cast<size_t>(width_) * kTables * ring_]) {
        std::fill_n(row(0), static_cast<size_t>(width_) * kTables, Uint{0});
    }

    int width() const { return width_; }

    // Closure of `patch` at (y, tile.left + x), ..., count pixels.
    IMTORQUE_INLINE void torque_row(const Patch& patch, int y, int x, int count, float* __restrict out) const {
        const int v = y - tile_.top + tile_.reach_y;
        const int h = tile_.reach_x + patch.rx + 1 + x, l = tile_.reach_x - patch.rx + x;
        const Uint *a = row(v + patch.ry + 1), *b = row(v - patch.ry);
        const Box box{
            a + h, a + l, b + h, b + l, static_cast<Uint>(2 * patch.rx + 1), static_cast<Uint>(2 * patch.ry + 1)};
        const double factor = closure_factor(field_, patch), aspect = patch.aspect;
        for (int i = 0; i < count; ++i) {
            const SecondSums<Uint> sums{square_x(box, kOfY, i), square_y(box, kOfX, i), product(box, i),
                                        square_x(box, kOfX, i), square_y(box, kOfY, i)};
            out[i] = static_cast<float>(ellipse_closure<Number>(sums, aspect) * factor);
        }
    }

    IMTORQUE_INLINE void build_to(int bottom) {
        for (const int rows = bottom - tile_.top + 2 * tile_.reach_y; built_ < rows; ++built_) {
            poll_();
            add_row(tile_.top - tile_.reach_y + built_);
        }
    }

  private:
    // Of Fx^2: 1, i, j, i^2, j^2; of Fy^2 likewise; of Fx Fy: 1, i, j, i j.
    static constexpr int kOfX = 0, kOfY = 5, kOfXY = 10;

    struct Box {
        const Uint *ah, *al, *bh, *bl;
        Uint sx, sy;
    };

    Uint* row(int v) const { return cells_.get() + static_cast<size_t>(width_) * kTables * (v % ring_); }

    // Sums over the box of a product of forces times (i + sx)^2 at the right corners, (i - sx)^2 at the left ones.
    IMTORQUE_INLINE Uint square_x(const Box& c, int of, int i) const {
        const int none = i + of * width_, first = none + width_, second = none + 3 * width_;
        return c.ah[second] - c.al[second] - c.bh[second] + c.bl[second] +
               2 * c.sx * (c.ah[first] + c.al[first] - c.bh[first] - c.bl[first]) +
               c.sx * c.sx * (c.ah[none] - c.al[none] - c.bh[none] + c.bl[none]);
    }
    IMTORQUE_INLINE Uint square_y(const Box& c, int of, int i) const {
        const int none = i + of * width_, first = none + 2 * width_, second = none + 4 * width_;
        return c.ah[second] - c.al[second] - c.bh[second] + c.bl[second] +
               2 * c.sy * (c.ah[first] - c.al[first] + c.bh[first] - c.bl[first]) +
               c.sy * c.sy * (c.ah[none] - c.al[none] - c.bh[none] + c.bl[none]);
    }
    IMTORQUE_INLINE Uint product(const Box& c, int i) const {
        const int none = i + kOfXY * width_, x = none + width_, y = x + width_, xy = y + width_;
        return c.ah[xy] - c.al[xy] - c.bh[xy] + c.bl[xy] + c.sx * (c.ah[y] + c.al[y] - c.bh[y] - c.bl[y]) +
               c.sy * (c.ah[x] - c.al[x] + c.bh[x] - c.bl[x]) +
               c.sx * c.sy * (c.ah[none] + c.al[none] + c.bh[none] + c.bl[none]);
    }

    struct Pixel {
        Uint xx, yy, xy;
    };
    IMTORQUE_INLINE Pixel pixel(int y, int n) const {
        const int x = tile_.left - tile_.reach_x + n;
        if (y < 0 || y >= field_.height || x < 0 || x >= field_.width) return {0, 0, 0};
        const size_t at = static_cast<size_t>(y) * field_.width + x;
        const float steps = static_cast<float>(field_.steps);
        const Uint fx = static_cast<Uint>(round_force(field_.fx[at], steps)),
                   fy = static_cast<Uint>(round_force(field_.fy[at], steps));
        return {fx * fx, fy * fy, fx * fy};
    }

    // From cell to cell and from row to row the levers fall by 2; they are -1 for what is added.
    IMTORQUE_INLINE void add_row(int y) {
        const int w = width_;
        const Uint* above = row(built_);
        Uint* below = row(built_ + 1);
        RowSums<Uint> of_x, of_y, of_xy;
        for (int n = 0; n < w; ++n) {
            put_square(of_x, above + kOfX * w + n, below + kOfX * w + n);
            put_square(of_y, above + kOfY * w + n, below + kOfY * w + n);
            put_product(of_xy, above + kOfXY * w + n, below + kOfXY * w + n);
            const Pixel p = pixel(y, n);
            of_x.step({p.xx, 0});
            of_y.step({p.yy, 0});
            of_xy.step({p.xy, 0});
        }
    }
    IMTORQUE_INLINE void put_square(const RowSums<Uint>& sum, const Uint* above, Uint* below) const {
        const int w = width_;
        below[0] = above[0] + sum.b;
        below[w] = above[w] + sum.ib;
        below[2 * w] = above[2 * w] - 2 * above[0] - sum.b;
        below[3 * w] = above[3 * w] + sum.iib;
        below[4 * w] = above[4 * w] - 4 * (above[2 * w] - above[0]) + sum.b;
    }
    IMTORQUE_INLINE void put_product(const RowSums<Uint>& sum, const Uint* above, Uint* below) const {
        const int w = width_;
        below[0] = above[0] + sum.b;
        below[w] = above[w] + sum.ib;
        below[2 * w] = above[2 * w] - 2 * above[0] - sum.b;
        below[3 * w] = above[3 * w] - 2 * above[w] - sum.ib;
    }

    Field field_;
    Tile tile_;
    int ring_, width_, built_;
    Poll poll_{16};
    std::unique_ptr<Uint[]> cells_;  // the ring of rows
};

// Call work with the numbers, and so with the tables, that hold the closure of all patches.
template <class Work>
void with_width_of_closure(const Field& field, const std::vector<Patch>& patches, const Work& work) {
    bool squares = true;
    for (const Patch& patch : patches) squares = squares && patch.aspect == 1;
    const ClosureWidth width = width_of_closure(field, patches);
    if (width == ClosureWidth::quick)
        squares ? work(FreeWide{}) : work(Elliptic<FreeWide>{});
    else if (width == ClosureWidth::bits64)
        squares ? work(FreeLong{}) : work(Elliptic<FreeLong>{});
    else
        squares ? work(FreeHuge{}) : work(Elliptic<FreeHuge>{});
}

}  // namespace imtorque
