// What the rounding of forces follows from, as native/core/forces.cpp finds it: one record of integers for each image.
// Entries are largest values over a start of 0, so those that are smallest are held as MOST less them.
#define MOST 0x3FFFFFFF
#define LARGEST 0  // bits of the largest |fx| or |fy|
#define TOP 1
#define LEFT 2
#define BOTTOM 3  // one after the last row with a force
#define RIGHT 4
#define GRAIN 5
#define NOT_PELL 6
#define STEPS 7  // bits of the steps that most fields have; the host knows the whole rule
#define WINDOWS 8  // + n - 1: bits of the largest mass of n x n blocks
#define OCTAVES 16
#define RECORD 272
#define BLOCK 32  // pixels: of the blocks whose mass is summed
#define ROWS 8    // that a thread loads together

__device__ __forceinline__ int lowest_bit(unsigned bits) {  // of a positive float, as an exponent
    const unsigned mantissa = bits & 0x7FFFFF;
    const int exponent = bits >> 23;
    if (exponent == 0) return __ffs(mantissa) - 1 - 149;
    return mantissa ? __ffs(mantissa) - 1 + exponent - 150 : exponent - 127;
}

// An entry that many threads would change one after the other is looked at first: few have to.
__device__ __forceinline__ void raise(int* entry, int value) {
    if (value > *(volatile int*)entry) atomicMax(entry, value);
}

