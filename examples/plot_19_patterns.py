"""
What each pattern sees
======================

Torque asks for edges that run around a point. Turn every force first, and it asks for something else: by a quarter for
stars, by an eighth for spirals; mirror it, and it asks for saddles. A row is an image, a column a pattern: the map of
one patch size, and the number in its middle. Each pattern answers to its own image, and texture leaves all of them
cold. A disc has no star in it and no saddle: of what a patch holds entirely, all moments but the torque cancel.
"""

import matplotlib.pyplot as plt
from matplotlib.patheffects import withStroke

import imtorque
from imtorque.plotting.torque import VALUE_MAP

shape, middle, size = (121, 121), 60, 101
patterns = {
    "circle": "",
    "star": "a star",
    "spiral": "a spiral",
    "saddle": "a saddle",
    "saddle-diagonal": "a diagonal one",
}
images = {
    "a disc": imtorque.synthetic.paint(0.2, imtorque.synthetic.disc(shape, (60, 60), 48), 1.0),
    **{title: imtorque.synthetic.curves(shape, name) for name, title in patterns.items() if title},
    "a texture": imtorque.synthetic.texture(shape),
}

figure, cells = plt.subplots(len(images), 1 + len(patterns), figsize=(11, 11.4), layout="constrained")
for row, (title, image) in zip(cells, images.items(), strict=True):
    edges = imtorque.detect_edges(image, low=0.1, high=0.1)
    y, x = edges.mask.nonzero()
    row[0].imshow(image, cmap="gray", vmin=0, vmax=1)
    row[0].quiver(x, y, edges.fx[y, x], edges.fy[y, x], color="tab:orange", angles="xy", scale=18, width=0.007)
    row[0].set_ylabel(title)
    responses = [imtorque.torque_map(edges, size, pattern=pattern) for pattern in patterns]
    limit = max(0.15, *(abs(response).max() for response in responses))
    for cell, response in zip(row[1:], responses, strict=True):
        cell.imshow(response, cmap=VALUE_MAP, vmin=-limit, vmax=limit)
        text = f"{response[middle, middle] + 0.0:+.2f}".replace("-0.00", "+0.00")
        cell.text(
            middle, middle, text, ha="center", va="center", path_effects=[withStroke(linewidth=3, foreground="w")]
        )
for cell, pattern in zip(cells[0, 1:], patterns, strict=True):
    cell.set_title(pattern)
for cell in cells.flat:
    cell.set(xticks=[], yticks=[], xlim=(0, 120), ylim=(120, 0))

plt.show()
