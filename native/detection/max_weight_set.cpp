// Maximum-weight independent set of the conflict graph: reductions, then connected components, then branch and bound.
//
// Proposals of one object exclude each other and have nearly the same neighbours, so domination removes most of them: a
// vertex goes if a neighbour is as heavy and has no neighbours that it does not have. What is left is a string of small
// components along touching objects, which a few branchings separate. Naive twin: naive.max_weight_set.
#include "detection/max_weight_set.hpp"

#include <algorithm>
#include <numeric>

namespace imtorque {
namespace {

using Group = std::vector<int>;

class Solver {
  public:
    Solver(const double* weight, int count, const Conflicts& conflicts)
        : weight_(weight), neighbours_(count), mark_(count) {
        for (long long i = 0; i < conflicts.count; ++i) {
            const int a = conflicts.first[i], b = conflicts.second[i];
            if (a == b || weight[a] <= 0 || weight[b] <= 0) continue;
            neighbours_[a].push_back(b), neighbours_[b].push_back(a);
        }
        for (Group& neighbours : neighbours_) {
            std::sort(neighbours.begin(), neighbours.end());
            neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
        }
    }

    // Solve each connected component of `members` with a budget of its own.
    Group solve_all(const Group& members, int budget, bool& exact) {
        Group selected;
        for (const Group& group : split(members)) {
            left_ = budget;
            const Group found = solve(group);
            exact = exact && left_ >= 0;
            selected.insert(selected.end(), found.begin(), found.end());
        }
        return selected;
    }

  private:
    const double* weight_;
    std::vector<Group> neighbours_;
    std::vector<int> mark_;  // the number of the last call in which the vertex was alive
    int call_ = 0, left_ = 0;

    double total(const Group& group) const {
        return std::accumulate(group.begin(), group.end(), 0.0, [&](double sum, int i) { return sum + weight_[i]; });
    }

    int bring_alive(const Group& members) {
        ++call_;
        for (int i : members) mark_[i] = call_;
        return call_;
    }

    std::vector<Group> split(const Group& members) {
        const int alive = bring_alive(members);
        std::vector<Group> groups;
        for (int start : members) {
            if (mark_[start] != alive) continue;
            Group group{start};
            mark_[start] = 0;
            for (std::size_t next = 0; next < group.size(); ++next)
                for (int neighbour : neighbours_[group[next]])
                    if (mark_[neighbour] == alive) mark_[neighbour] = 0, group.push_back(neighbour);
            std::sort(group.begin(), group.end());
            groups.push_back(std::move(group));
        }
        return groups;
    }

    // Whether every living neighbour of `a` is `b` or a neighbour of `b`; both lists are sorted.
    bool neighbours_within(int a, int b, int alive) const {
        auto have = neighbours_[b].begin();
        for (int neighbour : neighbours_[a]) {
            if (mark_[neighbour] != alive || neighbour == b) continue;
            have = std::lower_bound(have, neighbours_[b].end(), neighbour);
            if (have == neighbours_[b].end() || *have != neighbour) return false;
        }
        return true;
    }

    // Drop what a neighbour dominates, take what outweighs all its conflicts together; until nothing changes.
    Group reduce(Group members, Group& taken) {
        for (bool changed = true; changed;) {
            changed = false;
            const int alive = bring_alive(members);
            for (int i : members) {
                if (mark_[i] != alive) continue;
                double against = 0;
                for (int neighbour : neighbours_[i])
                    if (mark_[neighbour] == alive) against += weight_[neighbour];
                if (weight_[i] >= against) {
                    taken.push_back(i);
                    mark_[i] = 0;
                    for (int neighbour : neighbours_[i])
                        if (mark_[neighbour] == alive) mark_[neighbour] = 0;
                    changed = true;
                    continue;
                }
                for (int neighbour : neighbours_[i]) {
                    if (mark_[neighbour] != alive || weight_[neighbour] < weight_[i]) continue;
                    if (!neighbours_within(neighbour, i, alive)) continue;
                    mark_[i] = 0;
                    changed = true;
                    break;
                }
            }
            members.erase(std::remove_if(members.begin(), members.end(), [&](int i) { return mark_[i] != alive; }),
                          members.end());
        }
        return members;
    }

    Group solve(const Group& group) {
        Group taken;
        const Group rest = reduce(group, taken);
        if (rest.empty()) return taken;
        for (const Group& part : split(rest)) {
            const Group found = branch(part);
            taken.insert(taken.end(), found.begin(), found.end());
        }
        return taken;
    }

    Group branch(const Group& group) {
        if (group.size() == 1) return group;
        if (--left_ < 0) return local_search(group);
        const int alive = bring_alive(group);
        int pivot = group[0], most = -1;
        for (int i : group) {
            const int degree =
                static_cast<int>(std::count_if(neighbours_[i].begin(), neighbours_[i].end(),
                                               [&](int neighbour) { return mark_[neighbour] == alive; }));
            if (degree > most) most = degree, pivot = i;
        }
        Group without, beside;
        for (int i : group) {
            if (i == pivot) continue;
            without.push_back(i);
            if (!std::binary_search(neighbours_[pivot].begin(), neighbours_[pivot].end(), i)) beside.push_back(i);
        }
        Group with = solve(beside);
        with.push_back(pivot);
        Group other = solve(without);
        return total(with) >= total(other) ? with : other;
    }

    // Greedy by weight; then a vertex outside enters wherever it outweighs all its neighbours inside.
    Group local_search(Group group) {
        std::stable_sort(group.begin(), group.end(), [&](int a, int b) { return weight_[a] > weight_[b]; });
        const int open = bring_alive(group), inside = ++call_;
        for (bool changed = true; changed;) {
            changed = false;
            for (int i : group) {
                if (mark_[i] == inside) continue;
                double against = 0;
                for (int neighbour : neighbours_[i])
                    if (mark_[neighbour] == inside) against += weight_[neighbour];
                if (weight_[i] <= against) continue;
                for (int neighbour : neighbours_[i])
                    if (mark_[neighbour] == inside) mark_[neighbour] = open;
                mark_[i] = inside;
                changed = true;
            }
        }
        Group selected;
        for (int i : group)
            if (mark_[i] == inside) selected.push_back(i);
        return selected;
    }
};

}  // namespace

bool max_weight_set(const double* weight, int count, const Conflicts& conflicts, int budget, uint8_t* selected) {
    std::fill(selected, selected + count, uint8_t{0});
    Group members;
    for (int i = 0; i < count; ++i)
        if (weight[i] > 0) members.push_back(i);
    bool exact = true;
    for (int i : Solver(weight, count, conflicts).solve_all(members, budget, exact)) selected[i] = 1;
    return exact;
}

}  // namespace imtorque
