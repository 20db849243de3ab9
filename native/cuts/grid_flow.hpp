// Maximum flow on a pixel grid by incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan & Werneck, ESA 2011):
// a tree grows from the source and one from the sink, both in breadth-first order, so that a node's label is its
// distance to its terminal in the residual graph. Where the trees meet, flow is pushed along the path, and nodes that
// lost their parent are attached again at the smallest distance possible. Labels only rise, hence the polynomial bound,
// which the search trees of Boykov & Kolmogorov (PAMI 26(9), 2004) do not have.
//
// Neighbours are implicit (Jamriska, Sykora & Hornung, CVPR 2012): a node is an index, a neighbour an offset, and the
// arc back is direction k ^ 1 of the neighbour. One column of nodes without arcs before each row, and one row above and
// below, stand for "outside"; where rows wrap around there are no such rows and steps up and down are taken modulo the
// size. Capacities are integers (exact_cut.hpp rounds them), so flow is conserved exactly, nothing depends on rounding
// along the way and every augmentation makes progress. The plain twin is minimum_cut() in tests/naive.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace imtorque {

// From a node in a direction to another node. Along a row of nodes both ends move on together.
struct Arc {
    std::int64_t node, other;
    int direction;
};

// Directions: right, left, down, up, and for eight neighbours down-right, up-left, down-left, up-right.
template <int kDirections, bool kWrap>
class GridFlow {
  public:
    using Capacity = std::int64_t;

    GridFlow(int height, int width) : stride_(width + 1) {
        count_ = (kWrap ? height : height + 2) * stride_;
        const std::int64_t offsets[8] = {1, -1, stride_, -stride_, stride_ + 1, -stride_ - 1, stride_ - 1, 1 - stride_};
        std::copy_n(offsets, kDirections, offsets_);
    }

    // Take away all arcs. Comes first.
    void clear() {
        residual_.assign((count_ + 1) * kDirections, 0);
        terminal_.assign(count_ + 1, 0);
    }

    std::int64_t node(int y, int x) const { return (y + (kWrap ? 0 : 1)) * stride_ + x + 1; }

    std::int64_t neighbour(std::int64_t node, int direction) const {
        std::int64_t other = node + offsets_[direction];
        if constexpr (kWrap) {
            if (direction >= 2 && (direction & 1) == 0 && other >= count_) other -= count_;
            if (direction >= 2 && (direction & 1) == 1 && other < 0) other += count_;
        }
        return other;
    }

    Arc arc(std::int64_t node, int direction) const { return {node, neighbour(node, direction), direction}; }

    // Widen an arc and the one back.
    void add_arc(const Arc& arc, Capacity forth, Capacity back) {
        this->forth(arc) += forth;
        this->back(arc) += back;
    }
    // Give more to the node (from the source) or, where negative, take more from it. No node has both.
    void add_terminal(std::int64_t node, Capacity excess) { terminal_[node] += excess; }

    // Begin with a flow, any at all: what flows along arcs, each as far as it is wide, counts as given and taken by the
    // nodes at their ends. Comes after all capacities, and changes no cut.
    template <class Flows>
    void begin_with(Flows flows) {
        room_.assign(count_ + 1, 0);
        flows([this](const Arc& arc, Capacity amount) {
            Capacity &forth = this->forth(arc), &back = this->back(arc);
            amount = std::min(std::max(amount, -back), forth);
            forth -= amount;
            back += amount;
            room_[arc.node] -= amount;
            room_[arc.other] += amount;
        });
        for (std::int64_t i = 0; i < count_; ++i) terminal_[i] = limited_sum(terminal_[i], room_[i]);
    }
    // What flows along an arc that is as wide as the one back.
    Capacity flowing(const Arc& arc) { return (back(arc) - forth(arc)) / 2; }

    // Make 2^shift steps of one; what has been pushed stays. Residual capacities above `widest` become that.
    void refine(int shift, Capacity widest) {
        const Capacity most = shift < 62 ? widest >> shift : 0;
        const auto finer = [=](Capacity steps) { return steps > most ? widest : steps << (most > 0 ? shift : 0); };
        for (Capacity& steps : residual_) steps = finer(steps);
        for (Capacity& steps : terminal_) steps = steps < 0 ? -finer(-steps) : finer(steps);
    }

