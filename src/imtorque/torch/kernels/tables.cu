// Summed-area tables of a part of the image in the shared memory of a block, for squares.
//
// The tables and formulas are those of native/core/box_tables.hpp: integers that wrap around, so that a table may start
// anywhere. They are made from the forces where they are used: no table is ever written to global memory. A warp sums
// along a row, then a thread sums along a column.
//
// Set by the host: TX (threads in a row), GY (groups of J rows), REACH (the largest half-size the tables serve); where
// they are not the usual ones: J (rows of pixels of a thread), C (columns of them), PARTS (threads for each of them),
// MIRROR (first rows of the ring that are there again after its last), PAD (cells after each row, against bank conflicts).
#ifndef J
#define J 4
#endif
#ifndef C
#define C 1
#endif
#ifndef PAD
#define PAD 0
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef MIRROR
#define MIRROR 0
#endif
#define STEP (GY * J)
#define CELLS ((TX + J - 1 + 2 * REACH + 1 + 31) / 32)  // columns per lane of a warp that sums a row
#define W (32 * CELLS)
#define ROW (3 * W + PAD)  // D1 | D2 | Q
// Of column n: what threads C columns apart read lies side by side.
#define PLACE(n) ((int)((u32)(n) % C * (W / C) + (u32)(n) / C))
#define RING (STEP + 2 * REACH + 1)
#define ACROSS (TX / C)
#define THREADS (ACROSS * GY * PARTS)
#define WARPS (THREADS / 32)
#define ROWS_PER_WARP ((STEP + WARPS - 1) / WARPS)
#define MOST_SIZES 64

typedef unsigned int u32;

struct Squares {
    int count;
    int half[MOST_SIZES];
    int label[MOST_SIZES];
    double area[MOST_SIZES];
};

struct Image {
    const float* forces;  // (B, 2, H, W)
    const float* steps;   // of image b at b * stride
    int height, width, stride;
};

__device__ __forceinline__ u32 warp_scan(u32 sum, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const u32 other = __shfl_up_sync(0xFFFFFFFFu, sum, d);
        if (lane >= d) sum += other;
    }
    return sum;
}

struct RowForces {
    float x[CELLS], y[CELLS];
};

__device__ __forceinline__ void load_row(const Image& image, const float* fx, const float* fy, int y, int left,
                                         int lane, RowForces& f) {
    const bool inside = y >= 0 && y < image.height;
    const long long row = (long long)y * image.width;
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
        const int x = left + lane * CELLS + i;
        const bool here = inside && x >= 0 && x < image.width;
        f.x[i] = here ? __ldg(fx + row + x) : 0.0f;
        f.y[i] = here ? __ldg(fy + row + x) : 0.0f;
    }
}

// The row's prefix sums RX, RY and G, as BoxTables::add_row has them, into the place of D1, D2 and Q.
__device__ __forceinline__ void sum_row(const RowForces& f, float steps, int lane, u32* cells) {
    u32 x[CELLS], y[CELLS], sum_x = 0, sum_y = 0, sum_g = 0;
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
        x[i] = (u32)__float2int_rn(f.x[i] * steps);
        y[i] = (u32)__float2int_rn(f.y[i] * steps);
        sum_x += x[i];
        sum_y += y[i];
    }
    u32 rx = warp_scan(sum_x, lane) - sum_x, ry = warp_scan(sum_y, lane) - sum_y;
    u32 run = ry;
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
        sum_g += run + run + y[i];
        run += y[i];
    }
    u32 g = warp_scan(sum_g, lane) - sum_g;
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
        const int n = PLACE(lane * CELLS + i);
        cells[n] = rx;
        cells[W + n] = ry;
        cells[2 * W + n] = g;
        g += ry + ry + y[i];
        rx += x[i];
        ry += y[i];
    }
}

struct Column {
    u32 kx, ky, q;
};

// Turn `count` rows of row sums into table rows, one thread to a column.
__device__ __forceinline__ void sum_columns(u32* ring, int first, int count, int rows, Column& c) {
    const int n = threadIdx.x;
    if (n >= W) return;
    u32* cell = ring + (first % rows) * ROW + n;
    u32* const end = ring + rows * ROW;
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
        const u32 x = c.kx + cell[0];
        c.ky += cell[W];
        c.q += cell[2 * W] - c.kx - x;
        c.kx = x;
        cell[0] = c.ky - c.kx;
        cell[W] = c.ky + c.kx;
        cell[2 * W] = c.q;
        if (MIRROR && cell < ring + MIRROR * ROW) {
            u32* again = cell + rows * ROW;
            again[0] = c.ky - c.kx;
            again[W] = c.ky + c.kx;
            again[2 * W] = c.q;
        }
        cell += ROW;
        if (cell >= end) cell -= rows * ROW;
    }
}

// A square's factor and label: float bits and integer, read together.
__device__ __forceinline__ void fill_factors(const Squares& s, float steps, int2* factors) {
    for (int k = threadIdx.x; k < s.count; k += THREADS)
        factors[k] = make_int2(__float_as_int((float)(1 / (4 * s.area[k] * (double)steps))), s.label[k]);
}
