// Expansion moves (Boykov, Veksler & Zabih, PAMI 23(11), 2001): let any set of pixels change to the label alpha at
// once. The best such move is a minimum cut. With x = 1 for "takes alpha", a link's cost over (x_p, x_q) is
//     A = V(f_p, f_q) at 00,  B = V(f_p, alpha) at 01,  C = V(alpha, f_q) at 10,  0 at 11
//     = A - D x_p - min(A, C) x_q + max(C - A, 0) x_p (1 - x_q) + (B - D) (1 - x_p) x_q,  D = max(A - C, 0)
// so it is an arc either way, not negative where V is a metric, and what p and q gain by alpha: no auxiliary nodes
// (Kolmogorov & Zabih, PAMI 26(2), 2004). Of the many such forms this one has gains that are not negative and no more
// than the link costs now, so that those of wide links cannot swamp the costs of pixels, and between equal labels, of
// which most links are, none at all. Alpha is the source's side; of equal moves the one that changes fewest pixels is
// taken, and one that does not lower the energy (which is summed afresh) is taken back, so that the energy never rises.
// The plain twin is expansion_move() in tests/naive.py.
#include "cuts/alpha_expansion.hpp"

#include <vector>

#include "cuts/exact_cut.hpp"
#include "cuts/grid_flow.hpp"

namespace imtorque {
namespace {

// What a link of infinite weight costs between labels of distance zero is nothing.
inline double link_cost(double weight, double distance) { return distance > 0 ? weight * distance : 0; }

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
          flow_(links.height, links.width),
          excess_(pixels_) {
        double spread = 0;
        for (int i = 0; i < count * count; ++i) spread = std::max(spread, metric[i]);
        widest_ = link_cost(largest_weight(families_), spread);
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

    // The problem of a move to alpha_, for cheapest_cut().
    template <class Visit>
    void arcs(Visit visit) const {
        for (int k = 0; k < kDirections / 2; ++k) {
            const LinkFamily& family = families_[k];
            visit_links(family, [&](std::int64_t node, std::int64_t p, std::int64_t q, double weight) {
                const LinkTerms terms = terms_of(weight, labels_[p], labels_[q]);
                visit(flow_.arc(node, family.direction), terms.forth, terms.back);
            });
        }
    }

    template <class Visit>
    void terminals(Visit visit) const {
        std::int64_t p = 0;
        for (int y = 0; y < links_.height; ++y)
            for (int x = 0; x < links_.width; ++x, ++p)
                if (labels_[p] != alpha_) visit(flow_.node(y, x), excess_[p]);
    }

  private:
    // What either end of a link gains by taking alpha, and the arcs from the first to the second and back.
    struct LinkTerms {
        double first, second, forth, back;
    };

    LinkTerms terms_of(double weight, std::int32_t p, std::int32_t q) const {
        const double* to_alpha = &metric_[alpha_ * count_];
        const double a = link_cost(weight, metric_[p * count_ + q]);
        const double b = link_cost(weight, to_alpha[p]), c = link_cost(weight, to_alpha[q]);
        const double first = std::max(a - c, 0.0);
        return {first, std::min(a, c), std::max(c - a, 0.0), std::max(b - first, 0.0)};
    }

    template <class Visit>
    void visit_links(const LinkFamily& family, Visit visit) const {
        const double* weight = family.weight;
        Poll poll(16);
        for (int y = 0; y < family.rows; ++y) {
            poll();
            const int below = y + family.dy < links_.height ? y + family.dy : 0;
            std::int64_t p = static_cast<std::int64_t>(y) * links_.width + family.from_x;
            std::int64_t q = static_cast<std::int64_t>(below) * links_.width + family.from_x + family.dx;
            std::int64_t node = flow_.node(y, family.from_x);
            for (int x = 0; x < family.columns; ++x) visit(node++, p++, q++, *weight++);
        }
    }

    double energy() const {
        double total = 0;
        for (std::int64_t p = 0; p < pixels_; ++p) total += unary_[labels_[p] * pixels_ + p];
        for (const LinkFamily& family : families_)
            visit_links(family, [&](std::int64_t, std::int64_t p, std::int64_t q, double weight) {
                total += link_cost(weight, metric_[labels_[p] * count_ + labels_[q]]);
            });
        return total;
    }

    double expand(int alpha, double energy) {
        alpha_ = alpha;
        find_excess();
        double given = 0, taken = 0;
        terminals([&](std::int64_t, double excess) { (excess > 0 ? given : taken) += std::abs(excess); });
        if (given == 0) return energy;  // no pixel gains
        cheapest_cut(flow_, *this, std::min({widest_, given, taken > 0 ? taken : given}));

        before_.assign(labels_, labels_ + pixels_);
        bool changed = false;
        std::int64_t p = 0;
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

    // What each pixel gains by alpha, were it the only one to change, as far as no arc says so.
    void find_excess() {
        for (std::int64_t p = 0; p < pixels_; ++p)
            excess_[p] = unary_[labels_[p] * pixels_ + p] - unary_[alpha_ * pixels_ + p];
        for (int k = 0; k < kDirections / 2; ++k)
            visit_links(families_[k], [&](std::int64_t, std::int64_t p, std::int64_t q, double weight) {
                const LinkTerms terms = terms_of(weight, labels_[p], labels_[q]);
                excess_[p] += terms.first;
                excess_[q] += terms.second;
            });
    }

    const GridLinks& links_;
    const std::array<LinkFamily, 4> families_;
    const double *unary_, *metric_;
    const int count_;
    std::int32_t* labels_;
    const std::int64_t pixels_;
    GridFlow<kDirections, kWrap> flow_;
    double widest_;  // what a link may cost at most
    int alpha_ = 0;
    std::vector<double> excess_;
    std::vector<std::int32_t> before_;
};

template <int kDirections, bool kWrap>
double run(const GridLinks& links, const double* unary, const double* metric, int count, int cycles,
           std::int32_t* labels) {
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
