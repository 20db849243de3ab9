// The backward pass of value and scale maps: what each force does for the patches that were chosen, each weighted.
//
// As in native/core/contribution.cpp, every patch enters tables of w, w x and w y as differences at its four corners, and
// prefix sums turn the differences into sums over the patches that hold a pixel: O(1) for each patch, whatever its size.
// A band of rows at a time: rows `top` to `top + rows`; the tables are (3, B, rows + 1, W + 1), zero at the start.

struct Band {
    int batch, height, width, top, rows;
};

__device__ __forceinline__ void add_at(double* table, long long field, long long at, double w, double x, double y) {
    atomicAdd(table + at, w);
    atomicAdd(table + field + at, x);
    atomicAdd(table + 2 * field + at, y);
}

// halves: (2, L) half-heights and half-widths by label, factors: (L). `first`: the first image row that may reach the band.
extern "C" __global__ void scatter(const float* grad, const int* scale, Band band, int first, const int* halves,
                                   const double* factors, int labels, double* table) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, row = first + blockIdx.y, b = blockIdx.z;
    if (x >= band.width) return;
    const long long pixel = ((long long)b * band.height + row) * band.width + x;
    const int label = abs(scale[pixel]), y = row - band.top;
    if (label == 0) return;
    const int above = max(y - halves[label], 0), below = min(y + halves[label] + 1, band.rows);
    if (above >= below) return;
    const int left = max(x - halves[labels + label], 0), right = min(x + halves[labels + label] + 1, band.width);
    const double w = grad[pixel] * factors[label], wx = w * (x - band.width / 2), wy = w * y;
    const long long pitch = band.width + 1, image = (band.rows + 1) * pitch, field = band.batch * image;
    double* own = table + b * image;
    add_at(own, field, above * pitch + left, w, wx, wy);
    add_at(own, field, above * pitch + right, -w, -wx, -wy);
    add_at(own, field, below * pitch + left, -w, -wx, -wy);
    add_at(own, field, below * pitch + right, w, wx, wy);
}

// A thread to a column of one of the 3 B tables.
extern "C" __global__ void sum_down(Band band, double* table) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > band.width) return;
    const long long pitch = band.width + 1;
    double* cell = table + blockIdx.y * (band.rows + 1) * pitch + n;
    double sum = 0;
#pragma unroll 8
    for (int y = 0; y < band.rows; ++y) {
        sum += cell[y * pitch];
        cell[y * pitch] = sum;
    }
}

__device__ __forceinline__ double warp_scan(double sum, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const double other = __shfl_up_sync(0xFFFFFFFFu, sum, d);
        if (lane >= d) sum += other;
    }
    return sum;
}

// A warp to a row: sums along it, and the gradient (B, 2, H, W) from them.
extern "C" __global__ void sum_across(Band band, const double* table, float* out) {
    const int lane = threadIdx.x & 31, y = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, b = blockIdx.y;
    if (y >= band.rows) return;
    const long long pitch = band.width + 1, image = (band.rows + 1) * pitch, field = band.batch * image;
    const double* cell = table + b * image + y * pitch;
    const long long pixels = (long long)band.height * band.width;
    float* to = out + 2 * b * pixels + (long long)(band.top + y) * band.width;
    double w = 0, wx = 0, wy = 0;
    for (int from = 0; from < band.width; from += 32) {
        const int x = from + lane;
        const bool inside = x < band.width;
        const double s = w + warp_scan(inside ? cell[x] : 0, lane);
        const double sx = wx + warp_scan(inside ? cell[field + x] : 0, lane);
        const double sy = wy + warp_scan(inside ? cell[2 * field + x] : 0, lane);
        if (inside) {
            to[x] = (float)(sy - y * s);
            to[pixels + x] = (float)((x - band.width / 2) * s - sx);
        }
        w = __shfl_sync(0xFFFFFFFFu, s, 31);
        wx = __shfl_sync(0xFFFFFFFFu, sx, 31);
        wy = __shfl_sync(0xFFFFFFFFu, sy, 31);
    }
}
