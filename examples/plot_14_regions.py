"""
Regions around torque extrema
=============================

The strongest extrema say where to look for regions, and how large. Each gives a colour model; a cut with many labels
assigns the pixels; neighbours that are little unlike are merged, down to as many regions as are wanted.
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque
from imtorque.segmentation import region_tree
from imtorque.segmentation.evidence import gather_evidence
from imtorque.segmentation.regions import torque_patches

image = np.asarray(Image.fromarray(imtorque.datasets.sample("hopper")).reduce(2))
seeds = torque_patches(gather_evidence(image), 40)
tree = region_tree(image)

figure, cells = plt.subplots(1, 4, figsize=(13, 4.2), layout="constrained")
imtorque.plotting.show_extrema(image, seeds, ax=cells[0])
cells[0].set_title("40 extrema and their sizes")
images = {
    "the cut": tree.regions,
    "merged": imtorque.segment_regions(image),
    "count=8": imtorque.segment_regions(image, count=8),
}
for cell, (title, labels) in zip(cells[1:], images.items(), strict=True):
    cell.imshow(image)
    cell.contour(
        np.unique(labels, return_inverse=True)[1].reshape(labels.shape) % 7, 6, colors="yellow", linewidths=0.8
    )
    cell.set_title(f"{title}: {len(np.unique(labels))} regions")
for cell in cells:
    cell.set_axis_off()

plt.show()
