"""
Texture against boundary
========================

The two sides of a stroke pull in opposite directions, so the edges of a texture cancel; those of a closed boundary add
up. The strongest torque over all sizes from 3 to 91 pixels tells them apart, in squares and in disks. The paper's
figure 5 has 0.39 and 0.79: the boundary's lies between those of our two patches, and the order is found again, but
no texture that we drew stays below 0.39.
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_value_map

scenes = {"texture": imtorque.synthetic.texture((121, 121)), "boundary": imtorque.synthetic.scene("disc", (121, 121))}

figure, cells = plt.subplots(2, 4, figsize=(14, 7), layout="constrained")
for row, (name, image) in zip(cells, scenes.items(), strict=True):
    edges = imtorque.detect_edges(image)
    row[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    row[0].set_title(name)
    row[1].imshow(edges.mask, cmap="gray_r")
    row[1].set_title(f"{np.count_nonzero(edges.mask)} edge pixels")
    for cell, patch in zip(row[2:], ("square", "disk"), strict=True):
        value, _ = imtorque.value_and_scale_maps(edges, sizes=range(3, 92, 2), patch=patch)
        show_value_map(value, limit=0.8, ax=cell).set_title(f"{patch}s: strongest torque {np.abs(value).max():.2f}")
    for cell in row:
        cell.set(xticks=[], yticks=[])

plt.show()
