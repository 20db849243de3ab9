"""
Extrema on photographs, beside Laplacian blobs
==============================================

The 25 strongest maxima and minima of the torque, with the patches they were found at, beside as many bright (solid)
and dark (dashed) blobs of scikit-image's ``blob_log`` (the paper's figure 9; this one needs scikit-image).
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from skimage import color, data, feature

import imtorque
from imtorque.plotting import show_extrema, show_value_map

photographs = {"hopper": imtorque.datasets.sample("hopper"), "coins": data.coins(), "rocket": data.rocket()}

figure, cells = plt.subplots(3, 5, figsize=(15, 9), height_ratios=(1.5, 1, 1), layout="constrained")
for row, (name, photograph) in zip(cells, photographs.items(), strict=True):
    image = np.asarray(Image.fromarray(photograph).reduce(2))
    edges = imtorque.detect_edges(image)
    sizes = range(5, 92, 2)
    value, _ = imtorque.value_and_scale_maps(edges, sizes)
    row[0].imshow(image, cmap="gray")
    row[0].set_ylabel(name)
    show_value_map(value, ax=row[1]).images[0].colorbar.remove()
    for cell, sign in ((row[2], 1), (row[3], -1)):
        extrema = imtorque.find_extrema(edges, sizes=sizes, sign=sign, count=25)
        show_extrema(image, extrema, ax=cell).get_legend().remove()
    grey = color.rgb2gray(image) if image.ndim == 3 else image / 255
    row[4].imshow(image, cmap="gray")
    for light, line in ((grey, "-"), (1 - grey, "--")):
        for y, x, sigma in feature.blob_log(light, min_sigma=2, max_sigma=30, threshold=0.02)[:25]:
            row[4].add_patch(plt.Circle((x, y), sigma * np.sqrt(2), fill=False, ec="#56b4e9", ls=line, lw=1.5))
    for cell in row:
        cell.set(xticks=[], yticks=[])
for cell, title in zip(cells[0], ("image", "value map", "25 maxima", "25 minima", "blob_log"), strict=True):
    cell.set_title(title)

plt.show()
