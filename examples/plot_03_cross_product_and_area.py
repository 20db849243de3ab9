"""
A cross product is an area
==========================

Lever r and force F span a triangle whose area is half their cross product. Along a contour these triangles are slices
of the area inside it, which is why torque has a factor 1/2 and why it measures area (the paper's figure 3).
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

p = np.array([0.0, 0.0])
q = np.array([3.0, 1.6])
force = np.array([0.9, -1.6])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.fill(*np.transpose([p, q, q + force]), color="#d1e5f0")
arrow = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.012}
left.quiver(*p, *q, color="#2166ac", **arrow)
left.quiver(*q, *force, color="#d6604d", **arrow)
area = 0.5 * abs(q[0] * force[1] - q[1] * force[0])
left.text(2.1, 0.55, f"½ |r x F| = {area:.2f}", size=12, ha="center")
for name, place in (("p", (-0.2, -0.1)), ("r", (1.3, 1.0)), ("F", (3.55, 0.9))):
    left.text(*place, name, size=15, style="italic")
left.set(title="one edge", xlim=(-0.5, 4.5), ylim=(-0.7, 2.3), aspect="equal", xticks=[], yticks=[])

angles = np.linspace(0, 2 * np.pi, 25)
corners = np.stack([2.4 * np.cos(angles) + 0.5, 1.6 * np.sin(angles) + 0.2], axis=1)
total = 0.0
for k, (start, end) in enumerate(pairwise(corners)):
    total += 0.5 * (start[0] * (end - start)[1] - start[1] * (end - start)[0])
    right.fill(*np.transpose([p, start, end]), color=("#d1e5f0", "#92c5de")[k % 2])
    right.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#d6604d", "lw": 2})
right.plot(*p, "ko")
right.text(0.1, -0.25, "p", size=15, style="italic")
ellipse = np.pi * 2.4 * 1.6
right.set(title=f"a closed contour: sum {total:.2f}, area inside {ellipse:.2f}", aspect="equal", xticks=[], yticks=[])

plt.show()
