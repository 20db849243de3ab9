// Value and scale maps of all squares.
struct Best {
    float value[J];
    int label[J];
};

__device__ __forceinline__ void select(const u32* ring, const Walk& w, int r, int2 factor, Best& best) {
#pragma unroll
    for (int j = 0; j < J; ++j) {
        const float torque = walk_torque(ring, w, j, 2 * r + 1, __int_as_float(factor.x));
        const bool larger = fabsf(torque) > fabsf(best.value[j]);
        best.value[j] = larger ? torque : best.value[j];
        best.label[j] = larger ? factor.y : best.label[j];
    }
}

// The best of all squares for the J pixels of this thread.
__device__ __forceinline__ void select_all(const u32* ring, const Squares& s, const int2* factors, int i0, int c0,
                                           Best& best) {
    int k = 0;
    while (k < s.count) {
        int r = s.half[k];
        const int last = s.count - 1;
        int end = k;  // of the run of half-sizes that follow each other
        while (end < last && s.half[end + 1] == s.half[end] + 1) ++end;
        Walk w;
        start_walk(ring, i0, c0, r, w);
        select(ring, w, r, factors[k], best);
#pragma unroll 4
        for (++k; k <= end; ++k) {
            ++r;
            next_walk(ring, c0, r, w);
            select(ring, w, r, factors[k], best);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    value_and_scale(Image image, Squares squares, int reach, int rows_per_band, float* value, int* scale) {
    const auto task = [&](const u32* ring, const int2* factors, int i0, int row, int x, const bool* mine) {
        Best best = {};
        select_all(ring, squares, factors, i0, REACH + threadIdx.x % TX, best);
#pragma unroll
        for (int j = 0; j < J; ++j)
            if (mine[j]) {
                const long long i = ((long long)blockIdx.z * image.height + row + j) * image.width + x + j;
                value[i] = best.value[j];
                scale[i] = best.value[j] < 0 ? -best.label[j] : best.label[j];
            }
    };
    walk_strip(image, squares, reach, rows_per_band, 1, task);
}
