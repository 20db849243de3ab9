"""
Why here? The evidence for an extremum
======================================

The torque of a patch is a sum over its edge pixels, so it can be taken apart again: which edges made this extremum, and
which spoke against it. Here are the strongest dark and the strongest bright object in the photograph.
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque
from imtorque.plotting import show_evidence

photograph = Image.fromarray(imtorque.datasets.sample("hopper"))
image = np.asarray(photograph.reduce(2))
edges = imtorque.detect_edges(image)

figure, cells = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
for cell, sign in zip(cells, (-1, 1), strict=True):
    strongest = imtorque.find_extrema(edges, sizes=range(15, 92, 2), sign=sign, count=1)
    show_evidence(edges, strongest, image=image, ax=cell)
    y, x, reach = strongest.y[0], strongest.x[0], strongest.size[0]
    cell.set(xlim=(x - reach, x + reach), ylim=(y + reach, y - reach))
    cell.set_title(f"torque {strongest.value[0]:+.2f} at y {y}, x {x}, size {reach}")

plt.show()
