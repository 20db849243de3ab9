// What the cuts of a figure by its words need besides the flow, in one pass over the window, since the windows are
// small and there are many. Twins: naive.count_words, naive.cut_words.
#include "cuts/word_cut.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "cuts/flood.hpp"

namespace imtorque {
namespace {

constexpr double kCertain = std::numeric_limits<double>::infinity();

std::vector<double> links_within(const double* all, int stride, int height, int width, double cost) {
    std::vector<double> found(static_cast<std::size_t>(height) * width);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            found[static_cast<std::size_t>(y) * width + x] = cost * all[static_cast<std::ptrdiff_t>(y) * stride + x];
    return found;
}

// What the links from a window's rim to the ground around it take from each pixel.
std::vector<double> taken_around(const WordWindow& window, const WordLinks& links, const double* right,
                                 const double* down) {
    const int height = window.height, width = window.width;
    std::vector<double> taken(static_cast<std::size_t>(height) * width);
    double *first = taken.data(), *last = first + static_cast<std::ptrdiff_t>(height - 1) * width;
    const int across = links.width - 1;
    for (int y = 0; y < height; ++y) {
        double* row = first + static_cast<std::ptrdiff_t>(y) * width;
        const double* link = right + static_cast<std::ptrdiff_t>(y) * across;
        if (links.left > 0) row[0] += links.cost * link[-1];
        if (links.left + width < links.width) row[width - 1] += links.cost * link[width - 1];
    }
    for (int x = 0; x < width && links.top > 0; ++x) first[x] += links.cost * down[x - links.width];
    for (int x = 0; x < width && links.top + height < links.height; ++x)
        last[x] += links.cost * down[static_cast<std::ptrdiff_t>(height - 1) * links.width + x];
    return taken;
}

// Call back with the flow along each row of the window's links, to the right and then down, and their number.
template <class Visit>
void visit_rows(const WordWindow& window, const WordLinks& links, const GridSteps& flow, Visit visit) {
    const std::ptrdiff_t across = links.width - 1, along = links.width;
    int64_t* right = flow.links + links.top * across + links.left;
    int64_t* down = flow.links + links.height * across + links.top * along + links.left;
    for (int y = 0; y < window.height; ++y) visit(right + y * across, window.width - 1);
    for (int y = 0; y < window.height - 1; ++y) visit(down + y * along, window.width);
}

std::vector<int64_t> flow_within(const WordWindow& window, const WordLinks& links, const GridSteps& flow) {
    std::vector<int64_t> found;
    found.reserve(2 * static_cast<std::size_t>(window.height) * window.width);
    visit_rows(window, links, flow,
               [&](const int64_t* all, int count) { found.insert(found.end(), all, all + count); });
    return found;
}

}  // namespace

void count_words(const WordWindow& window, const uint8_t* figure, const uint8_t* on, const uint8_t* off,
                 double* counts) {
    std::size_t i = 0;
    for (int y = 0; y < window.height; ++y)
        for (int x = 0; x < window.width; ++x, ++i)
            if ((figure[i] || on[i]) && !off[i])
                counts[window.words[static_cast<std::ptrdiff_t>(y) * window.stride + x]] += 1;
}

void cut_words(const WordWindow& window, const WordLinks& links, const double* log_odds, const uint8_t* on,
               const uint8_t* off, GridSteps& flow, uint8_t* figure) {
    const int height = window.height, width = window.width;
    const std::size_t pixels = static_cast<std::size_t>(height) * width;
    const double* right = links.right + static_cast<std::ptrdiff_t>(links.top) * (links.width - 1) + links.left;
    const double* down = links.down + static_cast<std::ptrdiff_t>(links.top) * links.width + links.left;
    std::vector<double> source(pixels), sink = taken_around(window, links, right, down);
    std::size_t i = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x, ++i) {
            const double own = log_odds[window.words[static_cast<std::ptrdiff_t>(y) * window.stride + x]];
            source[i] = on[i] ? kCertain : off[i] ? 0 : std::max(own, 0.0);
            sink[i] = on[i] ? 0 : off[i] ? kCertain : std::max(-own, 0.0) + sink[i];
        }
    const auto across = links_within(right, links.width - 1, height, width - 1, links.cost);
    const auto along = links_within(down, links.width, height - 1, width, links.cost);
    std::vector<int64_t> steps = flow_within(window, links, flow);
    GridSteps own{flow.shift, steps.data()};
    std::vector<uint8_t> cut(pixels);
    max_flow_from({height, width, across.data(), along.data(), nullptr, nullptr, false, false}, source.data(),
                  sink.data(), own, cut.data());
    flow.shift = own.shift;  // what is left elsewhere may now be in other steps, and is no worse than any
    visit_rows(window, links, flow, [&](int64_t* all, int count) {
        std::copy_n(own.links, count, all);
        own.links += count;
    });
    flood(cut.data(), on, height, width, figure);
}

}  // namespace imtorque
