"""
Which side owns the edge?
=========================

Of the two sides of an edge, the figure is the one on which edges turn together around the points beside it. Short lines
point to the side that `border_ownership` gives each edge to: enclosed, small and convex regions, what lies in front,
the ring around a hole. The colour says whether that side is the brighter (red) or the darker one (blue).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.synthetic import disc, paint, square

shape = (150, 200)
rows, columns = np.indices(shape)
grey = np.full(shape, 0.5)
ring = paint(paint(np.full(shape, 0.8), disc(shape, (75, 100), 50), 0.2), disc(shape, (75, 100), 25), 0.8)
images = {
    "enclosure": paint(grey, disc(shape, (75, 100), 30), 0.9),
    "small size": np.where((columns > 90) & (columns < 112), 0.15, 0.5),
    "convexity": np.where(columns < 90 + 26 * np.abs(np.sin(rows * np.pi / 50)), 0.85, 0.5),
    "T-junctions": paint(paint(grey, square(shape, (75, 80), 60), 0.2), square(shape, (85, 115), 60), 0.85),
    "hole": ring,
    "overlaps": imtorque.synthetic.overlap_scene(7).image,
}

figure, cells = plt.subplots(2, 3, figsize=(13, 6.8), layout="constrained")
for cell, (title, checked) in zip(cells.flat, images.items(), strict=True):
    edges = imtorque.boundaries.ownership.ownership_edges(checked)
    side = imtorque.border_ownership(edges, model="drawings")
    cell.imshow(checked, cmap="gray", vmin=-0.3, vmax=1.3)
    y, x = np.nonzero(edges.mask)
    length = edges.strength[y, x]
    towards = 7 * np.sign(side[y, x])
    ny, nx = towards * edges.fx[y, x] / length, -towards * edges.fy[y, x] / length
    every = slice(None, None, 3)
    for keep, colour in ((towards > 0, "tab:red"), (towards < 0, "tab:blue")):
        ends = [np.stack([a[keep], (a + d)[keep]])[:, every] for a, d in ((x, nx), (y, ny))]
        cell.plot(*ends, color=colour, linewidth=1)
    cell.set(title=title, xticks=[], yticks=[], xlim=(0, 199), ylim=(149, 0))

plt.show()
