"""
A triangle over patch sizes
===========================

At the centre of a shape the torque grows until the patch holds the whole contour, then falls as the patch outgrows it:
the size of the strongest torque is the size of the shape. An ideal triangle in its circumscribed disk would have
0.41 (the paper's figure 6).
"""

import matplotlib.pyplot as plt

import imtorque
from imtorque.plotting import show_torque_spectrum, show_value_map

image = 1 - imtorque.synthetic.triangle((101, 101), (54, 50), 21)
edges = imtorque.detect_edges(1 - image)

figure = plt.figure(figsize=(12, 6.4), layout="constrained")
grid = figure.add_gridspec(2, 5)
first = figure.add_subplot(grid[0, 0])
first.imshow(image, cmap="gray_r")
first.set(title="triangle, radius 21", xticks=[], yticks=[])
for k, radius in enumerate((2, 10, 21, 30), start=1):
    torque = imtorque.torque_map(edges, 2 * radius + 1, patch="disk")
    cell = show_value_map(torque, limit=0.5, ax=figure.add_subplot(grid[0, k]))
    cell.set_title(f"disk of radius {radius}")
    if radius < 30:  # one colour bar is enough
        cell.images[0].colorbar.remove()

curve = figure.add_subplot(grid[1, :])
show_torque_spectrum(edges, (54, 50), range(1, 82, 2), patch="disk", ax=curve)
curve.set_title("torque at the centre of the triangle; a disk of size s has radius (s - 1) / 2")

plt.show()
