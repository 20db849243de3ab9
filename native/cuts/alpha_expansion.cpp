// Expansion moves (Boykov, Veksler & Zabih, PAMI 23(11), 2001): let any set of pixels change to the label alpha at once.
// The best such move is a minimum cut. With x = 1 for "takes alpha", a link's cost over (x_p, x_q) is
//     A = V(f_p, f_q) at 00,  B = V(f_p, alpha) at 01,  C = V(alpha, f_q) at 10,  0 at 11
//     = A + (C - A) x_p - C x_q + (B + C - A) (1 - x_p) x_q                 (Kolmogorov & Zabih, PAMI 26(2), 2004)
// so it is one arc from q to p, not negative where V is a metric, and terms for the terminals: no auxiliary nodes. Alpha is
// the source's side; of equal moves the one that changes fewest pixels is taken, and one that does not lower the energy
// (which is summed afresh) is taken back, so that the energy never rises. The plain twin is expansion_move() in
// tests/naive.py.
#include "cuts/alpha_expansion.hpp"

#include <vector>

#include "cuts/grid_flow.hpp"

namespace imtorque {
namespace {

template <int kDirections, bool kWrap>
class Expansion {
   public:
    Expansion(const GridLinks& links, const double* unary, const double* metric, int count, std::int32_t* labels)
        : links_(links),
          families_(families_of(links)),
          unary_(unary),
          metric_(metric),
          count_(count),
          labels_(labels),
          pixels_(static_cast<std::int64_t>(links.height) * links.width),
          flow_(links.height, links.width) {
        double spread = 0;
        for (int i = 0; i < count * count; ++i) spread = std::max(spread, metric[i]);
        steps_ = steps_for(2 * spread * largest_weight(families_));
    }

    double run(int cycles) {
        double energy = this->energy();
        int settled = 0;  // labels in a row that could not gain
        for (int cycle = 0; cycle < cycles; ++cycle)
            for (int alpha = 0; alpha < count_ && settled < count_; ++alpha) {
                const double lower = expand(alpha, energy);
                settled = lower < energy ? 1 : settled + 1;  // right after its own move a label has nothing to gain
                energy = lower;
            }
        return energy;
    }

   private:
    double energy() const {
        double total = 0;
        for (std::int64_t p = 0; p < pixels_; ++p) total += unary_[labels_[p] * pixels_ + p];
        for (const LinkFamily& family : families_) {
            const double* weight = family.weight;
            for (int y = 0; y < family.rows; ++y) {
                const std::int32_t* from = &labels_[static_cast<std::int64_t>(y) * links_.width + family.from_x];
                const std::int32_t* to = other_end(family, y);
                for (int x = 0; x < family.columns; ++x) total += *weight++ * metric_[from[x] * count_ + to[x]];
            }
        }
        return total;
    }

    // The labels at the far ends of the links that start in row y.
    const std::int32_t* other_end(const LinkFamily& family, int y) const {
        const int row = y + family.dy < links_.height ? y + family.dy : 0;
        return &labels_[static_cast<std::int64_t>(row) * links_.width + family.from_x + family.dx];
    }

    double expand(int alpha, double energy) {
        flow_.clear();
        excess_.resize(pixels_);
        for (std::int64_t p = 0; p < pixels_; ++p)
            excess_[p] = unary_[labels_[p] * pixels_ + p] - unary_[alpha * pixels_ + p];
        for (int k = 0; k < kDirections / 2; ++k) add_links(families_[k], &metric_[alpha * count_]);
        std::int64_t p = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < links_.width; ++x, ++p)
                if (labels_[p] != alpha) flow_.set_terminal(flow_.node(y, x), excess_[p] * steps_);
        flow_.solve();

        before_.assign(labels_, labels_ + pixels_);
        bool changed = false;
        p = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < links_.width; ++x, ++p)
                if (labels_[p] != alpha && flow_.on_source_side(flow_.node(y, x))) {
                    labels_[p] = alpha;
                    changed = true;
                }
        if (!changed) return energy;
        const double lower = this->energy();
        if (lower < energy) return lower;
        std::copy(before_.begin(), before_.end(), labels_);
        return energy;
    }

    void add_links(const LinkFamily& family, const double* to_alpha) {
        const double* weights = family.weight;
        for (int y = 0; y < family.rows; ++y) {
            const std::int64_t start = static_cast<std::int64_t>(y) * links_.width + family.from_x;
            const std::int32_t *from = &labels_[start], *to = other_end(family, y);
            double *excess_p = &excess_[start], *excess_q = &excess_[to - labels_];
            std::int64_t node = flow_.node(y, family.from_x);
            for (int x = 0; x < family.columns; ++x, ++node) {
                const double weight = *weights++;
                const double a = weight * metric_[from[x] * count_ + to[x]];
                const double b = weight * to_alpha[from[x]], c = weight * to_alpha[to[x]];
                excess_p[x] += a - c;
                excess_q[x] += c;
                const double arc = std::max(b + c - a, 0.0);
                flow_.set_arc(node, family.direction, 0, static_cast<std::int64_t>(arc * steps_ + 0.5));
            }
        }
    }

    const GridLinks& links_;
    const std::array<LinkFamily, 4> families_;
    const double *unary_, *metric_;
    const int count_;
    std::int32_t* labels_;
    const std::int64_t pixels_;
    GridFlow<kDirections, kWrap> flow_;
    double steps_ = 1;
    std::vector<double> excess_;
    std::vector<std::int32_t> before_;
};

template <int kDirections, bool kWrap>
double run(const GridLinks& links, const double* unary, const double* metric, int count, int cycles, std::int32_t* labels) {
    return Expansion<kDirections, kWrap>(links, unary, metric, count, labels).run(cycles);
}

}  // namespace

double alpha_expansion(const GridLinks& links, const double* unary, const double* metric, int count, int cycles,
                       std::int32_t* labels) {
    if (links.diagonal)
        return links.wrap_rows ? run<8, true>(links, unary, metric, count, cycles, labels)
                               : run<8, false>(links, unary, metric, count, cycles, labels);
    return links.wrap_rows ? run<4, true>(links, unary, metric, count, cycles, labels)
                           : run<4, false>(links, unary, metric, count, cycles, labels);
}

}  // namespace imtorque
