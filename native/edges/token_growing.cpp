// Features are bytes, so samples are put in order by counting. When a sample of class c goes from one side of a split
// to the other, its sides' sums of squared class counts change by 2 n_c + 1 and 2 m_c - 1: a threshold costs no more
// than the samples it moves, however many classes there are. The least impurity is the largest sum over both sides of
// (sum of squared counts) / (count).
#include <array>
#include <numeric>

#include "core/parallel.hpp"
#include "edges/token_trees.hpp"

namespace imtorque {
namespace {

constexpr int kValues = 256;  // of a byte: features and classes
using Counts = std::array<int32_t, kValues>;

// Marsaglia's xorshift, as in SplitMix64's companion xorshift64*: the same numbers everywhere.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
    int below(int n) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return static_cast<int>(((state_ * 0x2545F4914F6CDD1DULL) >> 33) % static_cast<uint64_t>(n));
    }

  private:
    uint64_t state_;
};

struct Split {
    double score = -1;
    int column = -1;
    uint8_t threshold = 0;
};

struct Part {
    int node, begin, end;
};

class Grower {
  public:
    Grower(const uint8_t* features, const uint8_t* classes, int columns, int count, int least, uint64_t seed)
        : features_(features),
          classes_(classes),
          count_(count),
          least_(least),
          random_(seed),
          order_(count),
          moved_(count),
          own_(count),
          values_(count),
          sorted_(count),
          columns_(columns) {
        std::iota(order_.begin(), order_.end(), 0);
        std::iota(columns_.begin(), columns_.end(), 0);
    }

    TokenTree grow(int tried, int32_t* leaf) {
        std::vector<Part> waiting = {{add_node(), 0, count_}};
        while (!waiting.empty()) {
            const Part part = waiting.back();
            waiting.pop_back();
            const Split split = best_split(part, tried);
            if (split.column < 0) {
                for (int i = part.begin; i < part.end; ++i) leaf[order_[i]] = part.node;
                continue;
            }
            const int middle = divide(part, split), child = add_node();
            add_node();
            tree_.column[part.node] = split.column;
            tree_.threshold[part.node] = split.threshold;
            tree_.child[part.node] = child;
            waiting.push_back({child + 1, middle, part.end});
            waiting.push_back({child, part.begin, middle});
        }
        return std::move(tree_);
    }

  private:
    int add_node() {
        tree_.column.push_back(-1);
        tree_.threshold.push_back(0);
        tree_.child.push_back(0);
        return static_cast<int>(tree_.child.size()) - 1;
    }

    Split best_split(const Part& part, int tried) {
        Counts counts = {};
        const int size = part.end - part.begin;
        for (int i = 0; i < size; ++i) ++counts[own_[i] = classes_[order_[part.begin + i]]];
        Split best;
        if (size < 2 * least_ || counts[own_[0]] == size) return best;
        for (int t = 0; t < tried; ++t) {  // the first `tried` of a shuffle
            poll_();
            std::swap(columns_[t], columns_[t + random_.below(static_cast<int>(columns_.size()) - t)]);
            try_column(part, columns_[t], counts, best);
        }
        return best;
    }

    // The classes of a part's samples in order of the feature, and how many have each value.
    void sort_classes(const Part& part, const uint8_t* feature, Counts& sizes) {
        sizes = {};
        const int size = part.end - part.begin;
        for (int i = 0; i < size; ++i) ++sizes[values_[i] = feature[order_[part.begin + i]]];
        Counts place;
        std::exclusive_scan(sizes.begin(), sizes.end(), place.begin(), 0);
        for (int i = 0; i < size; ++i) sorted_[place[values_[i]]++] = own_[i];
    }

    void try_column(const Part& part, int column, const Counts& counts, Split& best) {
        Counts sizes, left = {}, right = counts;
        sort_classes(part, features_ + static_cast<size_t>(column) * count_, sizes);
        int64_t left_squares = 0, right_squares = 0;
        for (int64_t n : counts) right_squares += n * n;
        const int size = part.end - part.begin;
        int moved = 0;
        for (int value = 0; value < kValues - 1 && size - moved >= least_; ++value) {
            if (sizes[value] == 0) continue;
            for (const int end = moved + sizes[value]; moved < end; ++moved) {
                const uint8_t c = sorted_[moved];
                left_squares += 2 * left[c]++ + 1;
                right_squares -= 2 * right[c]-- - 1;
            }
            if (moved < least_ || size - moved < least_) continue;
            const double score =
                static_cast<double>(left_squares) / moved + static_cast<double>(right_squares) / (size - moved);
            if (score > best.score || (score == best.score && column < best.column))
                best = {score, column, static_cast<uint8_t>(value)};
        }
    }

    // Put samples that go to the left before the others, both in their order; return where the others begin.
    int divide(const Part& part, const Split& split) {
        const uint8_t* feature = features_ + static_cast<size_t>(split.column) * count_;
        int left = part.begin, right = 0;
        for (int i = part.begin; i < part.end; ++i) {
            if (feature[order_[i]] <= split.threshold)
                order_[left++] = order_[i];
            else
                moved_[right++] = order_[i];
        }
        std::copy(moved_.begin(), moved_.begin() + right, order_.begin() + left);
        return left;
    }

    const uint8_t *features_, *classes_;
    int count_, least_;
    Random random_;
    Poll poll_{8};
    std::vector<int32_t> order_, moved_;
    std::vector<uint8_t> own_, values_, sorted_;  // classes in order, features, classes in order of the feature
    std::vector<int32_t> columns_;
    TokenTree tree_;
};

}  // namespace

TokenTree grow_token_tree(const uint8_t* features, const uint8_t* classes, int columns, int count, int tried, int least,
                          uint64_t seed, int32_t* leaf) {
    return Grower(features, classes, columns, count, least, seed).grow(tried, leaf);
}

}  // namespace imtorque
