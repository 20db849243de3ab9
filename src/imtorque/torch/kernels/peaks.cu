// What the value map says about the strongest extrema before they are searched for.
//
// A pixel where |V| exceeds its eight neighbours' holds an extremum of just that strength, so the count-th best of them
// bounds the result from below (native/core/extrema.cpp). Here the bound is read from a histogram of the upper half of
// the values' bits: a little lower, never higher.
#define BINS 8192
#define SHIFT 18
#define ROWS 8  // that a thread looks at

__device__ __forceinline__ float magnitude(const float* value, int height, int width, int y, int x) {
    return y < 0 || y >= height || x < 0 || x >= width ? 0.0f : fabsf(value[(long long)y * width + x]);
}

// 256 threads a block go through tiles of 256 x ROWS pixels and count in shared memory; a thread to a column of ROWS
// pixels, all loads first, so that they are under way together.
extern "C" __global__ void count_peaks(const float* values, int height, int width, int sign, int* bins) {
    __shared__ int own[BINS];
    for (int i = threadIdx.x; i < BINS; i += 256) own[i] = 0;
    __syncthreads();
    const float* value = values + (long long)blockIdx.y * height * width;
    const int across = (width + 255) / 256, tiles = across * ((height + ROWS - 1) / ROWS);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int x = tile % across * 256 + threadIdx.x, top = tile / across * ROWS;
        float near[ROWS + 2][3];
#pragma unroll
        for (int i = 0; i < ROWS + 2; ++i)
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                const int v = top - 1 + i, u = x - 1 + j;
                const bool inside = v >= 0 && v < height && u >= 0 && u < width;
                near[i][j] = inside ? value[(long long)v * width + u] : 0.0f;
            }
#pragma unroll
        for (int i = 1; i <= ROWS; ++i) {
            const float v = near[i][1], m = fabsf(v);
            const float above = fmaxf(fmaxf(fabsf(near[i - 1][0]), fabsf(near[i - 1][1])), fabsf(near[i - 1][2]));
            const float below = fmaxf(fmaxf(fabsf(near[i + 1][0]), fabsf(near[i + 1][1])), fabsf(near[i + 1][2]));
            const float beside = fmaxf(fabsf(near[i][0]), fabsf(near[i][2]));
            if (m > fmaxf(fmaxf(above, below), beside) && v * sign >= 0 && x < width)
                atomicAdd(own + (__float_as_int(m) >> SHIFT), 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += 256)
        if (own[i]) atomicAdd(bins + blockIdx.y * BINS + i, own[i]);
}

// One block of 1024 threads for each image.
extern "C" __global__ void find_threshold(const int* all_bins, long long count, float least, float* threshold) {
    __shared__ int sums[1024];
    const int* bins = all_bins + blockIdx.x * BINS;
    const int t = threadIdx.x, per = BINS / 1024;
    int own = 0;
    for (int i = 0; i < per; ++i) own += bins[t * per + i];
    sums[t] = own;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {  // sums from here to the last
        const int other = t + d < 1024 ? sums[t + d] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    if (t == 0 && sums[0] < count) threshold[blockIdx.x] = least;
    const int above = sums[t] - own;
    if (above >= count || sums[t] < count) return;
    long long seen = above;
    int bin = (t + 1) * per;
    while (seen < count) seen += bins[--bin];
    threshold[blockIdx.x] = fmaxf(least, __int_as_float(bin << SHIFT));
}

// List the tiles whose largest |V| reaches the threshold.
extern "C" __global__ void list_tiles(const float* values, int height, int width, int tile_height, int tile_width,
                                      const float* threshold, int* tiles, int* count) {
    __shared__ int largest;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    const float* value = values + (long long)blockIdx.z * height * width;
    const int top = blockIdx.y * tile_height, left = blockIdx.x * tile_width;
    int own = 0;
    for (int p = threadIdx.x; p < tile_height * tile_width; p += blockDim.x) {
        const int y = top + p / tile_width, x = left + p % tile_width;
        own = max(own, __float_as_int(magnitude(value, height, width, y, x)));
    }
    atomicMax(&largest, own);
    __syncthreads();
    if (threadIdx.x || largest == 0 || __int_as_float(largest) < threshold[blockIdx.z]) return;
    tiles[atomicAdd(count, 1)] = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
