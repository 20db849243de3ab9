"""
Tiles without seams
===================

An image that does not fit in memory is cut into tiles. Done one by one, each tile chooses thresholds of its own, edges
end at its border and so does what torque sees: the value map has seams. `scale.process_image` reads what surrounds a
tile, takes thresholds, connections and rounding from the whole image, and gives the bits of the image in memory.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import zarr

import imtorque
from imtorque.tiling import process_image

TILE, SIZES = 128, range(3, 62, 2)
image = imtorque.datasets.sample("hopper")[60:444, 64:448]
whole, _ = imtorque.value_and_scale_maps(imtorque.detect_edges(image), SIZES)

apart = np.zeros_like(whole)
for top in range(0, 384, TILE):
    for left in range(0, 384, TILE):
        part = np.s_[top : top + TILE, left : left + TILE]
        apart[part], _ = imtorque.value_and_scale_maps(imtorque.detect_edges(image[part]), SIZES)

with tempfile.TemporaryDirectory() as out:
    process_image(image, out, SIZES, ["value"], tile=TILE, jobs=1)
    ours = zarr.open_group(f"{out}/maps.zarr", mode="r")["value"][:]

figure, cells = plt.subplots(2, 3, figsize=(12, 8.2), layout="constrained")
cells[0, 0].imshow(image)
cells[0, 0].set_title("the image, and its tiles")
for axes, value, title in (
    (cells[0, 1], apart, "tiles one by one"),
    (cells[0, 2], ours, "tiling.process_image"),
):
    axes.imshow(value, cmap="RdBu_r", vmin=-0.6, vmax=0.6)
    axes.set_title(title)
cells[1, 0].imshow(whole, cmap="RdBu_r", vmin=-0.6, vmax=0.6)
cells[1, 0].set_title("in memory")
for axes, value in ((cells[1, 1], apart), (cells[1, 2], ours)):
    wrong = np.abs(value - whole)
    axes.imshow(wrong, cmap="magma", vmin=0, vmax=0.5)
    axes.set_title(f"{np.count_nonzero(wrong):,} of {wrong.size:,} values differ")
for axes in cells.flat:
    axes.set(xticks=range(TILE, 384, TILE), yticks=range(TILE, 384, TILE), xticklabels=[], yticklabels=[])
for line in (TILE, 2 * TILE):
    cells[0, 0].axhline(line - 0.5, color="white", lw=0.8)
    cells[0, 0].axvline(line - 0.5, color="white", lw=0.8)

plt.show()
