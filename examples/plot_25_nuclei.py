"""
Nuclei in a volume
==================

In a volume the torque of a box is the part of it that surfaces enclose. `volumes.find_blobs` finds the extrema over
place and size, and the voxels that belong to each: here in a drawn volume of nuclei with known truth, some touching, in
haze and noise. Lines are the outlines of what was found, crosses the true centres near each slice.
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque import volumes

truth = imtorque.synthetic.nuclei_volume(4, shape=(48, 96, 120), count=45)
surfaces = volumes.detect_surfaces(truth.volume)
found = volumes.find_blobs(truth.volume, sizes=range(7, 30, 2))
value, _ = volumes.value_and_scale_maps(surfaces, sizes=range(7, 30, 2))

figure, cells = plt.subplots(2, 3, figsize=(13, 7.4), layout="constrained")
for column, z in zip(cells.T, (12, 24, 36), strict=True):
    column[0].imshow(truth.volume[z], cmap="gray")
    column[0].set_title(f"slice {z}")
    column[1].imshow(value[z], cmap="RdBu_r", vmin=-1, vmax=1)
    column[1].set_title("torque")
    for label in np.unique(found.labels[z])[1:]:
        column[0].contour(found.labels[z] == label, levels=[0.5], colors="gold", linewidths=1)
    near = np.abs(truth.centres[:, 0] - z) < truth.radii / 2
    column[0].plot(truth.centres[near, 2], truth.centres[near, 1], "+", color="tab:red")
    for cell in column:
        cell.set(xticks=[], yticks=[])
figure.suptitle(f"{len(truth.radii)} nuclei, {len(found)} found")

plt.show()
