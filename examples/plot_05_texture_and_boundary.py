"""
Texture against boundary
========================

The two sides of a stroke pull in opposite directions, so the edges of a texture cancel; those of a closed boundary add
up. The strongest torque over all sizes tells them apart (the paper's figure 5: 0.39 and 0.79).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_value_map

scenes = {"texture": imtorque.synthetic.texture((121, 121)), "boundary": imtorque.synthetic.scene("disc", (121, 121))}

figure, cells = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
for row, (name, image) in zip(cells, scenes.items(), strict=True):
    edges = imtorque.detect_edges(image)
    value, _ = imtorque.value_and_scale_maps(edges, sizes=range(9, 92, 2))
    row[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    row[0].set_title(name)
    row[1].imshow(edges.mask, cmap="gray_r")
    row[1].set_title(f"{np.count_nonzero(edges.mask)} edge pixels")
    show_value_map(value, limit=0.8, ax=row[2]).set_title(f"strongest torque {np.abs(value).max():.2f}")
    for cell in row:
        cell.set(xticks=[], yticks=[])

plt.show()