    // Push as much as possible; may be called again after capacities were added. On its own for the compiler: inlined
    // into its caller it takes a tenth longer.
    [[gnu::noinline]] void solve() {
        sweep();
        check_interrupt();
        plant();
        while (!source_.active.empty()) {
            if (sink_.active.empty() || source_.work <= sink_.work)
                grow<+1>();
            else
                grow<-1>();
        }
    }

    // After solve(): can the source still reach the node? The nodes it reaches are the smallest source side of all
    // minimum cuts, which makes the answer unique.
    bool on_source_side(std::int64_t node) const { return label_[node] > 0; }

  private:
    static constexpr std::uint8_t kRoot = 8, kNone = 9;
    static constexpr Capacity kMostGiven = (Capacity{1} << 62) - 1 + (Capacity{1} << 62) - (Capacity{1} << 10);

    // More than all links of a node carry is as good as any more.
    static Capacity limited_sum(Capacity one, Capacity other) {
        return other > 0 ? std::min(one, kMostGiven - other) + other : std::max(one, -kMostGiven - other) + other;
    }

    // One of the two trees. All its nodes nearer than `depth` have been scanned: no residual arc joins them to a node
    // outside the tree. `active` holds the nodes at `depth`, `next` those one further (some out of date: the label
    // tells).
    struct Tree {
        int depth;
        std::vector<std::int32_t> active, next;
        std::vector<std::vector<std::int32_t>> orphans;  // by distance
        int nearest_orphan;                              // no orphan is nearer; 0: there are none
        std::int64_t work;                               // nodes looked at so far: the tree cheaper to keep may grow

        void start() {
            depth = 1;
            active.clear();
            next.clear();
            orphans.resize(4);
            nearest_orphan = 0;
            work = 0;
        }
    };

    template <int kSide>
    Tree& tree() {
        return kSide > 0 ? source_ : sink_;
    }

    Capacity& forth(const Arc& arc) { return residual_[arc.node * kDirections + arc.direction]; }
    Capacity& back(const Arc& arc) { return residual_[arc.other * kDirections + (arc.direction ^ 1)]; }

    // Residual capacity of the arc by which `node` hands flow on to (source side) or takes it from (sink side) `other`.
    template <int kSide>
    Capacity& towards(std::int64_t node, int direction, std::int64_t other) {
        return kSide > 0 ? residual_[node * kDirections + direction] : residual_[other * kDirections + (direction ^ 1)];
    }

    // Push along rows and columns what is taken further on: most flow of dense problems goes straight to where it is
    // taken, and this needs no trees. Diagonals would not pay.
    void sweep() {
        room_.resize(count_ + 1);
        sweep_along<0>();
        sweep_along<2>();
        sweep_along<1>();
        sweep_along<3>();
    }

    // First, against the direction, what each node may hand on so that nodes further on take all of it, after what
    // those have to give themselves; then, along it, each node hands on what it has. Rings are swept from row to row
    // only.
    template <int kDirection>
    void sweep_along() {
        check_interrupt();
        constexpr bool kForth = kDirection % 2 == 0;
        const std::int64_t step = offsets_[kDirection];
        const std::int64_t first = kForth ? 0 : -step, last = kForth ? count_ - step : count_;
        const auto from_end = [=](std::int64_t i) { return kForth ? last - 1 - i : first + i; };
        const auto from_start = [=](std::int64_t i) { return kForth ? first + i : last - 1 - i; };
        std::fill(room_.begin() + (kForth ? last : 0), kForth ? room_.end() : room_.begin() + first, 0);
        for (std::int64_t i = 0; i < last - first; ++i) {
            const std::int64_t node = from_end(i), other = node + step;
            const Capacity link = residual_[node * kDirections + kDirection];
            const Capacity own = std::max(terminal_[other], -link);  // what is taken beyond the link's width is no use
            room_[node] = std::min(link, std::max<Capacity>(room_[other] - own, 0));
        }
        for (std::int64_t i = 0; i < last - first; ++i) {
            const std::int64_t node = from_start(i), other = node + step;
            const Capacity amount = std::min(std::max<Capacity>(terminal_[node], 0), room_[node]);
            if (amount == 0) continue;
            residual_[node * kDirections + kDirection] -= amount;
            residual_[other * kDirections + (kDirection ^ 1)] += amount;
            terminal_[node] -= amount;
            terminal_[other] += amount;
        }
    }

