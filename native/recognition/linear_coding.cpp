// Locality-constrained linear coding (Wang et al. 2010). Finding the nearest words is nearly all of the work and lies
// in nearest_words.cpp; here are the small systems, one per descriptor, and max pooling. Naive twins:
// naive.linear_codes, naive.max_pool, naive.sum_by_word.
#include "recognition/linear_coding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "recognition/nearest_words.hpp"

namespace imtorque {
namespace {

constexpr int kChunk = 4 * kBatch;  // descriptors a task takes
constexpr double kTermTime = 0.05;  // nanoseconds for a term of a distance, about

// covariance[i][j] = z_i . z_j; eight sums side by side, added in one order. `z` rows are padded to whole vectors.
IMTORQUE_INLINE void covariance_impl(const float* z, int padded, int count, double* covariance) {
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j <= i; ++j) {
            Lanes<float> sum = {}, a, b;
            for (int k = 0; k < padded; k += kLanes) {
                load(z + static_cast<size_t>(i) * padded + k, a);
                load(z + static_cast<size_t>(j) * padded + k, b);
                sum += a * b;
            }
            double total = 0;
            for (int lane = 0; lane < kLanes; ++lane) total += sum[lane];
            covariance[i * count + j] = total;
        }
    }
}
IMTORQUE_DISPATCH(static, covariance, (const float* z, int padded, int count, double* covariance),
                  (z, padded, count, covariance))

// Solve C c = 1 by Cholesky's method; only the lower half of C is read, and it is overwritten.
void solve_ones(double* c, int n, double* result) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = c[i * n + j];
            for (int k = 0; k < j; ++k) sum -= c[i * n + k] * c[j * n + k];
            c[i * n + j] = i == j ? std::sqrt(sum) : sum / c[j * n + j];
        }
    }
    for (int i = 0; i < n; ++i) {
        double sum = 1;
        for (int k = 0; k < i; ++k) sum -= c[i * n + k] * result[k];
        result[i] = sum / c[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = result[i];
        for (int k = i + 1; k < n; ++k) sum -= c[k * n + i] * result[k];
        result[i] = sum / c[i * n + i];
    }
}

struct Scratch {
    std::vector<float> z;
    std::vector<double> c, solution;
};

void weigh(const float* x, int length, const float* words, const int32_t* index, int neighbours, double beta,
           Scratch& scratch, float* weight) {
    const int padded = (length + kLanes - 1) / kLanes * kLanes;
    for (int i = 0; i < neighbours; ++i) {
        const float* word = words + static_cast<size_t>(index[i]) * length;
        float* z = scratch.z.data() + static_cast<size_t>(i) * padded;
        for (int k = 0; k < length; ++k) z[k] = word[k] - x[k];
    }
    double* c = scratch.c.data();
    covariance(scratch.z.data(), padded, neighbours, c);
    double trace = 0;
    for (int i = 0; i < neighbours; ++i) trace += c[i * neighbours + i];
    const double ridge = trace > 1e-30 ? beta * trace : 1;  // a descriptor equal to all its words: all alike
    for (int i = 0; i < neighbours; ++i) c[i * neighbours + i] += ridge;
    solve_ones(c, neighbours, scratch.solution.data());
    double sum = 0;
    for (int i = 0; i < neighbours; ++i) sum += scratch.solution[i];
    for (int i = 0; i < neighbours; ++i) weight[i] = static_cast<float>(scratch.solution[i] / sum);
}

}  // namespace

void linear_codes(const float* x, int n, int length, const float* words, int count, int neighbours, double beta,
                  int32_t* index, float* weight) {
    const Words packed(words, count, length);
    parallel_for((n + kChunk - 1) / kChunk, kTermTime * kChunk * count * length, [&](int chunk) {
        const size_t from = static_cast<size_t>(chunk) * kChunk;
        const int size = static_cast<int>(std::min<size_t>(kChunk, n - from));
        int32_t* own = index + from * neighbours;
        packed.nearest(x + from * length, size, neighbours, own);
        const size_t padded = (static_cast<size_t>(length) + kLanes - 1) / kLanes * kLanes;
        Scratch scratch{std::vector<float>(padded * neighbours), std::vector<double>(neighbours * neighbours),
                        std::vector<double>(neighbours)};
        for (int i = 0; i < size; ++i)
            weigh(x + (from + i) * length, length, words, own + static_cast<size_t>(i) * neighbours, neighbours, beta,
                  scratch, weight + (from + i) * neighbours);
    });
}

void max_pool(const int32_t* index, const float* weight, int n, int neighbours, const int32_t* cell, int levels,
              int words, int cells, float* pooled) {
    std::fill_n(pooled, static_cast<size_t>(cells) * words, 0.0f);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        for (int level = 0; level < levels; ++level) {
            float* row = pooled + static_cast<size_t>(cell[i * levels + level]) * words;
            for (size_t j = i * neighbours; j < (i + 1) * neighbours; ++j)
                row[index[j]] = std::max(row[index[j]], weight[j]);
        }
    }
}

void sum_by_word(const float* x, int n, int length, const float* words, int count, double* sums, int64_t* counts,
                 int32_t* index) {
    const Words packed(words, count, length);
    parallel_for((n + kChunk - 1) / kChunk, kTermTime * kChunk * count * length, [&](int chunk) {
        const size_t from = static_cast<size_t>(chunk) * kChunk;
        packed.nearest(x + from * length, static_cast<int>(std::min<size_t>(kChunk, n - from)), 1, index + from);
    });
    std::fill_n(sums, static_cast<size_t>(count) * length, 0.0);
    std::fill_n(counts, count, int64_t{0});
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        double* sum = sums + static_cast<size_t>(index[i]) * length;
        const float* descriptor = x + i * length;
        for (int k = 0; k < length; ++k) sum[k] += descriptor[k];
        ++counts[index[i]];
    }
}

}  // namespace imtorque
