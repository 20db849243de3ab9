"""The whole gradient of a picture as edge vectors (Appendix A of the paper)."""

from __future__ import annotations

import numpy as np

from imtorque._types import Edges, Image
from imtorque.images import Picture, ValueRange


def gradient_edges(image: Image | Picture, *, value_range: ValueRange | None = None) -> Edges:
    """Return the whole gradient as a force field, F = (g_y, -g_x), for gradient torque (Appendix A).

    Central differences inside, one-sided ones on the border. The torque of a bright shape is then its area over the
    area of the patch.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`; gradients count in parts of the value range.

    Examples
    --------
    >>> image = np.zeros((9, 9))
    >>> image[:, 5:] = 1
    >>> gradient_edges(image).fy[4, 3:7].tolist()
    [0.0, -0.5, -0.5, 0.0]
    """
    grey = Picture(image, value_range).grey()
    gy = np.gradient(grey, axis=0) if grey.shape[0] > 1 else np.zeros_like(grey)
    gx = np.gradient(grey, axis=1) if grey.shape[1] > 1 else np.zeros_like(grey)
    return Edges(gy, -gx + 0.0)
