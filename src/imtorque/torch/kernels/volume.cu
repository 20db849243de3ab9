// The volume: the torque of all squares, size by size.
//
// A thread has a tile of J x C pixels (C is 4), or, for few sizes, J pixels below each other (C is 1).
// Set by the host: UNROLLED (sizes together), and what tables.cu needs.
#if C > 1
// What a thread keeps of the tables for its J x C pixels: D and Q of their four corners. From one half-size to the next,
// corners move along diagonals, so that a pixel takes over those that a neighbour had; only pixels on two sides of the
// tile load new ones.
struct Tile {
    uint2 lower_right[J][C], upper_left[J][C], lower_left[J][C], upper_right[J][C];
};

// Where the columns of the corners on the right and on the left of a thread's pixels lie in a row. They move by one from
// one half-size to the next.
struct Places {
    int right[C], left[C];
};

__device__ __forceinline__ int place_of(int column) { return PLACE(REACH + column) + threadIdx.x % ACROSS; }

__device__ __forceinline__ void start_places(int r, Places& p) {
#pragma unroll
    for (int o = 0; o < C; ++o) {
        p.right[o] = place_of(o + r + 1);
        p.left[o] = place_of(o - r);
    }
}

__device__ __forceinline__ void next_places(int r, Places& p) {  // from r - 1 to r
#pragma unroll
    for (int o = 0; o < C - 1; ++o) {
        p.right[o] = p.right[o + 1];
        p.left[C - 1 - o] = p.left[C - 2 - o];
    }
    p.right[C - 1] = place_of(C + r);
    p.left[0] = place_of(-r);
}

// a, b: rows of the ring below and above the first row of pixels; all: nothing is there to take over.
__device__ __forceinline__ void take_corners(const u32* ring, int a, int b, const Places& p, bool all, Tile& t) {
    const u32 *below = ring + a * ROW, *above = ring + b * ROW;
#pragma unroll
    for (int m = 0; m < J; ++m)
#pragma unroll
        for (int o = 0; o < C; ++o) {
            const u32 *h = below + p.right[o], *l = below + p.left[o];
            if (!all && m + 1 < J && o + 1 < C)
                t.lower_right[m][o] = t.lower_right[m + 1][o + 1];
            else
                t.lower_right[m][o] = make_uint2(h[m * ROW], h[m * ROW + 2 * W]);
            if (!all && m + 1 < J && o > 0)
                t.lower_left[m][o] = t.lower_left[m + 1][o - 1];
            else
                t.lower_left[m][o] = make_uint2(l[m * ROW + W], l[m * ROW + 2 * W]);
        }
#pragma unroll
    for (int m = J - 1; m >= 0; --m)
#pragma unroll
        for (int o = 0; o < C; ++o) {
            const u32 *h = above + p.right[o], *l = above + p.left[o];
            if (!all && m > 0 && o > 0)
                t.upper_left[m][o] = t.upper_left[m - 1][o - 1];
            else
                t.upper_left[m][o] = make_uint2(l[m * ROW], l[m * ROW + 2 * W]);
            if (!all && m > 0 && o + 1 < C)
                t.upper_right[m][o] = t.upper_right[m - 1][o + 1];
            else
                t.upper_right[m][o] = make_uint2(h[m * ROW + W], h[m * ROW + 2 * W]);
        }
}

__device__ __forceinline__ float tile_torque(const Tile& t, int m, int o, u32 side, float norm) {
    const uint2 lr = t.lower_right[m][o], ur = t.upper_right[m][o], ll = t.lower_left[m][o], ul = t.upper_left[m][o];
    const u32 d = lr.x - ur.x + ll.x - ul.x, q = lr.y - ur.y - ll.y + ul.y;
    return __int2float_rn((int)(side * d - q)) * norm;
}
#endif

struct Out {
    float* at;  // of the first pixel of this thread
    long long plane;
    int pitch;  // from one pixel of this thread to the next
};

// The J rows from any row of the ring follow each other in memory: its first ones are there again after its last.
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

#if C > 1
// WHOLE: all pixels of the tile are inside the band, and aligned; else those in the rows `mine` and the first `room` columns.
template <bool WHOLE>
__device__ __forceinline__ void write_tile(const Tile& t, int r, float norm, const Out& out, int room,
                                           const bool* mine) {
#pragma unroll
    for (int m = 0; m < J; ++m) {
        float v[C];
#pragma unroll
        for (int o = 0; o < C; ++o) v[o] = tile_torque(t, m, o, 2 * r + 1, norm);
        float* at = out.at + (long long)m * out.pitch;
        if (WHOLE)
            __stcs((float4*)at, make_float4(v[0], v[1], v[2], v[3]));
        else
#pragma unroll
            for (int o = 0; o < C; ++o)
                if (mine[m] && o < room) at[o] = v[o];
    }
}

template <bool WHOLE>
__device__ __forceinline__ void write_tiles(const u32* ring, const Squares& s, const int2* factors, int i0, int first,
                                            int end, Out out, int room, const bool* mine) {
    int k = first;
    while (k < end) {
        int r = s.half[k], last = k;  // of the run of half-sizes that follow each other
        while (last + 1 < end && s.half[last + 1] == s.half[last] + 1) ++last;
        int a = (i0 + r + 1) % RING, b = (i0 - r + RING) % RING;
        Places p;
        start_places(r, p);
        Tile t;
        take_corners(ring, a, b, p, true, t);
        write_tile<WHOLE>(t, r, __int_as_float(factors[k].x), out, room, mine);
        out.at += out.plane;
#pragma unroll UNROLLED
        for (++k; k <= last; ++k) {
            ++r;
            a = a + 1 < RING ? a + 1 : 0;
            b = b > 0 ? b - 1 : RING - 1;
            next_places(r, p);
            take_corners(ring, a, b, p, false, t);
            write_tile<WHOLE>(t, r, __int_as_float(factors[k].x), out, room, mine);
            out.at += out.plane;
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    torque_volume(Image image, Squares squares, int reach, int rows_per_band, float* volume) {
    const int part = threadIdx.x / (ACROSS * GY), count = squares.count;
    const int first = count * part / PARTS, end = count * (part + 1) / PARTS;
    const auto task = [&](const u32* ring, const int2* factors, int i0, int row, int x, const bool* mine) {
        const long long plane = (long long)image.height * image.width;
        float* at = volume + ((long long)blockIdx.z * count + first) * plane + (long long)row * image.width + x;
        const Out out = {at, plane, image.width};
        if (first == end) return;
#if C > 1
        bool whole = image.width % 4 == 0 && (long long)volume % 16 == 0;
        for (int m = 0; m < J; ++m) whole &= mine[m];
        if (whole)
            write_tiles<true>(ring, squares, factors, i0, first, end, out, C, mine);
        else
            write_tiles<false>(ring, squares, factors, i0, first, end, out, image.width - x, mine);
#else
        write_below(ring, squares, factors, i0, REACH + threadIdx.x % TX, first, end, out, mine);
#endif
    };
    walk_strip(image, squares, reach, rows_per_band, 0, task);
}
