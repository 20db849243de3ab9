"""Baselines of saliency: the middle of the image, and the density of edges."""

import numpy as np

from imtorque.core.types import Image
from imtorque.images import CheckedImage
from imtorque.saliency.from_torque import FORMS, form_edges
from imtorque.saliency.gaussians import DEFAULT_SIGMA, widened
from imtorque.saliency.maps import Map, unit_range


def centre_saliency(image: Image | CheckedImage, *, spread: float = 0.25) -> Map:
    """Return a Gaussian in the middle of the image, whatever it shows, scaled to [0, 1].

    Parameters
    ----------
    image
        Only its shape counts.
    spread
        Standard deviations, as shares of the height and the width.
    """
    if not (np.isfinite(spread) and spread > 0):
        raise ValueError(f"spread must be positive, got {spread}")
    shape = CheckedImage(image).shape
    rows, columns = (np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / (spread * n)) ** 2) for n in shape)
    return unit_range(np.outer(rows, columns))


def edge_density_saliency(image: Image | CheckedImage, *, sigma: float = DEFAULT_SIGMA) -> Map:
    """Return how many edge pixels lie around each pixel: Canny's edges, blurred, scaled to [0, 1].

    The edges are those that the paper's torque saliency is computed from, so what torque adds to it is torque.

    Parameters
    ----------
    image
        As for `detect_edges`.
    sigma
        Standard deviation of the blur, in pixels of an image whose shorter side is 150.
    """
    checked = CheckedImage(image)
    (edges,) = form_edges(checked, FORMS["paper"])
    density = edges.mask.astype(np.float64)
    return widened(density, sigma, checked.shape)
