"""
Overlap and hole
================

Two dark discs, the brighter one in front: both are negative, and a positive strip appears on the brighter disc where it
meets the darker one, for along that edge it is the bright side. A hole makes no such strip: all edges of the ring have
the dark side on the ring (the paper's figure 8).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_scale_map, show_value_map

figure, cells = plt.subplots(2, 3, figsize=(13, 6), layout="constrained")
for row, name in zip(cells, ("overlap", "hole"), strict=True):
    image = imtorque.synthetic.scene(name)
    edges = imtorque.detect_edges(image)
    value, scale = imtorque.value_and_scale_maps(edges, sizes=range(3, 92, 2))
    row[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    row[0].set(title=name, xticks=[], yticks=[])
    show_scale_map(scale, ax=row[1]).set_title("scale map")
    y, x = np.nonzero(edges.mask)
    show_value_map(value, ax=row[2]).plot(x, y, "k,")
    row[2].set_title("value map, with the edges")

plt.show()
