// Canny's edge detector, step by step as native/edges/canny.cpp and hysteresis.cpp have it: the same operations in the
// same order, none contracted, so the same edges.
#define BINS 64
#define NOISE 1e-6f
#define TIE 1e-5f

__device__ __forceinline__ int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// Planar uint8, 1 or 3 channels.
extern "C" __global__ void to_grey(const unsigned char* pixels, int channels, long long count, const double* ranges,
                                   float* grey) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned char* p = pixels + (long long)blockIdx.y * channels * count + i;
    const double offset = ranges[2 * blockIdx.y], scale = ranges[2 * blockIdx.y + 1];
    double luminance = (double)p[0];
    if (channels == 3)
        luminance = 0.2125 * (double)p[0] + 0.7154 * (double)p[count] + 0.0721 * (double)p[2 * count];
    grey[(long long)blockIdx.y * count + i] = (float)((luminance - offset) * scale);
}

__device__ __forceinline__ float2 gradient_at(const float* s, int height, int width, int y, int x) {
    const long long row = (long long)y * width;
    const float gx = 0.5f * (s[row + clamped(x + 1, width)] - s[row + clamped(x - 1, width)]);
    const float gy =
        0.5f * (s[(long long)clamped(y + 1, height) * width + x] - s[(long long)clamped(y - 1, height) * width + x]);
    return make_float2(gx, gy);
}

__device__ __forceinline__ float length_of(float2 g) { return sqrtf(g.x * g.x + g.y * g.y); }

__device__ __forceinline__ float strength_of(float2 g) {
    const float m = length_of(g);
    return m < NOISE ? 0.0f : m;
}

// A thread looks at 8 rows; largest: bits of the largest strength of each image.
extern "C" __global__ void largest_gradient(const float* smoothed, int height, int width, int* largest) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const float* s = smoothed + (long long)blockIdx.z * height * width;
    int own = 0;
    for (int y = blockIdx.y * 8; y < min(blockIdx.y * 8 + 8, height); ++y)
        if (x < width) own = max(own, __float_as_int(strength_of(gradient_at(s, height, width, y, x))));
    own = __reduce_max_sync(0xFFFFFFFFu, own);
    if ((threadIdx.x & 31) == 0 && own) atomicMax(largest + blockIdx.z, own);
}

extern "C" __global__ void count_gradients(const float* smoothed, int height, int width, const int* largest,
                                           int* counts) {
    __shared__ int bins[8][BINS];  // for each warp, against crowding
    const int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 8 * BINS; i += blockDim.x) bins[i / BINS][i % BINS] = 0;
    __syncthreads();
    const float scale = BINS / __int_as_float(largest[blockIdx.z]);
    const float* s = smoothed + (long long)blockIdx.z * height * width;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = blockIdx.y * 8; y < min(blockIdx.y * 8 + 8, height); ++y)
        if (x < width) {
            const int bin = (int)(strength_of(gradient_at(s, height, width, y, x)) * scale);
            atomicAdd(&bins[warp][min(bin, BINS - 1)], 1);
        }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) {
        int sum = 0;
        for (int w = 0; w < 8; ++w) sum += bins[w][i];
        if (sum) atomicAdd(counts + blockIdx.z * BINS + i, sum);
    }
}

// MATLAB's rule: the first bin edge below which 70 % of the pixels lie; low is 0.4 of it. One thread for each image.
extern "C" __global__ void choose_thresholds(const int* counts, const int* largest, long long pixels,
                                             float* thresholds) {
    const int b = blockIdx.x;
    long long below = 0;
    int bin = 0;
    for (; bin < BINS - 1; ++bin) {
        below += counts[b * BINS + bin];
        if ((double)below > 0.7 * (double)pixels) break;
    }
    const double high = (double)__int_as_float(largest[b]) * (bin + 1) / BINS;
    thresholds[2 * b] = (float)(0.4 * high);
    thresholds[2 * b + 1] = (float)high;
}

