"""
Objects without a click
=======================

What looks most like objects in four photographs, best first: yellow, cyan, magenta. A cup, its spoon and its saucer, an
astronaut's suit and face and a rocket at night are found; of a cat that fills its image come the eyes and the nose,
which are closed off, and not the cat, which is not (this one needs scikit-image).
"""

import matplotlib.pyplot as plt
from skimage import data

import imtorque

photographs = {
    "cup": data.coffee(),
    "astronaut": data.astronaut(),
    "rocket": data.rocket(),
    "it fails: cat": data.chelsea(),
}

wide = [photograph.shape[1] / photograph.shape[0] for photograph in photographs.values()]
figure, cells = plt.subplots(1, 4, figsize=(14, 3.2), width_ratios=wide)
for cell, (name, photograph) in zip(cells, photographs.items(), strict=True):
    cell.imshow(photograph, cmap="gray")
    for mask, colour in zip(imtorque.segment_objects(photograph, 3), ("yellow", "cyan", "magenta"), strict=False):
        cell.contour(mask, [0.5], colors=colour)
    cell.set_title(name)
    cell.set_axis_off()
figure.tight_layout()

plt.show()
