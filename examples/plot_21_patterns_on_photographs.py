"""
Patterns in photographs
=======================

The eight strongest extrema of torque, bright and dark, above; below, of another member of the family. Closure finds the
crater, which is bright on one side and dark on the other, both wheels, whose tyres are thin and dark between bright
objects, and the cup. Saddles are the corners of a chessboard, yellow where the upper left field is bright, green where
it is dark (this one needs scikit-image).
"""

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from skimage import data

import imtorque
from imtorque.plotting import show_extrema

y, x = np.indices((200, 240))
depth = 1 + y / 150
board = (np.floor((x - 120) / depth / 14) + np.floor(170 * (1 - 1 / depth) / 12)) % 2
photographs = {
    "the moon": (data.moon()[:400, :400], {"polarity": "free", "sign": 1}),
    "a motorcycle": (
        np.asarray(Image.fromarray(data.stereo_motorcycle()[0]).reduce(2)),
        {"polarity": "free", "sign": 1},
    ),
    "a cup": (np.asarray(Image.fromarray(data.coffee()).reduce(2)), {"polarity": "free", "sign": 1}),
    "a chessboard": (np.uint8(60 + 140 * board), {"pattern": "saddle", "count": 400}),
}

widths = [image.shape[1] / image.shape[0] for image, _ in photographs.values()]
figure, cells = plt.subplots(2, 4, figsize=(14, 6.2), width_ratios=widths, layout="constrained")
for column, (name, (image, options)) in zip(cells.T, photographs.items(), strict=True):
    edges = imtorque.detect_edges(image)
    shown = 60 if "pattern" in options else 8
    for cell, chosen in zip(column, ({}, options), strict=True):
        found = imtorque.find_extrema(edges, range(9, 140, 2), **chosen)
        apart = imtorque.suppress_overlaps(found, 0.3)[: shown if chosen else 8]
        show_extrema(image, apart, ax=cell).get_legend().remove()
    column[0].set_title(f"{name}: torque")
    column[1].set_title("saddles" if "pattern" in options else "closure")

plt.show()
