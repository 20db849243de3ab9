"""
Forward and backward
====================

Left: the forces of a disc's and a box's edges, and the torque of squares of 25 pixels around every pixel. Right: a
gradient that asks for more torque at two points, and what comes back to the forces: each edge in the two squares, by
how it turns about their centres. The backward pass of torque is the contribution map.
"""

import matplotlib.pyplot as plt
import torch

from imtorque.torch import detect_edges, torque_map

image = torch.zeros(1, 1, 60, 100)
y, x = torch.meshgrid(torch.arange(60), torch.arange(100), indexing="ij")
image[0, 0, (y - 30) ** 2 + (x - 27) ** 2 < 90] = 1
image[0, 0, 20:40, 64:84] = 1

forces = detect_edges(image).requires_grad_()
torque = torque_map(forces, 25)
wanted = torch.zeros_like(torque)
wanted[0, 30, 27] = wanted[0, 34, 70] = 1
torque.backward(wanted)
moments = (forces.grad * forces).sum(1)[0].detach().numpy()  # what each edge does for the two patches

figure, cells = plt.subplots(1, 4, figsize=(15, 2.9), layout="constrained")
edge = (forces != 0).any(1)[0].numpy()
fx, fy = forces[0].detach().numpy()
cells[0].imshow(image[0, 0].numpy(), cmap="gray", vmin=-1)
cells[0].quiver(x[edge], y[edge], fx[edge], fy[edge], angles="xy", color="tab:orange")
cells[0].set_title("forces")
cells[1].imshow(torque[0].detach().numpy(), cmap="RdBu_r", vmin=-1, vmax=1)
cells[1].set_title("forward: torque")
cells[2].imshow(edge, cmap="gray", vmax=3)
for cy, cx in ((30, 27), (34, 70)):
    cells[2].plot(cx, cy, "o", color="tab:red")
    cells[2].add_patch(plt.Rectangle((cx - 12.5, cy - 12.5), 25, 25, fill=False, color="tab:red"))
cells[2].set_title("a gradient at two points")
cells[3].imshow(moments, cmap="RdBu_r", vmin=-abs(moments).max(), vmax=abs(moments).max())
cells[3].set_title("backward: contribution of each edge")
for cell in cells:
    cell.set_axis_off()
plt.show()
