// How a block walks down a strip of the image with a ring of table rows, and what pixels on a diagonal share.
//
// Where a thread computes J pixels on a diagonal, (y + j, x + j), their lower right corners for half-size r are the cells
// (y + j + r + 1, x + j + r + 1), which depend on j + r only, and their upper left ones (y + j - r, x + j - r) on j - r
// only. So from one half-size to the next, one new cell of each serves all J pixels, and 4 + 4 / J loads from shared
// memory remain of 8 for each pixel and size.

// What a thread keeps of the tables while it goes through half-sizes that follow each other.
struct Walk {
    u32 a1[J], aq[J], b1[J], bq[J];  // D1 and Q of the corners on the diagonal
    int ka[J], kb[J];                // places of the lower left and upper right corners, as `corner` reads them
    int row_a, row_b;                // of the last cells taken
};

__device__ __forceinline__ void start_walk(const u32* ring, int i0, int c0, int r, Walk& w) {
#pragma unroll
    for (int j = 0; j < J; ++j) {
        w.row_a = (i0 + 1 + j + r) % RING * ROW;
        w.a1[j] = ring[w.row_a + c0 + j + r + 1];
        w.aq[j] = ring[w.row_a + c0 + j + r + 1 + 2 * W];
        w.ka[j] = w.row_a + c0 + j - r + 2 * (J - 1 - j);
        const int row = (i0 + j - r + RING) % RING * ROW;  // rows above the band are read, never used
        if (j == 0) w.row_b = row;
        w.b1[j] = ring[row + c0 + j - r];
        w.bq[j] = ring[row + c0 + j - r + 2 * W];
        w.kb[j] = row + c0 + r + 1 - j;
    }
}

__device__ __forceinline__ void next_walk(const u32* ring, int c0, int r, Walk& w) {  // from r - 1 to r
#pragma unroll
    for (int j = 0; j < J - 1; ++j) {
        w.a1[j] = w.a1[j + 1];
        w.aq[j] = w.aq[j + 1];
        w.ka[j] = w.ka[j + 1];
        w.b1[J - 1 - j] = w.b1[J - 2 - j];
        w.bq[J - 1 - j] = w.bq[J - 2 - j];
        w.kb[J - 1 - j] = w.kb[J - 2 - j];
    }
    w.row_a += ROW;
    if (w.row_a >= RING * ROW) w.row_a -= RING * ROW;
    w.row_b -= ROW;
    if (w.row_b < 0) w.row_b += RING * ROW;
    const int a = w.row_a + c0 + J + r, b = w.row_b + c0 - r;
    w.a1[J - 1] = ring[a];
    w.aq[J - 1] = ring[a + 2 * W];
    w.ka[J - 1] = a - 2 * r - 1;
    w.b1[0] = ring[b];
    w.bq[0] = ring[b + 2 * W];
    w.kb[0] = b + 2 * r + 1;
}

__device__ __forceinline__ float walk_torque(const u32* ring, const Walk& w, int j, u32 side, float norm) {
    const u32* al = ring + w.ka[j] - 2 * (J - 1 - j);
    const u32* bh = ring + w.kb[j] + 2 * j;
    const u32 d = w.a1[j] - bh[W] + al[W] - w.b1[j];
    const u32 q = w.aq[j] - bh[2 * W] - al[2 * W] + w.bq[j];
    return __int2float_rn((int)(side * d - q)) * norm;
}

// Make table rows on the way down; task(ring, factors, i0, row, x, mine) computes J rows of outputs from `row` at column x.
template <typename Task>
__device__ __forceinline__ void walk_strip(const Image& image, const Squares& s, int reach, int rows_per_band, int skew,
                                           const Task& task) {
    extern __shared__ u32 ring[];
    int2* factors = (int2*)(ring + (RING + MIRROR) * ROW);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, group = threadIdx.x / ACROSS % GY;
    const int b = blockIdx.z, top = blockIdx.y * rows_per_band, bottom = min(top + rows_per_band, image.height);
    const int x0 = blockIdx.x * TX - skew * (J - 1), left = x0 - REACH;
    const float* fx = image.forces + 2LL * b * image.height * image.width;
    const float* fy = fx + (long long)image.height * image.width;
    const float steps = image.steps[b * image.stride];
    fill_factors(s, steps, factors);
    for (int n = threadIdx.x; n < ROW; n += THREADS) {  // table row 0
        ring[n] = 0;
        if (MIRROR) ring[RING * ROW + n] = 0;
    }
    Column column = {0, 0, 0};
    RowForces ahead[ROWS_PER_WARP];
    int built = 0;  // table row i holds the image rows before top - reach + i
#pragma unroll
    for (int i = 0; i < ROWS_PER_WARP; ++i)
        load_row(image, fx, fy, top - reach + warp + i * WARPS, left, lane, ahead[i]);
    for (int y = top - 2 * reach; y < bottom; y += STEP) {
        // Make STEP more table rows; before the first output row, as many steps as the patches reach.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS_PER_WARP; ++i)
            if (warp + i * WARPS < STEP)
                sum_row(ahead[i], steps, lane, ring + (built + 1 + warp + i * WARPS) % RING * ROW);
        __syncthreads();
        sum_columns(ring, built + 1, STEP, RING, column);
        built += STEP;
#pragma unroll
        for (int i = 0; i < ROWS_PER_WARP; ++i)
            load_row(image, fx, fy, top - reach + built + warp + i * WARPS, left, lane, ahead[i]);
        __syncthreads();
        // Rows y ... y + STEP - 1 have all their table rows now.
        if (y + STEP <= top) continue;
        const int row = y + group * J, i0 = row - top + reach, x = x0 + threadIdx.x % ACROSS * C;
        if (i0 - reach + J <= 0) continue;
        bool mine[J];
#pragma unroll
        for (int j = 0; j < J; ++j)
            mine[j] = row + j >= top && row + j < bottom && x + skew * j >= 0 && x + skew * j < image.width;
        task(ring, factors, i0, row, x, mine);
    }
}
