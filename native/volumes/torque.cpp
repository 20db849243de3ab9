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
        parallel_for(grid.height, 1.0 * static_cast<double>(count) * grid.width, [&](int y) {
            for (size_t i = static_cast<size_t>(y) * grid.width; i < static_cast<size_t>(y + 1) * grid.width; ++i) {
                float best = 0;
                int32_t label = 0;
                for (size_t k = 0; k < count; ++k) {
                    const float torque = slice[k * plane + i];
                    if (std::fabs(torque) > std::fabs(best)) {
                        best = torque;
                        label = labels[k];
                    }
                }
                value[at + i] = best;
                scale[at + i] = best < 0 ? -label : label;
            }
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
