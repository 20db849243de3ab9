"""
Tuned to shapes
===============

Torque weighs every edge by the force of a circle around the patch's centre. `ShapeTorque` weighs it by the force that a
class of shapes is expected to have there, cell by cell, and by no more look-ups for large patches than for small ones.
Each column is tuned to one class, from a dozen contours; the brightest spot of its response is the one of that class.
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.synthetic import silhouette, silhouette_scene

figure, cells = plt.subplots(3, 4, figsize=(13, 7.6), layout="constrained")
for column, kind in zip(cells.T, ("fish", "arrow", "cross", "bottle"), strict=True):
    rng = np.random.default_rng(0)
    contours = [40 * silhouette(kind, rng) for _ in range(12)]
    tuned = imtorque.ShapeTorque.fit(contours)
    for contour in contours:
        closed = np.vstack([contour, contour[:1]])
        column[0].plot(closed[:, 1], closed[:, 0], "k", alpha=0.3)
    column[0].set(title=f"examples: {kind}", aspect="equal", xlim=(-75, 75), ylim=(56, -56))

    scene = silhouette_scene(13, "fish")
    edges = imtorque.detection.shape_classes.shape_edges(scene.image)
    best = tuned.detect(edges, count=1)
    response = tuned.response(edges, float(best.y1[0] - best.y0[0]))
    column[1].imshow(response, cmap="magma", vmin=0)
    column[1].set_title("response at the best size")
    column[2].imshow(scene.image, cmap="gray")
    y0, x0, y1, x1 = best.as_array()[0]
    column[2].add_patch(plt.Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, color="gold", linewidth=2))
    column[2].set_title("best box")
    for cell in column:
        cell.set(xticks=[], yticks=[])

plt.show()
