"""
Motion edges
============

Discs that move over a ground that moves, turns and comes nearer, all in the same paint: one frame shows nothing. Two
frames give the flow (`optical_flow`, by OpenCV's DIS), and `edges_from_motion` the edges at which it jumps, with what
moves unlike the ground on the inner side.
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_extrema, show_value_map

scene = imtorque.synthetic.motion_scene(1)
flow = imtorque.optical_flow(scene.first, scene.second)
figure, cells = plt.subplots(2, 3, figsize=(13, 6.8), layout="constrained")
for row, edges in zip(cells, (imtorque.detect_edges(scene.first), imtorque.edges_from_motion(flow)), strict=True):
    show_value_map(imtorque.value_and_scale_maps(edges)[0], ax=row[1])
    y, x = np.nonzero(edges.mask)
    row[1].plot(x, y, "k,")
    row[1].set_title("torque, with the edges")
    found = imtorque.suppress_overlaps(imtorque.find_extrema(edges, sign=1))[: len(scene.y)]
    show_extrema(scene.first, found, ax=row[2]).set_title(f"the first {len(found)} maxima")
cells[0, 0].imshow(scene.first, cmap="gray")
cells[0, 0].set(title="one frame", xticks=[], yticks=[])
step = 8
v, u = np.mgrid[step // 2 : flow.shape[0] : step, step // 2 : flow.shape[1] : step]
cells[1, 0].quiver(u, v, flow[v, u, 0], flow[v, u, 1], np.hypot(*flow[v, u].T).T, angles="xy", cmap="viridis")
cells[1, 0].set(title="its motion to the next", xticks=[], yticks=[], aspect="equal")
cells[1, 0].set(xlim=cells[0, 0].get_xlim(), ylim=cells[0, 0].get_ylim())

plt.show()
