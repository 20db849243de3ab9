"""
Depth edges
===========

Spheres and turned boxes before a slanted wall, all in the same paint. The edges of the photograph are those of the
paint, and its extrema are patches of paint. `edges_from_depth` keeps the rims at which one surface hides another: no
slope, no crease and no hole of the depth map is an edge, and the nearer side is the inner one. The extrema are the
objects.
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_extrema, show_value_map

scene = imtorque.synthetic.depth_scene(3)
depth = np.where(scene.depth > 0, scene.depth, np.nan)
figure, cells = plt.subplots(2, 3, figsize=(13, 6.8), layout="constrained")
rows = {
    "photograph": (scene.image, imtorque.detect_edges(scene.image)),
    "depth (white: no value)": (depth, imtorque.edges_from_depth(scene.depth)),
}
for row, (title, (checked, edges)) in zip(cells, rows.items(), strict=True):
    found = imtorque.suppress_overlaps(imtorque.find_extrema(edges, sign=1))[: len(scene.y)]
    row[0].imshow(checked, cmap="gray" if title == "photograph" else "viridis_r")
    row[0].set(title=title, xticks=[], yticks=[])
    show_value_map(imtorque.value_and_scale_maps(edges)[0], ax=row[1])
    y, x = np.nonzero(edges.mask)
    row[1].plot(x, y, "k,")
    row[1].set_title("torque, with the edges")
    show_extrema(scene.image, found, ax=row[2]).set_title(f"the first {len(found)} maxima")

plt.show()
