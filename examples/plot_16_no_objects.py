"""
What is no object
================

Noise, slopes and stripes have edges, but nothing that they close off: `find_blobs` finds nothing there. The fields of a
checkerboard are objects. Blocks of strong JPEG compression are fainter than what the image shows.
"""

import io

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import imtorque
from imtorque.render.objects import numbered_overlay

y, x = np.indices((160, 160))
rng = np.random.default_rng(0)
discs = np.full((160, 160), 90.0)
for cy, cx in ((40, 45), (50, 115), (115, 50), (112, 120)):
    discs[np.hypot(y - cy, x - cx) < 18] = 170
file = io.BytesIO()
Image.fromarray((discs + rng.normal(0, 4, discs.shape)).astype(np.uint8)).save(file, "JPEG", quality=12)
images = {
    "noise": rng.normal(100, 5, (160, 160)),
    "a slope": 40 + x + 0.3 * y,
    "stripes": 128 + 60 * np.sign(np.sin(x / 4)),
    "a checkerboard": np.where((x // 20 + y // 20) % 2, 180.0, 80.0),
    "discs in noise": discs + rng.normal(0, 16, discs.shape),
    "discs, JPEG of quality 12": np.asarray(Image.open(file)).astype(float),
}

figure, cells = plt.subplots(1, 6, figsize=(14, 2.7), layout="constrained")
for cell, (title, image) in zip(cells, images.items(), strict=True):
    found = imtorque.find_blobs(image)
    cell.imshow(numbered_overlay(image, found.labels, found.y, found.x))
    cell.set_title(f"{title}: {len(found)}")
    cell.set_axis_off()

plt.show()
