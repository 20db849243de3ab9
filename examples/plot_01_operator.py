"""
The operator at four patch sizes
================================

Every pixel gets the torque of the patch around it: how strongly the edges in the patch circle its centre. Small patches
answer to small objects, large patches to large ones; the value map keeps the strongest answer of all sizes, and the
scale map the size that gave it (the paper's figure 1).
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque
from imtorque.plotting import show_scale_map, show_value_map

photograph = Image.fromarray(imtorque.datasets.sample("hopper"))
image = np.asarray(photograph.reduce(2))
edges = imtorque.detect_edges(image)

figure, cells = plt.subplots(2, 4, figsize=(14, 7.6), layout="constrained")
for cell, size in zip(cells[0], (5, 21, 45, 81), strict=True):
    show_value_map(imtorque.torque_map(edges, size), ax=cell).set_title(f"torque, size {size}")

value, scale = imtorque.value_and_scale_maps(edges, sizes=range(3, 92, 2))
cells[1, 0].imshow(image)
cells[1, 0].set(title="image", xticks=[], yticks=[])
cells[1, 1].imshow(edges.mask, cmap="gray_r")
cells[1, 1].set(title="edges", xticks=[], yticks=[])
show_value_map(value, ax=cells[1, 2]).set_title("value map, sizes 3 to 91")
show_scale_map(scale, ax=cells[1, 3]).set_title("scale map")

plt.show()
