// Arcs of cracks between junctions, cut into straight pieces (Sec. 4.1 of the paper on contour detection).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/parallel.hpp"
#include "edges/contours_of_regions.hpp"

namespace imtorque {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLeastBow = 1.0;    // pixels by which an arc may leave its chord: the stairs of a straight line
constexpr double kBowOfChord = 0.1;  // or this part of the chord, where that is more

// Corners of pixels, (height + 1) x (width + 1), joined by cracks.
class Cracks {
  public:
    Cracks(const int32_t* regions, int height, int width) : height(height), width(width) {
        right.assign(static_cast<size_t>(height) * width, 0);
        down = right;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const size_t i = static_cast<size_t>(y) * width + x;
                right[i] = x + 1 < width && regions[i] != regions[i + 1];
                down[i] = y + 1 < height && regions[i] != regions[i + width];
            }
    }

    // The crack that leaves a corner in a direction (0 right, 1 down, 2 left, 3 up), or null.
    uint8_t* leaving(int corner, int direction) {
        int y = corner / (width + 1), x = corner % (width + 1);
        if (direction == 2) --x;
        if (direction == 3) --y;
        const bool upright = direction & 1;
        if (upright ? y < 0 || y >= height || x < 1 || x >= width : x < 0 || x >= width || y < 1 || y >= height)
            return nullptr;
        return upright ? &right[static_cast<size_t>(y) * width + x - 1] : &down[static_cast<size_t>(y - 1) * width + x];
    }
    int next(int corner, int direction) const {
        const int step[4] = {1, width + 1, -1, -width - 1};
        return corner + step[direction];
    }
    int degree(int corner) {
        int count = 0;
        for (int d = 0; d < 4; ++d) {
            const uint8_t* crack = leaving(corner, d);
            count += crack != nullptr && *crack != 0;
        }
        return count;
    }

    int height, width;
    std::vector<uint8_t> right, down;  // 0: none, 1: not walked yet, 2: walked
};

struct Step {
    int corner, direction;
};

// Walk from a corner to the next junction, or back to the start; cracks are marked as walked.
std::vector<Step> walk(Cracks& cracks, int start, int direction) {
    std::vector<Step> steps;
    int corner = start;
    while (true) {
        *cracks.leaving(corner, direction) = 2;
        steps.push_back({corner, direction});
        corner = cracks.next(corner, direction);
        if (corner == start || cracks.degree(corner) != 2) break;
        int onward = -1;
        for (int d = 0; d < 4; ++d) {
            const uint8_t* crack = cracks.leaving(corner, d);
            if (crack != nullptr && *crack == 1) onward = d;
        }
        if (onward < 0) break;
        direction = onward;
    }
    steps.push_back({corner, 0});  // where it ends
    return steps;
}

class Weigher {
  public:
    Weigher(const float* oriented, int orientations, Cracks& cracks, float* right, float* down)
        : oriented_(oriented), orientations_(orientations), cracks_(cracks), right_(right), down_(down) {}

    // Cut an arc where it bows farthest from its chord, until the pieces are straight; then weigh them.
    void weigh(const std::vector<Step>& steps) {
        pieces_.assign(1, {0, steps.size() - 1});
        while (!pieces_.empty()) {
            const auto [from, to] = pieces_.back();
            pieces_.pop_back();
            weigh_piece(steps, from, to);
        }
    }

  private:
    void weigh_piece(const std::vector<Step>& steps, size_t from, size_t to) {
        const double x0 = x_of(steps[from]), y0 = y_of(steps[from]);
        const double dx = x_of(steps[to]) - x0, dy = y_of(steps[to]) - y0, chord = std::hypot(dx, dy);
        double farthest = 0;
        size_t where = from;
        for (size_t i = from + 1; i < to; ++i) {
            const double x = x_of(steps[i]) - x0, y = y_of(steps[i]) - y0;
            const double bow = chord > 0 ? std::abs(x * dy - y * dx) / chord : std::hypot(x, y);
            if (bow > farthest) {
                farthest = bow;
                where = i;
            }
        }
        if (where > from && (chord == 0 || farthest > std::max(kLeastBow, kBowOfChord * chord))) {
            pieces_.push_back({from, where});
            pieces_.push_back({where, to});
            return;
        }
        const double turn = std::atan2(dy, dx) * orientations_ / kPi;
        for (size_t i = from; i < to; ++i) put(steps[i], turn < 0 ? turn + orientations_ : turn);
    }

    double x_of(const Step& step) const { return step.corner % (cracks_.width + 1); }
    double y_of(const Step& step) const { return step.corner / (cracks_.width + 1); }

    float strength(size_t pixel, double turn) const {
        const size_t plane = static_cast<size_t>(cracks_.height) * cracks_.width;
        const int k = static_cast<int>(turn);
        const float share = static_cast<float>(turn - k);
        const float a = oriented_[(k % orientations_) * plane + pixel];
        const float b = oriented_[((k + 1) % orientations_) * plane + pixel];
        return a + share * (b - a);
    }

    void put(const Step& step, double turn) {
        const uint8_t* crack = cracks_.leaving(step.corner, step.direction);
        const bool upright = step.direction & 1;
        const size_t i = static_cast<size_t>(crack - (upright ? cracks_.right.data() : cracks_.down.data()));
        const size_t j = upright ? i + 1 : i + cracks_.width;
        (upright ? right_ : down_)[i] = std::max(strength(i, turn), strength(j, turn));
    }

    const float* oriented_;
    int orientations_;
    Cracks& cracks_;
    float *right_, *down_;
    std::vector<std::pair<size_t, size_t>> pieces_;  // still to be weighed
};

}  // namespace

void weigh_cracks(const int32_t* regions, const float* oriented, int orientations, int height, int width, float* right,
                  float* down) {
    const size_t pixels = static_cast<size_t>(height) * width;
    std::fill(right, right + pixels, 0.0f);
    std::fill(down, down + pixels, 0.0f);
    Cracks cracks(regions, height, width);
    Weigher weigher(oriented, orientations, cracks, right, down);
    Poll poll(1024);
    // Arcs that begin at a junction or the image's border first, then rings.
    for (const bool rings : {false, true})
        for (int corner = 0; corner < (height + 1) * (width + 1); ++corner) {
            poll();
            const int degree = cracks.degree(corner);
            if (degree == 0 || (!rings && degree == 2)) continue;
            for (int d = 0; d < 4; ++d) {
                const uint8_t* crack = cracks.leaving(corner, d);
                if (crack == nullptr || *crack != 1) continue;
                const std::vector<Step> steps = walk(cracks, corner, d);
                weigher.weigh(steps);
            }
        }
}

}  // namespace imtorque
