// The volume: the torque of all squares, size by size.
//
// Set by the host: PARTS (sets of threads that share the sizes of the same pixels), SKEW (1: J pixels on a diagonal, 5
// loads for each; 0: below each other, 8 loads, and whole rows are written together), and what tables.cu needs.
struct Out {
    float* at;  // of the first pixel of this thread
    long long plane;
    int pitch;  // from one pixel of this thread to the next
};

// Row J - 1 of the ring's rows that follow row `i` is never beyond its end, whose first rows are there again: MIRROR.
__device__ __forceinline__ void write_below(const u32* ring, const Squares& s, const int2* factors, int i0, int c0,
                                            int first, int end, Out out, const bool* mine) {
    int r = s.half[first];
    int a = (i0 + r + 1) % RING, b = (i0 - r + RING) % RING;
    for (int k = first; k < end; ++k) {
        const u32 *ah = ring + a * ROW + c0 + r + 1, *al = ah - 2 * r - 1;
        const u32 *bh = ring + b * ROW + c0 + r + 1, *bl = bh - 2 * r - 1;
        const float norm = __int_as_float(factors[k].x);
#pragma unroll
        for (int j = 0; j < J; ++j) {
            const int n = j * ROW;
            const u32 d = ah[n] - bh[n + W] + al[n + W] - bl[n];
            const u32 q = ah[n + 2 * W] - bh[n + 2 * W] - al[n + 2 * W] + bl[n + 2 * W];
            if (mine[j])
                __stcs(out.at + (long long)j * out.pitch, __int2float_rn((int)((2 * r + 1) * d - q)) * norm);
        }
        out.at += out.plane;
        const int grown = s.half[min(k + 1, s.count - 1)] - r;
        r += grown;
        a += grown;
        if (a >= RING) a -= RING;
        b -= grown;
        if (b < 0) b += RING;
    }
}

__device__ __forceinline__ void write_walk(const u32* ring, const Walk& w, int r, float norm, Out& out,
                                           const bool* mine) {
#pragma unroll
    for (int j = 0; j < J; ++j)
        if (mine[j]) out.at[(long long)j * out.pitch] = walk_torque(ring, w, j, 2 * r + 1, norm);
    out.at += out.plane;
}

__device__ __forceinline__ void write_diagonal(const u32* ring, const Squares& s, const int2* factors, int i0, int c0,
                                               int first, int end, Out out, const bool* mine) {
    int k = first;
    while (k < end) {
        int r = s.half[k], last = k;  // of the run of half-sizes that follow each other
        while (last + 1 < end && s.half[last + 1] == s.half[last] + 1) ++last;
        Walk w;
        start_walk(ring, i0, c0, r, w);
        write_walk(ring, w, r, __int_as_float(factors[k].x), out, mine);
#pragma unroll 4
        for (++k; k <= last; ++k) {
            ++r;
            next_walk(ring, c0, r, w);
            write_walk(ring, w, r, __int_as_float(factors[k].x), out, mine);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    torque_volume(Image image, Squares squares, int reach, int rows_per_band, float* volume) {
    const int part = threadIdx.x / (TX * GY), count = squares.count;
    const int first = count * part / PARTS, end = count * (part + 1) / PARTS;
    const auto task = [&](const u32* ring, const int2* factors, int i0, int row, int x, const bool* mine) {
        const long long plane = (long long)image.height * image.width;
        float* at = volume + ((long long)blockIdx.z * count + first) * plane + (long long)row * image.width + x;
        const Out out = {at, plane, image.width + SKEW};
        if (first == end) return;
        if (SKEW)
            write_diagonal(ring, squares, factors, i0, REACH + threadIdx.x % TX, first, end, out, mine);
        else
            write_below(ring, squares, factors, i0, REACH + threadIdx.x % TX, first, end, out, mine);
    };
    walk_strip(image, squares, reach, rows_per_band, SKEW, task);
}
