// The torque kernels' entry points. Patches come in increasing order; `clip_patches` has been applied. For a field that
// is free of polarity, torque means closure throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/box_tables.hpp"
#include "core/forces.hpp"

namespace imtorque {

enum class Shape { box, disk };  // numbered as in imtorque.core.patches

// The same patches with reaches no longer than the image needs: pixels outside it hold no forces.
std::vector<Patch> clip_patches(std::vector<Patch> patches, Shape shape, const Field& field);

// How many of the patches, from the first, have sums that fit 32 bits; and whether the others pass 2^51.
struct Widths {
    int narrow;
    bool long_sums;
};
Widths choose_widths(const Field& field, const std::vector<Patch>& patches);

constexpr int kStrip = 480;  // columns a task takes at least: its table rows fit the second-level cache

struct Reach {
    int y, x;
};
// The longest of patches[first], ..., count of them.
Reach reach_of(const std::vector<Patch>& patches, int first, int count);

// Strips and bands of the image. Where patches reach so far that a table for each thread would take more memory than
// the image deserves, tiles come one after the other, and the threads share the table of each (`shared`). There are
// enough tiles to keep so many threads busy. A cell of a table has `cell_bytes` bytes; a strip has at least `least`
// columns.
struct Tiling {
    std::vector<Tile> tiles;
    bool shared;
};
Tiling cut_tiles(int height, int width, int reach_y, int reach_x, size_t cell_bytes, int threads, int least = kStrip);

constexpr int kDiskRows = 64;  // of disks computed together: enough that making their tables is a small part

// The length of equal parts of `length`, each about so long: no part is a sliver whose margins cost more than itself.
int even_part(int length, int about);

// Half the width of a disk, `dy` rows from its centre: the largest w with w^2 + dy^2 <= radius^2; -1 where it has no
// row.
int disk_half_width(long long radius, long long dy);

// Of all disks together: rows +dy and -dy are a pair, and so is the middle row.
double pairs_of_rows(const Field& field, const std::vector<Patch>& patches);

// tau[k][y][x], float32.
void torque_volume(const Field& field, const std::vector<Patch>& patches, Shape shape, float* tau);

// The torque of largest magnitude at each pixel, and the label of the patch it was found at with its sign (0 where it
// is 0). The first of equal magnitudes is kept. Of boxes, `scale` may be null: the value map alone takes less time.
void value_and_scale(const Field& field, const std::vector<Patch>& patches, Shape shape, const int32_t* labels,
                     float* value, int32_t* scale);

// The same from a volume.
void value_and_scale_of_volume(const float* tau, int count, long long pixels, const int32_t* labels, float* value,
                               int32_t* scale);

// Of rows of `count` torques that lie `stride` apart, those stronger than what the row `value` holds go there, and
// their labels beside them.
void keep_stronger_rows(const float* tau, int sizes, long long stride, const int32_t* labels, int count, float* value,
                        int32_t* label);

// Where the torque of disks in the rows [top, bottom) goes: all of it into a volume, or the strongest into maps of
// these rows, which hold the strongest of disks before, and the label of its disk, without sign yet.
struct DiskRows {
    int top, bottom;
    float* tau;  // [k][y - top][x], or null: then into maps
    const int32_t* labels;
    float* value;
    int32_t* scale;
};
inline DiskRows into_volume(int top, int bottom, float* tau) { return {top, bottom, tau, nullptr, nullptr, nullptr}; }

// Some rows of `count` disks after the other by work(rows), which writes a volume, and from there to where they go.
void run_in_bands(const Field& field, int count, const DiskRows& out, const std::function<void(const DiskRows&)>& work);

// Torque of all disks.
void disk_torque(const Field& field, const std::vector<Patch>& patches, const DiskRows& out);

// Closure of all disks, likewise.
void disk_closure(const Field& field, const std::vector<Patch>& patches, const DiskRows& out);

// The same where forces are so few that it is quicker than so many look-ups of prefixes for each pixel; returns whether
// it was done. Sums fit `width`, and four times the closure fits 64 bits.
bool sparse_disk_torque(const Field& field, const std::vector<Patch>& patches, Width width, double look_ups,
                        const DiskRows& out);
bool sparse_disk_closure(const Field& field, const std::vector<Patch>& patches, const DiskRows& out);

// Torque over size at one pixel.
void torque_spectrum(const Field& field, const std::vector<Patch>& patches, Shape shape, int y, int x, float* tau);

}  // namespace imtorque
