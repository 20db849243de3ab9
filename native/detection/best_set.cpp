// Maximum-weight independent set by reductions, splitting into connected groups, and branching.
//
// Candidates of one object exclude each other and nearly all have the same rivals, so that most fall to one reduction:
// a candidate goes if a rival is as heavy and has no rivals that it does not have. What is left is a string of small
// groups along touching objects, which a branching soon cuts apart. Naive twin: naive.best_set.
#include "detection/best_set.hpp"

#include <algorithm>
#include <numeric>

namespace imtorque {
namespace {

using Group = std::vector<int>;

class Solver {
  public:
    Solver(const double* weight, int count, const Conflicts& conflicts)
        : weight_(weight), rivals_(count), mark_(count) {
        for (long long i = 0; i < conflicts.count; ++i) {
            const int a = conflicts.first[i], b = conflicts.second[i];
            if (a == b || weight[a] <= 0 || weight[b] <= 0) continue;
            rivals_[a].push_back(b), rivals_[b].push_back(a);
        }
        for (Group& rivals : rivals_) {
            std::sort(rivals.begin(), rivals.end());
            rivals.erase(std::unique(rivals.begin(), rivals.end()), rivals.end());
        }
    }

    // Solve each connected group of `members` by itself, with a budget of its own.
    Group solve_all(const Group& members, int budget, bool& exact) {
        Group chosen;
        for (const Group& group : split(members)) {
            left_ = budget;
            const Group found = solve(group);
            exact = exact && left_ >= 0;
            chosen.insert(chosen.end(), found.begin(), found.end());
        }
        return chosen;
    }

  private:
    const double* weight_;
    std::vector<Group> rivals_;
    std::vector<int> mark_;  // the number of the last call that had the member alive
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
                for (int rival : rivals_[group[next]])
                    if (mark_[rival] == alive) mark_[rival] = 0, group.push_back(rival);
            std::sort(group.begin(), group.end());
            groups.push_back(std::move(group));
        }
        return groups;
    }

    // Whether every living rival of `a` is a rival of `b` or `b` itself; both lists are sorted.
    bool rivals_within(int a, int b, int alive) const {
        auto have = rivals_[b].begin();
        for (int rival : rivals_[a]) {
            if (mark_[rival] != alive || rival == b) continue;
            have = std::lower_bound(have, rivals_[b].end(), rival);
            if (have == rivals_[b].end() || *have != rival) return false;
        }
        return true;
    }

    // Drop what a rival dominates, take what outweighs all its rivals together; until nothing changes.
    Group reduce(Group members, Group& taken) {
        for (bool changed = true; changed;) {
            changed = false;
            const int alive = bring_alive(members);
            for (int i : members) {
                if (mark_[i] != alive) continue;
                double against = 0;
                for (int rival : rivals_[i])
                    if (mark_[rival] == alive) against += weight_[rival];
                if (weight_[i] >= against) {
                    taken.push_back(i);
                    mark_[i] = 0;
                    for (int rival : rivals_[i])
                        if (mark_[rival] == alive) mark_[rival] = 0;
                    changed = true;
                    continue;
                }
                for (int rival : rivals_[i]) {
                    if (mark_[rival] != alive || weight_[rival] < weight_[i]) continue;
                    if (!rivals_within(rival, i, alive)) continue;
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
            const int degree = static_cast<int>(
                std::count_if(rivals_[i].begin(), rivals_[i].end(), [&](int rival) { return mark_[rival] == alive; }));
            if (degree > most) most = degree, pivot = i;
        }
        Group without, beside;
        for (int i : group) {
            if (i == pivot) continue;
            without.push_back(i);
            if (!std::binary_search(rivals_[pivot].begin(), rivals_[pivot].end(), i)) beside.push_back(i);
        }
        Group with = solve(beside);
        with.push_back(pivot);
        Group other = solve(without);
        return total(with) >= total(other) ? with : other;
    }

    // The heaviest first; then a member gives way wherever one outside outweighs all the members it excludes.
    Group local_search(Group group) {
        std::stable_sort(group.begin(), group.end(), [&](int a, int b) { return weight_[a] > weight_[b]; });
        const int open = bring_alive(group), inside = ++call_;
        for (bool changed = true; changed;) {
            changed = false;
            for (int i : group) {
                if (mark_[i] == inside) continue;
                double against = 0;
                for (int rival : rivals_[i])
                    if (mark_[rival] == inside) against += weight_[rival];
                if (weight_[i] <= against) continue;
                for (int rival : rivals_[i])
                    if (mark_[rival] == inside) mark_[rival] = open;
                mark_[i] = inside;
                changed = true;
            }
        }
        Group chosen;
        for (int i : group)
            if (mark_[i] == inside) chosen.push_back(i);
        return chosen;
    }
};

}  // namespace

bool best_set(const double* weight, int count, const Conflicts& conflicts, int budget, uint8_t* chosen) {
    std::fill(chosen, chosen + count, uint8_t{0});
    Group members;
    for (int i = 0; i < count; ++i)
        if (weight[i] > 0) members.push_back(i);
    bool exact = true;
    for (int i : Solver(weight, count, conflicts).solve_all(members, budget, exact)) chosen[i] = 1;
    return exact;
}

}  // namespace imtorque
