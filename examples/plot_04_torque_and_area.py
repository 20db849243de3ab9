"""
Torque and area
===============

A patch that holds part of a contour has the torque of the sector between the contour and its centre; a patch that
holds all of a closed contour has the torque of the area inside, wherever the centre lies (the paper's figure 4).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque

shape, centre, radius = (161, 161), (80, 80), 45
image = 1 - imtorque.synthetic.disc(shape, centre, radius)
# One pixel of a slanted edge stands for more than one pixel of contour; areas need the length.
edges = imtorque.detect_edges(image, length_correction=True)
y, x = np.nonzero(edges.mask)

figure, cells = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
for cell, point, size, name in (
    (cells[0], (80, 104), 61, "the patch holds a part: a sector's area"),
    (cells[1], (72, 88), 141, "the patch holds all: the area inside"),
):
    reach = size // 2
    inside = (y - point[0]) ** 2 + (x - point[1]) ** 2 <= reach**2
    around = np.argsort(np.arctan2(y[inside] - point[0], x[inside] - point[1]))
    if size < 100:  # the part of the contour to the right, seen from the centre of the patch
        contour = [point, *zip(y[inside][around], x[inside][around], strict=True)]
    else:
        contour = list(zip(y[inside][around], x[inside][around], strict=True))
    rows, columns = np.transpose(contour)
    area = 0.5 * abs(np.sum(columns * np.roll(rows, -1) - rows * np.roll(columns, -1)))
    torque = imtorque.torque_map(edges, size, patch="disk")[point]
    times_patch = abs(torque) * np.pi * reach**2

    cell.imshow(image, cmap="gray", vmin=-2, vmax=1)
    cell.fill(columns, rows, color="#2166ac", alpha=0.35, label=f"area drawn: {area:.0f} pixels")
    cell.plot(x, y, "k.", ms=2)
    cell.add_patch(plt.Circle(point[::-1], reach, fill=False, ec="#d6604d", lw=2, ls="--"))
    cell.plot(*point[::-1], "o", color="#d6604d", label=f"|torque| x area of the patch: {times_patch:.0f}")
    cell.legend(loc="upper center", bbox_to_anchor=(0.5, 0))
    cell.set(title=name, xticks=[], yticks=[])

plt.show()
