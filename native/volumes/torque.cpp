// Torque of all boxes of a volume: all of it, and the fused value and scale maps that never store it. Naive twins:
// naive_volumes.torque, naive.value_and_scale_maps.
#include <cmath>

#include "volumes/gradient_tables.hpp"
#include "volumes/torque_tables.hpp"

namespace imtorque {
namespace {

struct Whole {
    Grid grid;
    size_t count;
    float* tau;

    void planes(int z, float** pointers) {
        for (size_t k = 0; k < count; ++k) pointers[k] = tau + (k * grid.depth + z) * grid.plane();
    }
    void done(int) {}
};

IMTORQUE_INLINE void select_row_impl(const float* __restrict torque, int32_t own, int count, float* __restrict value,
                                     int32_t* __restrict label) {
    IMTORQUE_IVDEP
    for (int x = 0; x < count; ++x) {
        const bool larger = std::fabs(torque[x]) > std::fabs(value[x]);
        value[x] = larger ? torque[x] : value[x];
        label[x] = larger ? own : label[x];
    }
}
IMTORQUE_DISPATCH(static, select_row, (const float* torque, int32_t own, int count, float* value, int32_t* label),
                  (torque, own, count, value, label))

struct Strongest {
    Grid grid;
    const int32_t* labels;
    size_t count;
    float* value;
    int32_t* scale;
    std::vector<float> slice;

    void planes(int, float** pointers) {
        slice.resize(count * grid.plane());
        for (size_t k = 0; k < count; ++k) pointers[k] = slice.data() + k * grid.plane();
    }
    void done(int z) {
        const size_t plane = grid.plane(), at = static_cast<size_t>(z) * plane;
        parallel_for(grid.height, 0.5 * static_cast<double>(count) * grid.width, [&](int y) {
            const size_t from = static_cast<size_t>(y) * grid.width;
            float* best = value + at + from;
            int32_t* label = scale + at + from;
            std::fill_n(best, grid.width, 0.0f);
            std::fill_n(label, grid.width, 0);
            for (size_t k = 0; k < count; ++k)
                select_row(slice.data() + k * plane + from, labels[k], grid.width, best, label);
            for (int x = 0; x < grid.width; ++x) label[x] = best[x] < 0 ? -label[x] : label[x];
        });
    }
};

template <class Uint, class Sink>
void sweep_field(const VolumeField& field, const std::vector<VolumeBox>& boxes, Sink& sink) {
    TorqueTables<Uint> tables(field, boxes);
    sweep(tables, field.grid, boxes, sink);
}

}  // namespace

void volume_torque(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide, float* tau) {
    Whole sink{field.grid, boxes.size(), tau};
    wide ? sweep_field<uint64_t>(field, boxes, sink) : sweep_field<uint32_t>(field, boxes, sink);
}

void volume_value_and_scale(const VolumeField& field, const std::vector<VolumeBox>& boxes, bool wide,
                            const int32_t* labels, float* value, int32_t* scale) {
    Strongest sink{field.grid, labels, boxes.size(), value, scale, {}};
    wide ? sweep_field<uint64_t>(field, boxes, sink) : sweep_field<uint32_t>(field, boxes, sink);
}

void volume_gradient_torque(const int32_t* image, Grid grid, const std::vector<VolumeBox>& boxes, double unit,
                            float* tau) {
    GradientTables tables(image, grid, boxes, unit);
    Whole sink{grid, boxes.size(), tau};
    sweep(tables, grid, boxes, sink);
}

}  // namespace imtorque
