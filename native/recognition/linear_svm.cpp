// Dual coordinate descent (Hsieh et al. 2008) on the matrix of inner products. All machines share a row of it: the
// scores of one example under a group of machines are one pass over the row and over the group's coefficients, which
// stay in the second-level cache, a lane per machine. Machines do not influence each other, so groups run in parallel
// and results do not depend on how. Naive twin: naive.train_linear_svms.
#include "recognition/linear_svm.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace imtorque {
namespace {

constexpr int kVectors = 4;
constexpr int kGroup = kVectors * kLanes;  // machines trained together

IMTORQUE_INLINE void scores_impl(const float* row, const float* coefficient, int n, float* score) {
    Lanes<float> sum[kVectors] = {}, c;
    for (int j = 0; j < n; ++j) {
        const float product = row[j];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            load(coefficient + static_cast<size_t>(j) * kGroup + v * kLanes, c);
            sum[v] += product * c;
        }
    }
    for (int v = 0; v < kVectors; ++v) store(sum[v], score + v * kLanes);
}
IMTORQUE_DISPATCH(static, scores, (const float* row, const float* coefficient, int n, float* score),
                  (row, coefficient, n, score))

struct Order {  // a shuffled order of the examples, the same on every computer
    std::vector<int> of;
    uint64_t state = 0x9E3779B97F4A7C15ull;
    explicit Order(int n) : of(n) {
        for (int i = 0; i < n; ++i) of[i] = i;
    }
    void shuffle() {
        for (size_t i = of.size(); i > 1; --i) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            std::swap(of[i - 1], of[state % i]);
        }
    }
};

// One group of machines; `coefficient` is theirs alone, [example][machine].
int train_group(const float* k, int n, const int32_t* label, int first, int machines, double cost, double tolerance,
                int most, float* coefficient) {
    const float ridge = static_cast<float>(1 / (2 * cost));
    Order order(n);
    float score[kGroup];
    for (int pass = 1; pass <= most; ++pass) {
        order.shuffle();
        float steepest = 0;
        for (int i : order.of) {
            check_interrupt();
            const float* row = k + static_cast<size_t>(i) * n;
            float* own = coefficient + static_cast<size_t>(i) * kGroup;
            scores(row, coefficient, n, score);
            for (int m = 0; m < machines; ++m) {
                const float y = label[i] == first + m ? 1.0f : -1.0f;
                const float alpha = y * own[m];
                const float slope = y * score[m] - 1 + alpha * ridge;
                const float projected = alpha > 0 ? slope : std::min(slope, 0.0f);
                steepest = std::max(steepest, std::fabs(projected));
                own[m] = y * std::max(alpha - slope / (row[i] + ridge), 0.0f);
            }
        }
        if (steepest <= tolerance) return pass;
    }
    return most;
}

}  // namespace

int train_linear_svms(const float* k, int n, const int32_t* label, int classes, double cost, double tolerance, int most,
                      float* coefficient) {
    std::atomic<int> passes{0};
    parallel_for((classes + kGroup - 1) / kGroup, 10.0 * n * n, [&](int group) {
        const int first = group * kGroup, own = std::min(kGroup, classes - first);
        std::unique_ptr<float[]> part(new float[static_cast<size_t>(n) * kGroup]());
        for (int i = 0; i < n; ++i)
            std::copy_n(coefficient + static_cast<size_t>(i) * classes + first, own,
                        part.get() + static_cast<size_t>(i) * kGroup);
        const int made = train_group(k, n, label, first, own, cost, tolerance, most, part.get());
        for (int i = 0; i < n; ++i)
            std::copy_n(part.get() + static_cast<size_t>(i) * kGroup, own,
                        coefficient + static_cast<size_t>(i) * classes + first);
        int seen = passes.load();
        while (made > seen && !passes.compare_exchange_weak(seen, made)) {
        }
    });
    return passes.load();
}

}  // namespace imtorque
