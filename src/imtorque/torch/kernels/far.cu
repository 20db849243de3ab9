// Torque of boxes of any size from 64-bit tables in global memory: for patches that reach too far for shared memory, for
// rectangles, and where sums may pass 32 bits. The formulas are those of native/core/box_tables.hpp.
typedef unsigned long long u64;

__device__ __forceinline__ u64 warp_scan(u64 sum, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const u64 other = __shfl_up_sync(0xFFFFFFFFu, sum, d);
        if (lane >= d) sum += other;
    }
    return sum;
}

// A warp to a row of an image: its prefix sums RX, RY and G into the next row of the tables (B, 3, H + 1, W + 1).
extern "C" __global__ void sum_rows(const float* forces, const float* all_steps, int height, int width, u64* tables) {
    const int lane = threadIdx.x & 31, y = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (y >= height) return;
    const long long pixels = (long long)height * width, plane = (long long)(height + 1) * (width + 1);
    const float* fx = forces + 2 * blockIdx.y * pixels + (long long)y * width;
    const float* fy = fx + pixels;
    const float steps = all_steps[blockIdx.y];
    u64* out = tables + 3 * blockIdx.y * plane + (long long)(y + 1) * (width + 1);
    u64 rx = 0, ry = 0, g = 0;
    for (int from = 0; from <= width; from += 32) {
        const int n = from + lane;
        const u64 x = n < width ? (u64)__float2ll_rn(fx[n] * steps) : 0, yy = n < width ? (u64)__float2ll_rn(fy[n] * steps) : 0;
        const u64 sum_x = warp_scan(x, lane), sum_y = warp_scan(yy, lane);
        const u64 before = ry + sum_y - yy, step = before + before + yy, sum_g = warp_scan(step, lane);
        if (n <= width) {
            out[n] = rx + sum_x - x;
            out[n + plane] = before;
            out[n + 2 * plane] = g + sum_g - step;
        }
        rx += __shfl_sync(0xFFFFFFFFu, sum_x, 31);
        ry += __shfl_sync(0xFFFFFFFFu, sum_y, 31);
        g += __shfl_sync(0xFFFFFFFFu, sum_g, 31);
    }
}

// A thread to a column: row sums become D1, D2 and Q.
extern "C" __global__ void sum_columns(int height, int width, u64* tables) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > width) return;
    const long long pitch = width + 1, plane = (height + 1) * pitch;
    u64* cell = tables + 3 * blockIdx.y * plane + n;
    u64 kx = 0, ky = 0, q = 0;
    cell[0] = cell[plane] = cell[2 * plane] = 0;
#pragma unroll 8
    for (int y = 1; y <= height; ++y) {
        const u64 rx = cell[y * pitch], ry = cell[y * pitch + plane], g = cell[y * pitch + 2 * plane], x = kx + rx;
        ky += ry;
        q += g - kx - x;
        kx = x;
        cell[y * pitch] = ky - kx;
        cell[y * pitch + plane] = ky + kx;
        cell[y * pitch + 2 * plane] = q;
    }
}

// Twice the moment of a box about (y, x). Outside the image there are no forces, so the tables go on by themselves: D1 and
// D2 stay, and Q changes by what (2n - 1) KY and (2v - 1) KX do.
struct Cell {
    u64 d1, d2, q;
};

__device__ __forceinline__ Cell cell_at(const u64* tables, int height, int width, int v, int n) {
    const int row = min(max(v, 0), height), column = min(max(n, 0), width);
    const long long plane = (long long)(height + 1) * (width + 1);
    const u64* at = tables + (long long)row * (width + 1) + column;
    Cell c = {at[0], at[plane], at[2 * plane]};
    // KY - KX and KY + KX are even or odd together, so their sum and difference are whole twice over.
    c.q += (u64)(long long)(n - column) * (c.d1 + c.d2) - (u64)(long long)(v - row) * (c.d2 - c.d1);
    return c;
}

__device__ __forceinline__ u64 moment(const u64* tables, int height, int width, int y, int x, int ry, int rx) {
    const Cell ah = cell_at(tables, height, width, y + ry + 1, x + rx + 1);
    const Cell al = cell_at(tables, height, width, y + ry + 1, x - rx);
    const Cell bh = cell_at(tables, height, width, y - ry, x + rx + 1);
    const Cell bl = cell_at(tables, height, width, y - ry, x - rx);
    u64 sum = (u64)(rx + ry + 1) * (ah.d1 + al.d2 - bh.d2 - bl.d1);
    sum += (u64)(long long)(rx - ry) * (ah.d2 + al.d1 - bh.d1 - bl.d2);
    return sum - (ah.q - al.q - bh.q + bl.q);
}

// boxes: (S, 3) ry, rx, label; norms: (B, S). opened: the maps hold the best of smaller patches already.
extern "C" __global__ void far_maps(const u64* tables, int height, int width, const int* boxes, const float* norms,
                                    int count, int opened, float* value, int* scale) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    tables += 3LL * blockIdx.z * (height + 1) * (width + 1);
    const long long at = ((long long)blockIdx.z * height + y) * width + x;
    float best = opened ? value[at] : 0.0f;
    int label = opened ? abs(scale[at]) : 0;
    for (int k = 0; k < count; ++k) {
        const u64 sum = moment(tables, height, width, y, x, boxes[3 * k], boxes[3 * k + 1]);
        const float torque = __ll2float_rn((long long)sum) * norms[blockIdx.z * count + k];
        if (fabsf(torque) > fabsf(best)) {
            best = torque;
            label = boxes[3 * k + 2];
        }
    }
    value[at] = best;
    scale[at] = best < 0 ? -label : label;
}

extern "C" __global__ void far_volume(const u64* tables, int height, int width, const int* boxes, const float* norms,
                                      int count, float* volume) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    tables += 3LL * blockIdx.z * (height + 1) * (width + 1);
    const long long pixels = (long long)height * width;
    volume += blockIdx.z * count * pixels + (long long)y * width + x;
    for (int k = 0; k < count; ++k) {
        const u64 sum = moment(tables, height, width, y, x, boxes[3 * k], boxes[3 * k + 1]);
        volume[k * pixels] = __ll2float_rn((long long)sum) * norms[blockIdx.z * count + k];
    }
}
