"""
Base detectors
==============

Canny's edges answer to every change of brightness. pb compares the halves of a disc by their brightness, colour and
texture; mPb does so with discs of three sizes; gPb adds the eigenvectors of the image's graph, which know what
separates its large parts. The watershed of gPb and the merging of its basins give closed contours, each with its
strength, and regions at any of them.
"""

import matplotlib.pyplot as plt

import imtorque
from imtorque.core.resizing import shrink_image

image = shrink_image(imtorque.datasets.sample("hopper"), 2)
maps = {name: imtorque.boundary_map(image, name) for name in ("pb", "mpb", "gpb")}
contours = imtorque.ultrametric_contours(maps["gpb"]).contour_map()
canny = imtorque.edges.RECIPES["canny"].edges(image).strength

figure, cells = plt.subplots(2, 4, figsize=(12, 7.4), layout="constrained")
shown = {
    "image": image,
    "Canny, its strength": canny,
    "pb": maps["pb"].thinned(),
    "mPb": maps["mpb"].thinned(),
    "gPb, not thinned": maps["gpb"].strength,
    "gPb": maps["gpb"].thinned(),
    "closed contours (UCM)": contours,
    "regions at 0.2": imtorque.segment_regions(image, method="ucm", boundaries=maps["gpb"], threshold=0.2),
}
for cell, (title, found) in zip(cells.flat, shown.items(), strict=True):
    if title == "regions at 0.2":
        cell.imshow(found, cmap="tab20")
    elif title == "image":
        cell.imshow(found)
    else:
        cell.imshow(found, cmap="gray_r", vmin=0, vmax=0.7)
    cell.set(title=title, xticks=[], yticks=[])

plt.show()
