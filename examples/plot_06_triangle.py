"""
A triangle over patch sizes
===========================

At the centre of a shape the torque grows while the patch takes in the contour, then falls as the patch outgrows it.
Of a round or square shape the peak is at its size. Of a triangle it comes before its corners are reached: in disks,
where the radius is that of the circumscribed circle over the root of two, 21 for 30, with 3 / (2 pi) = 0.48 (the
paper's figure 6).
"""

import matplotlib.pyplot as plt

import imtorque
from imtorque.plotting import show_torque_spectrum, show_value_map

CENTRE = (65, 60)
image = 1 - imtorque.synthetic.triangle((121, 121), CENTRE, 30)
edges = imtorque.detect_edges(1 - image)

figure = plt.figure(figsize=(12, 6.4), layout="constrained")
grid = figure.add_gridspec(2, 5)
first = figure.add_subplot(grid[0, 0])
first.imshow(image, cmap="gray_r")
first.set(title="triangle, circumradius 30", xticks=[], yticks=[])
for k, radius in enumerate((5, 15, 21, 40), start=1):
    torque = imtorque.torque_map(edges, 2 * radius + 1, patch="disk")
    cell = show_value_map(torque, limit=0.5, ax=figure.add_subplot(grid[0, k]))
    cell.set_title(f"disk of radius {radius}")
    if radius < 40:  # one colour bar is enough
        cell.images[0].colorbar.remove()

curve = figure.add_subplot(grid[1, :])
show_torque_spectrum(edges, CENTRE, range(1, 102, 2), patch="disk", ax=curve)
curve.set_title("torque at the centre of the triangle; a disk of size s has radius (s - 1) / 2")

plt.show()