    void plant() {
        source_.start();
        sink_.start();
        label_.assign(count_ + 1, 0);
        parent_.assign(count_ + 1, kNone);
        for (std::int64_t i = 0; i < count_; ++i) {
            if (terminal_[i] == 0) continue;
            label_[i] = terminal_[i] > 0 ? 1 : -1;
            parent_[i] = kRoot;
            (terminal_[i] > 0 ? source_ : sink_).active.push_back(static_cast<std::int32_t>(i));
        }
    }

    // Scan all nodes at the tree's depth; those it gains lie one further.
    template <int kSide>
    void grow() {
        Tree& tree = this->template tree<kSide>();
        growing_ = kSide;
        if (static_cast<int>(tree.orphans.size()) < tree.depth + 3) tree.orphans.resize(2 * tree.depth + 3);
        // Repairs may append nodes that come to lie at this depth.
        for (std::size_t i = 0; i < tree.active.size(); ++i) {
            poll_();
            scan<kSide>(tree.active[i], tree);
        }
        tree.work += static_cast<std::int64_t>(tree.active.size());
        tree.active.swap(tree.next);
        tree.next.clear();
        ++tree.depth;
        growing_ = 0;
    }

    template <int kSide>
    void scan(std::int64_t node, Tree& tree) {
        const std::int32_t label = kSide * tree.depth;
        for (int k = 0; k < kDirections && label_[node] == label; ++k) {
            const std::int64_t other = neighbour(node, k);
            while (kSide * label_[other] <= 0 && towards<kSide>(node, k, other) > 0 && label_[node] == label) {
                if (label_[other] == 0) {
                    label_[other] = label + kSide;
                    parent_[other] = static_cast<std::uint8_t>(k ^ 1);
                    tree.next.push_back(static_cast<std::int32_t>(other));
                    break;
                }
                if (kSide > 0)
                    augment(node, k, other);
                else
                    augment(other, k ^ 1, node);
            }
        }
    }

    // The least residual capacity on the way from `node` to its terminal.
    template <int kSide>
    Capacity bottleneck(std::int64_t node, Capacity least) {
        while (parent_[node] != kRoot) {
            const int up = parent_[node];
            const std::int64_t other = neighbour(node, up);
            least = std::min(least, towards<kSide>(other, up ^ 1, node));
            node = other;
        }
        return std::min<Capacity>(least, kSide > 0 ? terminal_[node] : -terminal_[node]);
    }

    // Push `amount` between `node` and its terminal; nodes whose way up is now full become orphans.
    template <int kSide>
    void push(std::int64_t node, Capacity amount) {
        while (parent_[node] != kRoot) {
            const int up = parent_[node];
            const std::int64_t other = neighbour(node, up);
            Capacity& forth = towards<kSide>(other, up ^ 1, node);
            forth -= amount;
            towards<-kSide>(other, up ^ 1, node) += amount;
            if (forth == 0) make_orphan<kSide>(node);
            node = other;
        }
        terminal_[node] -= kSide > 0 ? amount : -amount;
        if (terminal_[node] == 0) make_orphan<kSide>(node);
    }

    // `from` lies in the source's tree, its neighbour `to` in the sink's.
    void augment(std::int64_t from, int direction, std::int64_t to) {
        Capacity& link = residual_[from * kDirections + direction];
        Capacity amount = bottleneck<+1>(from, link);
        amount = bottleneck<-1>(to, amount);
        link -= amount;
        residual_[to * kDirections + (direction ^ 1)] += amount;
        push<+1>(from, amount);
        push<-1>(to, amount);
        repair<+1>();
        repair<-1>();
    }

    template <int kSide>
    void make_orphan(std::int64_t node) {
        Tree& tree = this->template tree<kSide>();
        const int distance = kSide * label_[node];
        parent_[node] = kNone;
        tree.orphans[distance].push_back(static_cast<std::int32_t>(node));
        tree.nearest_orphan = tree.nearest_orphan ? std::min(tree.nearest_orphan, distance) : distance;
    }

