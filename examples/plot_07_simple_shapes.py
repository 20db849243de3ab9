"""
Value and scale maps of simple shapes
=====================================

The value map is strongest at the centre of each shape, and the scale map holds the shape's size there. Black in the
scale map is where no patch sees any torque (the paper's figure 7).
"""

import math

import matplotlib.pyplot as plt

import imtorque
from imtorque.plotting import show_scale_map, show_value_map
from imtorque.synthetic import disc, polygon, square, triangle

shape, middle = (121, 121), (60, 60)
turns = [2 * math.pi * k / 5 - math.pi / 2 for k in range(5)]
pentagon = [(60 + 30 * math.sin(t), 60 + 30 * math.cos(t)) for t in turns]
shapes = {
    "disc": disc(shape, middle, 28),
    "square": square(shape, middle, 48),
    "diamond": square(shape, middle, 44, angle=math.pi / 4),
    "triangle": triangle(shape, (66, 60), 34),
    "pentagon": polygon(shape, pentagon),
}

figure, cells = plt.subplots(2, 5, figsize=(15, 6.2), layout="constrained")
for column, (name, cover) in zip(cells.T, shapes.items(), strict=True):
    edges = imtorque.detect_edges(cover)
    value, scale = imtorque.value_and_scale_maps(edges, sizes=range(3, 62, 2))
    show_value_map(value, limit=1, ax=column[0]).contour(cover, [0.5], colors="black", linewidths=1)
    column[0].set_title(f"{name}: {value.max():.2f} at size {scale.flat[value.argmax()]}")
    show_scale_map(scale, ax=column[1])
    for cell in column[:2]:  # one colour bar a row is enough
        if name != "pentagon":
            cell.images[0].colorbar.remove()

plt.show()
