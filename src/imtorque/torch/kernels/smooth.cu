// Gaussian smoothing along both axes, in the order of native/edges/canny.cpp: the centre first, then pairs outwards, which
// are added before they are weighted. Set by the host: RADIUS.
#define TILE_WIDTH 64
#define TILE_HEIGHT 32
#define PER 8  // outputs of a thread, which share their loads
#define ROWS (TILE_HEIGHT + 2 * RADIUS)
#define PITCH ((TILE_WIDTH + 2 * RADIUS) | 1)  // odd, so that the threads of a warp may take a row each
#define ACROSS (TILE_WIDTH | 1)

struct Weights {
    float w[RADIUS + 1];
};

__device__ __forceinline__ int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

__device__ __forceinline__ void convolve(const float* from, int stride, const Weights& weights, float* out) {
    float v[PER + 2 * RADIUS];
#pragma unroll
    for (int i = 0; i < PER + 2 * RADIUS; ++i) v[i] = from[i * stride];
#pragma unroll
    for (int k = 0; k < PER; ++k) {
        float sum = weights.w[0] * v[RADIUS + k];
#pragma unroll
        for (int i = 1; i <= RADIUS; ++i) sum += weights.w[i] * (v[RADIUS + k - i] + v[RADIUS + k + i]);
        out[k] = sum;
    }
}

// 256 threads smooth a tile; beyond the border the image repeats its border pixels.
extern "C" __global__ void __launch_bounds__(256)
    smooth(const float* images, int height, int width, Weights weights, float* result) {
    extern __shared__ float tile[];
    float* across = tile + PITCH * ROWS;
    const int left = blockIdx.x * TILE_WIDTH, top = blockIdx.y * TILE_HEIGHT;
    const float* image = images + (long long)blockIdx.z * height * width;
    for (int y = threadIdx.x / 32; y < ROWS; y += 8)
        for (int x = threadIdx.x % 32; x < TILE_WIDTH + 2 * RADIUS; x += 32)
            tile[y * PITCH + x] =
                image[(long long)clamped(top - RADIUS + y, height) * width + clamped(left - RADIUS + x, width)];
    __syncthreads();
    float out[PER];
    for (int t = threadIdx.x; t < ROWS * (TILE_WIDTH / PER); t += 256) {
        const int row = t % ROWS, x = t / ROWS * PER;
        convolve(tile + row * PITCH + x, 1, weights, out);
#pragma unroll
        for (int k = 0; k < PER; ++k) across[row * ACROSS + x + k] = out[k];
    }
    __syncthreads();
    const int x = threadIdx.x % TILE_WIDTH, y = threadIdx.x / TILE_WIDTH * PER;
    convolve(across + y * ACROSS + x, ACROSS, weights, out);
#pragma unroll
    for (int k = 0; k < PER; ++k)
        if (top + y + k < height && left + x < width)
            result[((long long)blockIdx.z * height + top + y + k) * width + left + x] = out[k];
}