    // Attach every orphan again, at the least distance, or set it free if that is beyond the tree.
    template <int kSide>
    void repair() {
        Tree& tree = this->template tree<kSide>();
        if (!tree.nearest_orphan) return;
        // While a tree grows, nodes may lie one beyond its depth.
        const int limit = tree.depth + (growing_ == kSide ? 1 : 0);
        keep_or_cut_loose<kSide>(tree, limit);
        attach<kSide>(tree, limit);
        tree.nearest_orphan = 0;
    }

    // From near to far: an orphan that finds another parent as near as the old one keeps its label, and so do its
    // children. One that does not is cut loose, and its children become orphans.
    template <int kSide>
    void keep_or_cut_loose(Tree& tree, int limit) {
        loose_.clear();
        for (int distance = tree.nearest_orphan; distance <= limit; ++distance) {
            auto& orphans = tree.orphans[distance];
            for (const std::int64_t node : orphans) {
                if (distance > 1 && find_parent<kSide>(node, kSide * (distance - 1))) continue;
                label_[node] = 0;
                loose_.push_back(static_cast<std::int32_t>(node));
                for (int k = 0; k < kDirections; ++k) {
                    const std::int64_t other = neighbour(node, k);
                    if (parent_[other] != (k ^ 1)) continue;
                    parent_[other] = kNone;
                    tree.orphans[distance + 1].push_back(static_cast<std::int32_t>(other));
                }
            }
            orphans.clear();
        }
    }

    template <int kSide>
    bool find_parent(std::int64_t node, std::int32_t label) {
        for (int k = 0; k < kDirections; ++k) {
            const std::int64_t other = neighbour(node, k);
            if (label_[other] == label && towards<kSide>(other, k ^ 1, node) > 0) {
                parent_[node] = static_cast<std::uint8_t>(k);
                return true;
            }
        }
        return false;
    }

    // Breadth-first from the tree into what was cut loose. The orphans' buckets serve as the queue.
    template <int kSide>
    void attach(Tree& tree, int limit) {
        tree.work += static_cast<std::int64_t>(loose_.size());
        int nearest = limit + 1;
        for (const std::int64_t node : loose_) {
            int distance = limit + 1;
            for (int k = 0; k < kDirections; ++k) {
                const std::int64_t other = neighbour(node, k);
                const int reach = kSide * label_[other] + 1;
                if (reach > 1 && reach < distance && towards<kSide>(other, k ^ 1, node) > 0) {
                    distance = reach;
                    parent_[node] = static_cast<std::uint8_t>(k);
                }
            }
            if (distance > limit) continue;
            tree.orphans[distance].push_back(static_cast<std::int32_t>(node));
            nearest = std::min(nearest, distance);
        }
        for (int distance = nearest; distance <= limit; ++distance) {
            auto& queue = tree.orphans[distance];
            for (const std::int64_t node : queue)
                if (label_[node] == 0) settle<kSide>(node, distance, tree);
            if (distance < limit)
                for (const std::int64_t node : queue)
                    if (label_[node] == kSide * distance) call<kSide>(node, distance + 1, tree);
            queue.clear();
        }
    }

    template <int kSide>
    void settle(std::int64_t node, int distance, Tree& tree) {
        label_[node] = kSide * distance;
        if (distance >= tree.depth)
            (distance == tree.depth ? tree.active : tree.next).push_back(static_cast<std::int32_t>(node));
    }

    // Let loose neighbours follow a node just attached.
    template <int kSide>
    void call(std::int64_t node, int distance, Tree& tree) {
        for (int k = 0; k < kDirections; ++k) {
            const std::int64_t other = neighbour(node, k);
            if (label_[other] != 0 || towards<kSide>(node, k, other) == 0) continue;
            parent_[other] = static_cast<std::uint8_t>(k ^ 1);
            settle<kSide>(other, distance, tree);
            tree.orphans[distance].push_back(static_cast<std::int32_t>(other));
        }
    }

    std::int64_t stride_, count_;
    std::int64_t offsets_[kDirections];
    std::vector<Capacity> residual_, terminal_;
    std::vector<Capacity> room_;        // of a sweep: what a node may hand on; at the start, what flows to it
    std::vector<std::int32_t> label_;   // distance to the source, minus the distance to the sink, 0 in neither tree
    std::vector<std::uint8_t> parent_;  // direction of the parent, kRoot or kNone
    std::vector<std::int32_t> loose_;
    Tree source_, sink_;
    int growing_ = 0;
    Poll poll_{1024};
};

}  // namespace imtorque
