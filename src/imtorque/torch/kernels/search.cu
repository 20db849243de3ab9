// Extrema of the torque over space and scale, as native/core/extrema.cpp defines them.
//
// The value map says where: only tiles whose largest |V| reaches the weakest extremum wanted are searched. A block makes
// the tables of a tile, then goes through the sizes with three slices of torque at a time.
//
// Set by the host: CELL_ROWS of a tile, and what tables.cu needs.
#define SLICE_ROWS (CELL_ROWS + 2)
#define CELL_COLUMNS (TX - 2)
#define SLICE (SLICE_ROWS * TX)
#define SEARCH_ROWS (SLICE_ROWS + 2 * REACH + 1)

struct Wanted {
    const float* threshold;  // (B): |value| of the weakest
    int sign, end_scales, capacity;
    int* found;  // (capacity, 6): image, size's place, y, x, tied, bits of the value
    int* count;  // of those found, also beyond the capacity; then of those tied
};

__device__ __forceinline__ void make_tables(const Image& image, const float* fx, float steps, int top, int left,
                                            int rows, u32* table) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const float* fy = fx + (long long)image.height * image.width;
    for (int n = threadIdx.x; n < ROW; n += THREADS) table[n] = 0;
    for (int i = warp; i < rows; i += WARPS) {
        RowForces forces;
        load_row(image, fx, fy, top + i, left, lane, forces);
        sum_row(forces, steps, lane, table + (i + 1) * ROW);
    }
    __syncthreads();
    Column column = {0, 0, 0};
    sum_columns(table, 1, rows, rows + 2, column);
    __syncthreads();
}

__device__ __forceinline__ void fill_slice(const u32* table, int r, int reach, float norm, float* slice) {
    for (int p = threadIdx.x; p < SLICE; p += THREADS) {
        const int y = p / TX + reach, x = p % TX + REACH;
        const u32* a = table + (y + r + 1) * ROW;
        const u32* b = table + (y - r) * ROW;
        const int h = x + r + 1, l = x - r;
        const u32 d = a[h] - b[h + W] + a[l + W] - b[l];
        const u32 q = a[h + 2 * W] - b[h + 2 * W] - a[l + 2 * W] + b[l + 2 * W];
        slice[p] = __int2float_rn((int)((2 * r + 1) * d - q)) * norm;
    }
}

// Whether no neighbour at this size or the two beside it (null where there is none) exceeds v; *tied: one equals it.
__device__ __forceinline__ bool is_extremum(const float* const* slices, int p, int y, int x, int height, int width,
                                            bool* tied) {
    const float v = slices[1][p];
    bool strict = false;
    *tied = false;
    for (int k = 0; k < 3; ++k) {
        if (!slices[k]) continue;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
                if (k == 1 && dy == 0 && dx == 0) continue;
                const float neighbour = slices[k][p + dy * TX + dx];
                if (v > 0 ? neighbour > v : neighbour < v) return false;
                strict |= neighbour != v;
                *tied |= neighbour == v;
            }
    }
    return strict;
}

__device__ __forceinline__ void test_slice(const float* const* slices, const Image& image, const Wanted& wanted, int b,
                                           int k, int top, int left, float threshold) {
    for (int p = threadIdx.x; p < CELL_ROWS * TX; p += THREADS) {
        const int row = p / TX, column = p % TX - 1, y = top + row, x = left + column;
        if (column < 0 || column >= CELL_COLUMNS || y >= image.height || x >= image.width) continue;
        const float v = slices[1][p + TX];
        if (v == 0 || fabsf(v) < threshold || v * wanted.sign < 0) continue;
        bool tied;
        if (!is_extremum(slices, p + TX, y, x, image.height, image.width, &tied)) continue;
        const int at = atomicAdd(wanted.count, 1);
        if (tied) atomicAdd(wanted.count + 1, 1);
        if (at >= wanted.capacity) continue;
        int* f = wanted.found + 6LL * at;
        f[0] = b;
        f[1] = k;
        f[2] = y;
        f[3] = x;
        f[4] = tied;
        f[5] = __float_as_int(v);
    }
}

// `tiles` lists the tiles worth searching, `taken` counts those that a block has begun.
extern "C" __global__ void __launch_bounds__(THREADS)
    search(Image image, Squares s, int reach, int across, int down, const int* tiles, const int* tile_count, int* taken,
           Wanted wanted) {
    extern __shared__ u32 table[];
    float* slices = (float*)(table + SEARCH_ROWS * ROW);
    int2* factors = (int2*)(slices + 3 * SLICE);
    __shared__ int tile;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) tile = atomicAdd(taken, 1);
        __syncthreads();
        if (tile >= *tile_count) return;
        const int id = tiles[tile], b = id / (across * down);
        const int top = id / across % down * CELL_ROWS, left = id % across * CELL_COLUMNS;
        const float steps = image.steps[b * image.stride], threshold = wanted.threshold[b];
        fill_factors(s, steps, factors);
        make_tables(image, image.forces + 2LL * b * image.height * image.width, steps, top - 1 - reach,
                    left - 1 - REACH, SLICE_ROWS + 2 * reach, table);
        fill_slice(table, s.half[0], reach, __int_as_float(factors[0].x), slices);
        for (int k = 0; k < s.count; ++k) {
            if (k + 1 < s.count)
                fill_slice(table, s.half[k + 1], reach, __int_as_float(factors[k + 1].x), slices + (k + 1) % 3 * SLICE);
            __syncthreads();
            const float* here[3] = {k > 0 ? slices + (k + 2) % 3 * SLICE : 0, slices + k % 3 * SLICE,
                                    k + 1 < s.count ? slices + (k + 1) % 3 * SLICE : 0};
            if (wanted.end_scales || (k > 0 && k + 1 < s.count))
                test_slice(here, image, wanted, b, k, top, left, threshold);
            __syncthreads();
        }
    }
}
