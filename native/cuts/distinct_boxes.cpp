// Greedy suppression of overlapping boxes, up to a number. Kept boxes are few against those looked at, so each is
// compared with all of them. Naive twin: naive.distinct_boxes.
#include <algorithm>

#include "core/parallel.hpp"
#include "cuts/box_scores.hpp"

namespace imtorque {
namespace {

double area(const int64_t* box) { return static_cast<double>(box[2] - box[0]) * static_cast<double>(box[3] - box[1]); }

double overlap_of(const int64_t* a, const int64_t* b) {
    const int64_t rows = std::min(a[2], b[2]) - std::max(a[0], b[0]),
                  columns = std::min(a[3], b[3]) - std::max(a[1], b[1]);
    if (rows <= 0 || columns <= 0) return 0;
    const double both = static_cast<double>(rows) * static_cast<double>(columns);
    return both / (area(a) + area(b) - both);
}

}  // namespace

long long distinct_boxes(const BoxList& boxes, double overlap, long long most, int64_t* kept) {
    long long found = 0;
    Poll poll(64);
    for (long long i = 0; i < boxes.count && found < most; ++i) {
        poll();
        const int64_t* box = boxes.boxes + 4 * i;
        const auto meets = [&](int64_t k) { return overlap_of(box, boxes.boxes + 4 * k) > overlap; };
        if (std::none_of(kept, kept + found, meets)) kept[found++] = i;
    }
    return found;
}

}  // namespace imtorque