// 256 threads look at 4 blocks side by side, a warp at half a block.
extern "C" __global__ void force_statistics(const float* forces, int height, int width, int* records, float* masses) {
    __shared__ int octaves[256], entries[GRAIN + 1];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, b = blockIdx.z;
    const long long pixels = (long long)height * width;
    const float *fx = forces + 2 * b * pixels, *fy = fx + pixels;
    int* record = records + b * RECORD;
    octaves[threadIdx.x] = 0;
    if (threadIdx.x <= GRAIN) entries[threadIdx.x] = 0;
    __syncthreads();
    const int column = blockIdx.x * 4 + warp % 4, x = column * BLOCK + lane;
    const int from = blockIdx.y * BLOCK + warp / 4 * (BLOCK / 2);
    int largest = 0, top = MOST, bottom = 0, grain = MOST, octave = 0, alike = 0;
    float mass = 0;
    for (int start = from; start < min(from + BLOCK / 2, height); start += ROWS) {
        float ax[ROWS], ay[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {  // all loads first, so that they are under way together
            const bool inside = x < width && start + i < height;
            const long long at = (long long)(start + i) * width + x;
            ax[i] = inside ? fabsf(fx[at]) : 0.0f;
            ay[i] = inside ? fabsf(fy[at]) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const int bx = __float_as_int(ax[i]), by = __float_as_int(ay[i]);
            if ((bx | by) == 0) continue;
            largest = max(largest, max(bx, by));
            top = min(top, start + i);
            bottom = start + i + 1;
            mass += ax[i] + ay[i];
            if (bx && (bx >> 23) - 150 < grain) grain = min(grain, lowest_bit(bx));
            if (by && (by >> 23) - 150 < grain) grain = min(grain, lowest_bit(by));
            const int own = max(bx, by) >> 23;
            if (own != octave) {  // most follow one of their kind
                if (alike) atomicAdd(octaves + octave, alike);
                octave = own;
                alike = 0;
            }
            ++alike;
        }
    }
    if (alike) atomicAdd(octaves + octave, alike);
    const unsigned any = __ballot_sync(0xFFFFFFFFu, bottom > 0);
    for (int d = 16; d; d /= 2) mass += __shfl_xor_sync(0xFFFFFFFFu, mass, d);
    largest = __reduce_max_sync(0xFFFFFFFFu, largest);
    top = __reduce_min_sync(0xFFFFFFFFu, top);
    bottom = __reduce_max_sync(0xFFFFFFFFu, bottom);
    grain = __reduce_min_sync(0xFFFFFFFFu, grain);
    if (lane == 0 && any) {
        atomicMax(entries + LARGEST, largest);
        atomicMax(entries + TOP, MOST - top);
        atomicMax(entries + BOTTOM, bottom);
        atomicMax(entries + LEFT, MOST - (column * BLOCK + __ffs(any) - 1));
        atomicMax(entries + RIGHT, column * BLOCK + 32 - __clz(any));
        atomicMax(entries + GRAIN, MOST - grain);
        const int across = (width + BLOCK - 1) / BLOCK;
        atomicAdd(masses + ((long long)b * gridDim.y + blockIdx.y) * across + column, mass);
    }
    __syncthreads();
    if (threadIdx.x <= GRAIN) raise(record + threadIdx.x, entries[threadIdx.x]);
    if (octaves[threadIdx.x]) atomicAdd(record + OCTAVES + threadIdx.x, octaves[threadIdx.x]);
}

// Whether a component is not whole in Pell steps of the field's unit; ends soon after that is known.
__device__ __forceinline__ void test_pell(const float* f, long long count, int blocks, int* record) {
    const float largest = __int_as_float(record[LARGEST]);
    if (!(largest > 0 && isfinite(largest))) return;
    int exponent;
    const double mantissa = frexp((double)largest * (1 - 1e-6), &exponent);
    const float steps = (float)ldexp(3363.0, -max(mantissa == 0.5 ? exponent - 1 : exponent, -100));
    for (long long from = blockIdx.x * 4096LL; from < count; from += blocks * 4096LL) {
        bool off = *(volatile int*)(record + NOT_PELL);
#pragma unroll 8
        for (int i = threadIdx.x; i < 4096; i += 256) {
            const float product = from + i < count ? fabsf(f[from + i]) * steps : 0.0f;
            off |= fabsf(product - rintf(product)) > 1e-3f;
        }
        if (!__syncthreads_or(off)) continue;
        if (threadIdx.x == 0) record[NOT_PELL] = 1;
        return;
    }
}

// The largest mass in any window of 1 x 1 to 4 x 4 blocks; a thread to a window's corner.
__device__ __forceinline__ void test_windows(const float* masses, int down, int across, int first, int* record) {
    const int i = first + threadIdx.x, y = i / across, x = i % across;
    float mass[4][4], most[4] = {0, 0, 0, 0};
#pragma unroll
    for (int v = 0; v < 4; ++v)
#pragma unroll
        for (int u = 0; u < 4; ++u)
            mass[v][u] = y + v < down && x + u < across ? masses[(long long)(y + v) * across + x + u] : 0.0f;
#pragma unroll
    for (int v = 0; v < 4; ++v)
#pragma unroll
        for (int u = 0; u < 4; ++u)
#pragma unroll
            for (int n = max(v, u); n < 4; ++n) most[n] += mass[v][u];
#pragma unroll
    for (int n = 0; n < 4; ++n) {
        const int bits = __reduce_max_sync(0xFFFFFFFFu, __float_as_int(most[n]));
        if ((threadIdx.x & 31) == 0) atomicMax(record + WINDOWS + n, bits);
    }
}

// 256 threads a block: the last `windows` blocks of an image look at windows, the others at Pell steps.
extern "C" __global__ void survey_rest(const float* forces, long long pixels, const float* masses, int down, int across,
                                       int windows, int* records) {
    int* record = records + blockIdx.y * RECORD;
    const int blocks = gridDim.x - windows, part = blockIdx.x - blocks;
    if (part < 0)
        test_pell(forces + 2 * blockIdx.y * pixels, 2 * pixels, blocks, record);
    else
        test_windows(masses + (long long)blockIdx.y * down * across, down, across, part * 256, record);
}

// The rule of imtorque.ForceStatistics.steps for fields in which no force towers above the others. A warp to an image.
extern "C" __global__ void guess_steps(int* records) {
    int* record = records + blockIdx.x * RECORD;
    int count = 0;
    for (int i = threadIdx.x; i < 256; i += 32) count += record[OCTAVES + i];
    count = __reduce_add_sync(0xFFFFFFFFu, count);
    const double largest = __int_as_float(record[LARGEST]);
    double steps = 1;
    if (largest > 0) {
        int exponent;
        const double mantissa = frexp(largest * (1 - 1e-6), &exponent);
        const double unit = ldexp(1.0, max(mantissa == 0.5 ? exponent - 1 : exponent, -100));
        const double box = (double)(record[BOTTOM] - MOST + record[TOP]) * (record[RIGHT] - MOST + record[LEFT]);
        const bool dense = 2.5 * count >= box, whole = ldexp(4096 / unit, MOST - record[GRAIN]) >= 1;
        steps = (whole ? 4096 : !record[NOT_PELL] ? 3363 : dense ? 2097152 : 4096) / unit;
    }
    if (threadIdx.x == 0) record[STEPS] = __float_as_int((float)steps);
}
