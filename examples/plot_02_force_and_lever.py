"""
Force and lever
===============

An edge pixel q pulls along its edge with a force F, the brighter side on its right. About a point p it has the lever
r from p to q, and the torque r x F: the part of the force across the lever, times the lever's length (the paper's
figure 2).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque

image = imtorque.synthetic.scene("disc", (81, 121))
edges = imtorque.detect_edges(image)
y, x = np.nonzero(edges.mask)
turn = np.argsort(np.arctan2(y - 40, x - 60))[::5]
y, x = y[turn], x[turn]

figure, axes = plt.subplots(figsize=(8, 5.6), layout="constrained")
axes.imshow(image, cmap="gray", vmin=-0.6, vmax=1)
forces = {"color": "#d6604d", "width": 0.004, "scale_units": "xy", "angles": "xy", "scale": 0.2}
axes.quiver(x, y, edges.fx[y, x], edges.fy[y, x], label="force F of an edge pixel", **forces)

p, k = (44, 52), len(x) // 8
r = (x[k] - p[1], y[k] - p[0])
fx, fy = edges.fx[y[k], x[k]], edges.fy[y[k], x[k]]
torque = r[0] * fy - r[1] * fx
axes.plot(p[1], p[0], "o", color="#2166ac", ms=9, label="point p")
axes.annotate("", (x[k], y[k]), (p[1], p[0]), arrowprops={"arrowstyle": "-|>", "color": "#2166ac", "lw": 2})
axes.text((p[1] + x[k]) / 2 - 3, (p[0] + y[k]) / 2 + 4, "r", color="#2166ac", size=16, style="italic")
tip = (x[k] + 12 * fx, y[k] + 12 * fy)
axes.annotate("", tip, (x[k], y[k]), arrowprops={"arrowstyle": "-|>", "color": "#b2182b", "lw": 3})
axes.text(tip[0] - 4, tip[1], "F", color="#b2182b", size=16, style="italic")
axes.plot(x[k], y[k], "s", color="black", ms=7, label=f"edge pixel q: r x F = {torque:.1f}")
axes.legend(loc="upper right")
axes.set(title="A dark disc: all forces turn one way, so the torque about p is negative", xticks=[], yticks=[])

plt.show()
