"""
Counting from a few examples
============================

Pale-centred cells that touch, and specks between them. Without training `find_blobs` finds closed outlines of the sizes
asked for; `ObjectFinder` learns from three marked images what a cell is, and finds the cells of a fourth.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import imtorque
from imtorque.detection import ObjectFinder
from imtorque.render.objects import numbered_overlay


def drawn_cells(seed):
    """An image of 24 dark rings, most of them touching, with noise, specks and a ramp of light; and their boxes."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((200, 300))
    image = 0.75 + 0.15 * x / 300
    boxes = []
    for row, column in np.ndindex(4, 6):
        cy, cx = 28 + 46 * row + rng.normal(0, 3), 30 + 46 * column + rng.normal(0, 3)
        radius = rng.uniform(16, 22)
        away = np.hypot(y - cy, x - cx) / radius
        image = np.minimum(image, np.where(away < 1, 0.45 + 0.25 * np.exp(-((away / 0.55) ** 4)), 1))
        boxes.append([cy - radius, cx - radius, cy + radius + 1, cx + radius + 1])
    for cy, cx in rng.uniform(5, 195, (25, 2)) * (1, 1.5):
        image[np.hypot(y - cy, x - cx) < 2.5] -= 0.2
    return gaussian_filter(image, 1.2) + rng.normal(0, 0.015, image.shape), np.array(boxes)


marked = [drawn_cells(seed) for seed in range(3)]
image, _ = drawn_cells(3)
blobs = imtorque.find_blobs(image, sizes=(30, 46))
finder = ObjectFinder().fit([checked for checked, _ in marked], [boxes for _, boxes in marked])
learned = finder.predict(image)

figure, cells = plt.subplots(1, 3, figsize=(13, 3.4), layout="constrained")
cells[0].imshow(image, cmap="gray")
cells[0].set_title("24 cells")
cells[1].imshow(numbered_overlay(image, blobs.labels, blobs.y, blobs.x))
cells[1].set_title(f"find_blobs, sizes 30 to 46: {len(blobs)}")
cells[2].imshow(numbered_overlay(image, learned.labels, learned.y, learned.x))
cells[2].set_title(f"ObjectFinder, trained on 3 images: {len(learned)}")
for cell in cells:
    cell.set_axis_off()

plt.show()
