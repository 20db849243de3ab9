"""
From attention to objects
=========================

The paper's chain on a photograph (its figure 11): torque says where to look, torque tells object boundaries from
texture, and a cut around each fixation takes the object out. Around a click, colours and textures help as well; a
second, red click takes the flag away. Without a click, figures are ranked by how much they look like objects.
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque

image = np.asarray(Image.fromarray(imtorque.datasets.sample("hopper")).reduce(2))
saliency = imtorque.torque_saliency(image)
edges = imtorque.edge_cue(image, "strengthened")
objects = imtorque.segment_objects(image, 4)
click, beside = (150, 125), (175, 50)
face = imtorque.segment_figure(image, click, remove=[beside])
boxes = imtorque.propose_objects(image, 6)

figure, cells = plt.subplots(1, 5, figsize=(15, 4), layout="constrained")
cells[0].imshow(saliency, cmap="inferno")
y, x = imtorque.scan_path(saliency, 4)
cells[0].plot(x, y, "o-", color="white")
cells[0].set_title("where to look")
cells[1].imshow(edges, cmap="gray_r")
cells[1].set_title("boundaries")
for cell, title in zip(cells[2:], ("the object under a click", "objects without a click", "boxes"), strict=True):
    cell.imshow(image)
    cell.set_title(title)
cells[2].contour(face, [0.5], colors="yellow")
for (row, column), colour in ((click, "lime"), (beside, "red")):
    cells[2].plot(column, row, "o", color=colour, markeredgecolor="black")
for mask, colour in zip(objects, ("yellow", "cyan", "magenta", "lime"), strict=False):
    cells[3].contour(mask, [0.5], colors=colour)
for y0, x0, y1, x1 in boxes.as_array():
    cells[4].add_patch(plt.Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, color="yellow"))
for cell in cells:
    cell.set_axis_off()

plt.show()
