"""
Without polarity
================

Signed torque tells bright from dark, and so it cancels where an outline is bright on one side and dark on the other: on
a ground of two greys, in a line drawing, in a crater lit from one side. Closure squares the moments before it sums
them: how much more do edges run around the point than towards it? It is red where they circle, blue where they point,
and does not ask which side is brighter. It pays with texture, whose strokes no longer cancel one by one.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from scipy.ndimage import gaussian_filter

import imtorque
from imtorque.plotting.torque import VALUE_MAP
from imtorque.synthetic import curves, disc, paint, texture

shape = (121, 121)
x = np.indices(shape)[1] - 60
cover = disc(shape, (60, 60), 35)
relief = gaussian_filter(cover - disc(shape, (60, 60), 29), 1.2)
scenes = {
    "one contrast": paint(0.2, cover, 0.8),
    "two grounds": paint(np.where(x < 0, 0.1, 0.9), cover, 0.5),
    "a line": paint(0.9, cover - disc(shape, (60, 60), 33), 0.1),
    "lit from above": 0.5 - 2 * np.gradient(relief, axis=0),
    "rays": curves(shape, "star", two_sided=True),
    "strokes": texture(shape, density=0.1),
}

figure, cells = plt.subplots(3, len(scenes), figsize=(13, 6.8), layout="constrained")
for column, (name, image) in zip(cells.T, scenes.items(), strict=True):
    edges = imtorque.detect_edges(image)
    column[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    column[0].set_title(name)
    for cell, polarity in zip(column[1:], ("signed", "free"), strict=True):
        response = imtorque.torque_map(edges, 75, polarity=polarity)
        cell.imshow(response, cmap=VALUE_MAP, vmin=-1, vmax=1)
        text = f"{response[60, 60]:+.2f}".replace("-0.00", "+0.00")
        cell.text(60, 60, text, ha="center", va="center", path_effects=[withStroke(linewidth=3, foreground="w")])
for cell, label in zip(cells[:, 0], ("image", "torque", "closure"), strict=True):
    cell.set_ylabel(label)
for cell in cells.flat:
    cell.set(xticks=[], yticks=[])

plt.show()
