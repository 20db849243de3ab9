// What the rounding of forces follows from, as native/core/forces.cpp finds it: one record of integers for each image.
#define LARGEST 0  // bits of the largest |fx| or |fy|
#define TOP 1
#define LEFT 2
#define BOTTOM 3  // the last row with a force
#define RIGHT 4
#define GRAIN 5
#define NOT_PELL 6
#define WINDOWS 8  // + n - 1: bits of the largest mass of n x n blocks
#define OCTAVES 16
#define RECORD 272
#define BLOCK 32  // pixels: of the blocks whose mass is summed

__device__ __forceinline__ int lowest_bit(unsigned bits) {  // of a positive float, as an exponent
    const unsigned mantissa = bits & 0x7FFFFF;
    const int exponent = bits >> 23;
    if (exponent == 0) return __ffs(mantissa) - 1 - 149;
    return mantissa ? __ffs(mantissa) - 1 + exponent - 150 : exponent - 127;
}

// 256 threads look at 4 blocks side by side, a warp at half a block.
extern "C" __global__ void survey(const float* forces, int height, int width, int* records, float* masses) {
    __shared__ int octaves[256];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, b = blockIdx.z;
    const long long pixels = (long long)height * width;
    const float *fx = forces + 2 * b * pixels, *fy = fx + pixels;
    int* record = records + b * RECORD;
    octaves[threadIdx.x] = 0;
    __syncthreads();
    const int column = blockIdx.x * 4 + warp % 4, x = column * BLOCK + lane;
    const int from = blockIdx.y * BLOCK + warp / 4 * (BLOCK / 2);
    int largest = 0, top = 0x7FFFFFFF, bottom = -1, grain = 0x7FFFFFFF;
    float mass = 0;
    for (int y = from; y < min(from + BLOCK / 2, height); ++y) {
        if (x >= width) break;
        const float ax = fabsf(fx[(long long)y * width + x]), ay = fabsf(fy[(long long)y * width + x]);
        const int bx = __float_as_int(ax), by = __float_as_int(ay);
        if ((bx | by) == 0) continue;
        largest = max(largest, max(bx, by));
        top = min(top, y);
        bottom = y;
        mass += ax + ay;
        if (bx && (bx >> 23) - 150 < grain) grain = min(grain, lowest_bit(bx));
        if (by && (by >> 23) - 150 < grain) grain = min(grain, lowest_bit(by));
        atomicAdd(octaves + (max(bx, by) >> 23), 1);
    }
    const unsigned any = __ballot_sync(0xFFFFFFFFu, bottom >= 0);
    for (int d = 16; d; d /= 2) mass += __shfl_xor_sync(0xFFFFFFFFu, mass, d);
    largest = __reduce_max_sync(0xFFFFFFFFu, largest);
    top = __reduce_min_sync(0xFFFFFFFFu, top);
    bottom = __reduce_max_sync(0xFFFFFFFFu, bottom);
    grain = __reduce_min_sync(0xFFFFFFFFu, grain);
    if (lane == 0 && any) {
        atomicMax(record + LARGEST, largest);
        atomicMin(record + TOP, top);
        atomicMax(record + BOTTOM, bottom);
        atomicMin(record + LEFT, column * BLOCK + __ffs(any) - 1);
        atomicMax(record + RIGHT, column * BLOCK + 31 - __clz(any));
        atomicMin(record + GRAIN, grain);
        const int across = (width + BLOCK - 1) / BLOCK;
        atomicAdd(masses + ((long long)b * gridDim.y + blockIdx.y) * across + column, mass);
    }
    __syncthreads();
    if (octaves[threadIdx.x]) atomicAdd(record + OCTAVES + threadIdx.x, octaves[threadIdx.x]);
}

// Whether a component is not whole in Pell steps of the field's unit; ends at once where that is known.
extern "C" __global__ void survey_pell(const float* forces, long long pixels, int* records) {
    int* record = records + blockIdx.y * RECORD;
    const float largest = __int_as_float(record[LARGEST]);
    if (*(volatile int*)(record + NOT_PELL) || !(largest > 0 && isfinite(largest))) return;
    int exponent;
    const double mantissa = frexp((double)largest * (1 - 1e-6), &exponent);
    const float steps = (float)ldexp(3363.0, -max(mantissa == 0.5 ? exponent - 1 : exponent, -100));
    const float* f = forces + 2 * blockIdx.y * pixels;
    const long long from = (long long)blockIdx.x * 16384, to = min(from + 16384, 2 * pixels);
    bool off = false;
    for (long long i = from + threadIdx.x; i < to && !off; i += blockDim.x) {
        const float product = fabsf(f[i]) * steps;
        off = fabsf(product - rintf(product)) > 1e-3f;
    }
    if (off) record[NOT_PELL] = 1;
}

// The largest mass in any window of 1 x 1 to 4 x 4 blocks.
extern "C" __global__ void survey_windows(const float* masses, int down, int across, int* records) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < down * across;
    const int y = i / across, x = i % across;
    masses += (long long)blockIdx.y * down * across;
    for (int n = 1; n <= 4; ++n) {
        float mass = 0;
        for (int v = y; inside && v < min(y + n, down); ++v)
            for (int u = x; u < min(x + n, across); ++u) mass += masses[(long long)v * across + u];
        const int most = __reduce_max_sync(0xFFFFFFFFu, __float_as_int(mass));
        if ((threadIdx.x & 31) == 0) atomicMax(records + blockIdx.y * RECORD + WINDOWS + n - 1, most);
    }
}
