"""
A torque layer in a network
===========================

Of two broken outlines in each image one is closed; along the other edges turn back every quarter and enclose nothing.
A small network learns to draw the closed one whole with a layer of torque, with a convolution in its place hardly.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

import imtorque
from imtorque.torch import BoundaryVotes


def draw(rng):
    (y, x), forces, closed = np.indices((56, 56)), np.zeros((2, 56, 56)), None
    for cx in rng.permutation([15, 41]):
        cy, (a, b), grey = rng.uniform(16, 40), rng.uniform(8, 12, 2), rng.choice((-1.0, 1.0))
        edges = imtorque.detect_edges((((y - cy) / a) ** 2 + ((x - cx) / b) ** 2 < 1) * grey, low=0.1)
        quarter = np.floor(np.arctan2(y - cy, x - cx) * 2 / np.pi + rng.uniform(0, 4)) % 2
        forces += np.stack([edges.fx, edges.fy]) * (1 if closed is None else 2 * quarter - 1)
        closed = edges.mask if closed is None else closed
    return forces * (rng.random((56, 56)) < 0.6), closed[None]


def learn(layer, scores):
    wide = [nn.Conv2d(12, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU()]
    after = nn.Sequential(*wide, nn.Conv2d(16, 1, 5, padding=2))
    optimiser = torch.optim.Adam([*layer.parameters(), *after.parameters()], lr=0.005)
    for step in range(121):
        some = torch.randint(0, 192, (8,))
        drawn = after(torch.cat([forces[some], layer(forces[some])], 1))
        optimiser.zero_grad()
        nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))(drawn, outlines[some]).backward()
        optimiser.step()
        if step % 20 == 0:
            shown = after(torch.cat([forces[192:], layer(forces[192:])], 1)).sigmoid().detach()
            hits = ((shown > 0.6) * outlines[192:]).sum()
            scores.append(float(2 * hits / ((shown > 0.6).sum() + outlines[192:].sum())))
    return shown[0, 0]


drawn = [draw(np.random.default_rng(seed)) for seed in range(216)]  # the last 24 are not learned from
forces, outlines = (torch.tensor(np.stack(part), dtype=torch.float32) for part in zip(*drawn, strict=True))
torch.manual_seed(0)
layers = {"with torque": BoundaryVotes((5, 9, 17, 25, 33)), "without": nn.Conv2d(2, 10, 5, padding=2)}
_, cells = plt.subplots(1, 4, figsize=(15, 3.5), layout="constrained")
images = {"edges; closed outline red": torch.stack([outlines[192, 0], *(forces[192] != 0)], 2) * 0.8}
for name, layer in layers.items():
    images[name] = learn(layer, curve := [])
    cells[0].plot(range(0, 121, 20), curve, label=f"{name}: {curve[-1]:.2f}")
cells[0].set(xlabel="steps", ylabel="F of outlines", ylim=(0, 1))
cells[0].legend()
for cell, (name, image) in zip(cells[1:], images.items(), strict=True):
    cell.imshow(image.numpy(), cmap="gray")
    cell.set(title=name, xticks=[], yticks=[])
plt.show()
