"""An image of which side owns each edge."""

import numpy as np

from imtorque.core.types import Edges, FloatArray, Image
from imtorque.images import CheckedImage
from imtorque.render.torque import Bytes

# Owner on the brighter side, on the darker, edges; convention.
BRIGHT, DARK, EDGE = (214, 39, 40), (31, 119, 180), (255, 255, 255)
COLOUR_REACH = 4  # pixels that the colour reaches into the owner's side; convention


def owner_image(image: Image, edges: Edges, side: FloatArray) -> Bytes:
    """Return the image in pale grey with its edges in white, and a coloured rim on the side that owns each.

    Parameters
    ----------
    image
        The image.
    edges
        Its edges.
    side
        As `border_ownership` returns it: red where the brighter side is the owner, blue where the darker one is.
    """
    grey = np.rint(90 + 120 * CheckedImage(image).grey()).clip(0, 255).astype(np.uint8)
    canvas = np.repeat(grey[:, :, None], 3, axis=2)
    y, x = np.nonzero(edges.mask)
    length = edges.strength[y, x]
    sign = np.sign(side[y, x])
    ny, nx = sign * edges.fx[y, x] / length, -sign * edges.fy[y, x] / length
    colours = np.where((sign > 0)[:, None], BRIGHT, DARK).astype(np.uint8)
    for step in range(1, COLOUR_REACH + 1):
        rows = np.clip(np.rint(y + step * ny).astype(int), 0, edges.shape[0] - 1)
        columns = np.clip(np.rint(x + step * nx).astype(int), 0, edges.shape[1] - 1)
        canvas[rows, columns] = colours
    canvas[y, x] = EDGE
    return canvas
