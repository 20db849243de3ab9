// Running sums of doubles down the columns, one addition after the other: the order, and so the bits, of the library.
extern "C" __global__ void running_sums(const double* values, int height, long long width, double* sums) {
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    values += (long long)blockIdx.y * height * width + x;
    sums += (long long)blockIdx.y * (height + 1) * width + x;
    double sum = 0;
    sums[0] = 0;
#pragma unroll 8
    for (int y = 0; y < height; ++y) {
        sum += values[y * width];
        sums[(y + 1) * width] = sum;
    }
}
