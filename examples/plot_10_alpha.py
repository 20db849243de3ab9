"""
What alpha does
===============

The torque of a patch of size s is divided by its area at alpha = 2, and by less for large patches below: smaller alpha
favours larger structures and makes the value map smoother (the paper's figure 10).
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque
from imtorque.plotting import show_value_map

photograph = Image.fromarray(imtorque.datasets.sample("hopper"))
image = np.asarray(photograph.reduce(2))
edges = imtorque.detect_edges(image)
sizes = range(3, 92, 2)

figure, cells = plt.subplots(1, 4, figsize=(15, 4.6), layout="constrained")
cells[0].imshow(image)
cells[0].set(title="image", xticks=[], yticks=[])
for cell, alpha in zip(cells[1:], (1.0, 1.5, 2.0), strict=True):
    value, scale = imtorque.value_and_scale_maps(edges, sizes, alpha=alpha)
    show_value_map(value, ax=cell).set_title(f"alpha {alpha}: median size {np.median(np.abs(scale)):.0f}")

plt.show()
