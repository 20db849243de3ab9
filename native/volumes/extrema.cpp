// Local extrema of the torque of a volume over size and place, from three slices at a time; and which of overlapping
// boxes stay. Naive twins: naive_volumes.find_extrema, naive_volumes.suppress.
#include <algorithm>
#include <cmath>
#include <map>

#include "volumes/gradient_tables.hpp"
#include "volumes/torque_tables.hpp"

namespace imtorque {
namespace {

bool first_of(const VolumeExtremum& a, const VolumeExtremum& b) {
    return std::tie(a.k, a.z, a.y, a.x) < std::tie(b.k, b.z, b.y, b.x);
}

class Peaks {
  public:
    Peaks(Grid grid, size_t count, int sign, float least)
        : grid_(grid), count_(static_cast<int>(count)), sign_(sign), least_(least), slices_(3 * count * grid.plane()) {}

    void planes(int z, float** pointers) {
        for (int k = 0; k < count_; ++k) pointers[k] = plane(k, z);
    }
    void done(int z) {
        if (z > 0) search(z - 1);
        if (z == grid_.depth - 1) search(z);
    }

    std::vector<VolumeExtremum> sorted() {
        std::sort(found_.begin(), found_.end(), first_of);
        std::vector<VolumeExtremum> kept = without_repeats();
        std::stable_sort(kept.begin(), kept.end(), [](const VolumeExtremum& a, const VolumeExtremum& b) {
            return std::fabs(a.value) > std::fabs(b.value);
        });
        return kept;
    }

  private:
    float* plane(int k, int z) { return slices_.data() + (static_cast<size_t>(z % 3) * count_ + k) * grid_.plane(); }

    void search(int z) {
        std::vector<std::vector<VolumeExtremum>> rows(grid_.height);
        parallel_for(grid_.height, 4.0 * count_ * grid_.width, [&](int y) {
            for (int k = 0; k < count_; ++k)
                for (int x = 0; x < grid_.width; ++x) {
                    const float value = plane(k, z)[static_cast<size_t>(y) * grid_.width + x];
                    if (value == 0 || std::fabs(value) < least_ || static_cast<float>(sign_) * value < 0) continue;
                    if (is_extremum(value, k, z, y, x)) rows[y].push_back({value, k, z, y, x});
                }
        });
        for (const auto& row : rows) found_.insert(found_.end(), row.begin(), row.end());
    }

    bool is_extremum(float value, int k, int z, int y, int x) {
        const float sign = value > 0 ? 1.0f : -1.0f, own = sign * value;
        const int left = std::max(x - 1, 0), right = std::min(x + 1, grid_.width - 1);
        bool above_one = false;
        for (int j : {k, k - 1, k + 1}) {
            if (j < 0 || j >= count_) continue;
            for (int v : {z, z - 1, z + 1}) {
                if (v < 0 || v >= grid_.depth) continue;
                const float* slice = plane(j, v);
                for (int u = std::max(y - 1, 0); u <= std::min(y + 1, grid_.height - 1); ++u)
                    for (int i = left; i <= right; ++i) {
                        const float other = sign * slice[static_cast<size_t>(u) * grid_.width + i];
                        if (other > own) return false;
                        above_one |= other < own;
                    }
            }
        }
        return above_one;
    }

    // Of adjacent equal extrema the first.
    std::vector<VolumeExtremum> without_repeats() const {
        std::map<std::tuple<int, int, int, int>, size_t> at;
        for (size_t i = 0; i < found_.size(); ++i) at[{found_[i].k, found_[i].z, found_[i].y, found_[i].x}] = i;
        std::vector<bool> seen(found_.size(), false);
        std::vector<VolumeExtremum> kept;
        std::vector<size_t> stack;
        Poll poll(64);
        for (size_t start = 0; start < found_.size(); ++start) {
            if (seen[start]) continue;
            kept.push_back(found_[start]);
            for (stack.assign(1, start), seen[start] = true; !stack.empty();) {
                poll();
                const VolumeExtremum here = found_[stack.back()];
                stack.pop_back();
                for (int step = 0; step < 81; ++step) {
                    const auto near = at.find({here.k + step / 27 - 1, here.z + step / 9 % 3 - 1,
                                               here.y + step / 3 % 3 - 1, here.x + step % 3 - 1});
                    if (near == at.end() || seen[near->second] || found_[near->second].value != here.value) continue;
                    seen[near->second] = true;
                    stack.push_back(near->second);
                }
            }
        }
        return kept;
    }

    Grid grid_;
    int count_, sign_;
    float least_;
    std::vector<float> slices_;
    std::vector<VolumeExtremum> found_;
};

template <class Uint>
void sweep_field(const VolumeField& field, const std::vector<VolumeBox>& boxes, Peaks& peaks) {
    TorqueTables<Uint> tables(field, boxes);
    sweep(tables, field.grid, boxes, peaks);
}

}  // namespace

std::vector<VolumeExtremum> volume_extrema(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide,
                                           int sign, float least) {
    Peaks peaks(field.grid, boxes.size(), sign, least);
    wide ? sweep_field<uint64_t>(field, boxes, peaks) : sweep_field<uint32_t>(field, boxes, peaks);
    return peaks.sorted();
}

std::vector<VolumeExtremum> volume_gradient_extrema(const int32_t* image, Grid grid,
                                                    const std::vector<VolumeBox>& boxes, double unit, int sign,
                                                    float least) {
    Peaks peaks(grid, boxes.size(), sign, least);
    GradientTables tables(image, grid, boxes, unit);
    sweep(tables, grid, boxes, peaks);
    return peaks.sorted();
}

std::vector<bool> volume_suppress(const int64_t* centre, const int64_t* side, const float* value, int count,
                                  double overlap) {
    std::vector<bool> keep(count, false);
    std::vector<int> kept;
    Poll poll(16);
    for (int i = 0; i < count; ++i) {
        poll();
        keep[i] = std::none_of(kept.begin(), kept.end(), [&](int j) {
            if ((value[i] > 0) != (value[j] > 0)) return false;
            double shared = 1, one = 1, two = 1;
            for (int a = 0; a < 3; ++a) {
                const int64_t ci = centre[3 * i + a], cj = centre[3 * j + a];
                const int64_t hi = side[3 * i + a] / 2, hj = side[3 * j + a] / 2;
                shared *= static_cast<double>(
                    std::max<int64_t>(0, std::min(ci + hi, cj + hj) - std::max(ci - hi, cj - hj) + 1));
                one *= static_cast<double>(side[3 * i + a]);
                two *= static_cast<double>(side[3 * j + a]);
            }
            return shared / std::min(one, two) > overlap;
        });
        if (keep[i]) kept.push_back(i);
    }
    return keep;
}

}  // namespace imtorque