__device__ __forceinline__ bool is_ridge(const float* row, int pitch, float2 g, float threshold) {
    const float length = length_of(g);
    const float across = fabsf(g.x) / length, down = fabsf(g.y) / length;
    const int ahead_x = g.x > 0 ? 1 : -1, ahead_y = g.y > 0 ? pitch : -pitch;
    const float here = row[0];
    const float own = (1 - across) * (1 - down) * here;
    const float part_x = across * (1 - down), part_y = (1 - across) * down, part_xy = across * down;
    const float bright = own + part_x * row[ahead_x] + part_y * row[ahead_y] + part_xy * row[ahead_x + ahead_y];
    const float dark = own + part_x * row[-ahead_x] + part_y * row[-ahead_y] + part_xy * row[-ahead_x - ahead_y];
    return (here > threshold) & (length > 0) & (here > bright * (1 + TIE)) & (here * (1 + TIE) >= dark);
}

// 256 threads thin a tile of 64 x 16; every ridge pixel becomes the root of a tree of its own.
extern "C" __global__ void thin(const float* smoothed, int height, int width, const float* thresholds, float* thinned,
                                int* parent) {
    __shared__ float s[20][68], strength[18][66];
    const int left = blockIdx.x * 64, top = blockIdx.y * 16;
    const long long offset = (long long)blockIdx.z * height * width;
    for (int p = threadIdx.x; p < 20 * 68; p += 256) {
        const int y = clamped(top - 2 + p / 68, height), x = clamped(left - 2 + p % 68, width);
        s[p / 68][p % 68] = smoothed[offset + (long long)y * width + x];
    }
    __syncthreads();
    const auto gradient = [&](int i, int j) {  // of the pixel (top - 1 + i, left - 1 + j)
        return make_float2(0.5f * (s[i + 1][j + 2] - s[i + 1][j]), 0.5f * (s[i + 2][j + 1] - s[i][j + 1]));
    };
    for (int p = threadIdx.x; p < 18 * 66; p += 256) strength[p / 66][p % 66] = strength_of(gradient(p / 66, p % 66));
    __syncthreads();
    const float threshold = thresholds[2 * blockIdx.z];
    for (int p = threadIdx.x; p < 16 * 64; p += 256) {
        const int i = p / 64, j = p % 64, y = top + i, x = left + j;
        if (y >= height || x >= width) continue;
        const bool inner = y > 0 && y < height - 1 && x > 0 && x < width - 1;
        const float here = strength[i + 1][j + 1];
        const bool ridge = inner && here > threshold &&
                           is_ridge(&strength[i + 1][j + 1], 66, gradient(i + 1, j + 1), threshold);
        const long long at = offset + (long long)y * width + x;
        thinned[at] = ridge ? here : 0.0f;
        parent[at] = ridge ? (int)at : -1;
    }
}

// Turn the gradient at edges (negative strengths) to the edge direction, of length 1 where `unit` says so; a thread to
// four rows.
extern "C" __global__ void turn(const float* smoothed, const float* thinned, int height, int width, int unit,
                                float* forces) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 4;
    if (x >= width) return;
    const long long pixels = (long long)height * width;
    const float *edges = thinned + blockIdx.z * pixels, *s = smoothed + blockIdx.z * pixels;
    float* out = forces + 2LL * blockIdx.z * pixels;
    float strength[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) strength[i] = top + i < height ? edges[(long long)(top + i) * width + x] : 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (top + i >= height) return;
        const bool edge = strength[i] < 0;
        const float2 g = edge ? gradient_at(s, height, width, top + i, x) : make_float2(0, 0);
        float fx = edge ? g.y : 0.0f, fy = edge ? -g.x : 0.0f;
        if (unit && edge) {
            const float square = fx * fx + fy * fy, length = sqrtf(square);
            fx = square > 0 ? fx / length : 0.0f;
            fy = square > 0 ? fy / length : 0.0f;
        }
        const long long at = (long long)(top + i) * width + x;
        out[at] = fx;
        out[pixels + at] = fy;
    }
}
