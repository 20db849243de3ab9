// The field of forces that Python holds.
#pragma once

#include "bindings/arrays.hpp"
#include "core/forces.hpp"

namespace imtorque {

// An edge field as Python holds it: opaque. It keeps the arrays it was given, shows them read-only, and takes its
// statistics when it is made, unless it is given them; `round_to` must be called before a kernel sees it.
class EdgeField {
  public:
    EdgeField(Plane fx, Plane fy) : fx_(std::move(fx)), fy_(std::move(fy)) {
        require_same_shape(fx_, fy_);
        nb::gil_scoped_release release;
        statistics_ = force_statistics(fx_.data(), fy_.data(), height(), width());
    }
    EdgeField(Plane fx, Plane fy, ForceStatistics statistics)
        : fx_(std::move(fx)), fy_(std::move(fy)), statistics_(std::move(statistics)) {}
    void round_to(double steps) { steps_ = steps; }
    // The field of the forces (a fx + b fy, c fx + d fy). Where components are only exchanged or negated,
    // the statistics stay the same.
    EdgeField turned(double a, double b, double c, double d) const {
        const size_t rows = static_cast<size_t>(height()), columns = static_cast<size_t>(width());
        auto fx = make<float, 2>({rows, columns}), fy = make<float, 2>({rows, columns});
        EdgeField result{Plane(fx), Plane(fy), ForceStatistics{}};
        const bool exchanged = a * a + b * b == 1 && c * c + d * d == 1 && a * b == 0 && c * d == 0;
        nb::gil_scoped_release release;
        turn_forces(fx_.data(), fy_.data(), rows * columns, {a, b, c, d}, fx.data(), fy.data());
        result.statistics_ = exchanged ? statistics_ : force_statistics(fx.data(), fy.data(), height(), width());
        result.steps_ = steps_;
        return result;
    }
    auto statistics() const {
        using Units = nb::typed<nb::tuple, int, nb::ellipsis>;
        using Octaves = nb::typed<nb::tuple, std::tuple<int, long long>, nb::ellipsis>;
        nb::list not_pell, octaves;
        for (const int unit : statistics_.not_pell) not_pell.append(unit);
        for (const auto& [octave, count] : statistics_.octaves) octaves.append(nb::make_tuple(octave, count));
        return std::make_tuple(
            std::make_tuple(statistics_.top, statistics_.left, statistics_.bottom, statistics_.right),
            statistics_.largest, statistics_.grain, Units(nb::tuple(not_pell)), Octaves(nb::tuple(octaves)));
    }
    double mass() const { return statistics_.blocks.back(); }
    Field field(bool free = false) const {
        const bool fine = statistics_.largest * steps_ >= kQuickRounding;
        return {fx_.data(), fy_.data(), height(),           width(), steps_, statistics_.blocks.data(),
                fine,       free,       statistics_.largest};
    }

  private:
    int height() const { return static_cast<int>(fx_.shape(0)); }
    int width() const { return static_cast<int>(fx_.shape(1)); }

    Plane fx_, fy_;
    ForceStatistics statistics_;
    double steps_ = 1;
};

}  // namespace imtorque
