"""The image signature: the signs of an image's cosine transform hold where its sparse foreground is.

X. Hou, J. Harel, C. Koch: Image signature: highlighting sparse salient regions. PAMI 34(1), 2012.
"""

import numpy as np

from imtorque.core.resizing import resize
from imtorque.core.types import Image, Planes
from imtorque.images import CheckedImage, ValueRange
from imtorque.saliency.gaussians import widened, working_shape
from imtorque.saliency.maps import Map

SIGNATURE_SIDE = 64  # pixels, to which images are shrunk; convention of Hou et al. 2012
SIGN_ROUNDING = 1e-9  # of the plane's largest value, or of 1, up to which a coefficient has no sign; bound: rounding


def signature_saliency(
    image: Image | CheckedImage, *, sigma: float = 20.0, value_range: ValueRange | None = None
) -> Map:
    """Compute the saliency of the image signature (Hou, Harel, Koch 2012).

    The cosine transform of each of L, a and b, at 64 pixels on the longer side, keeps only its signs; transformed back
    and squared it is large where something small stands out from what repeats or is flat. The map is their sum,
    blurred.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`.
    sigma
        Standard deviation of the blur, in pixels of an image whose shorter side is 150.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 for a constant image.

    Examples
    --------
    >>> image = np.zeros((100, 150))
    >>> image[40:61, 90:111] = 1
    >>> y, x = np.unravel_index(signature_saliency(image).argmax(), image.shape)
    >>> bool(abs(y - 50) < 8 and abs(x - 100) < 8)
    True
    """
    checked = CheckedImage(image, value_range)
    scale = min(1.0, SIGNATURE_SIDE / max(checked.shape))
    small = max(1, round(scale * checked.shape[0])), max(1, round(scale * checked.shape[1]))
    raw = sum((reconstruction(plane) for plane in checked.resized(small, colours=True)), np.zeros(small))
    return widened(resize(raw, working_shape(checked.shape)), sigma, checked.shape)


def reconstruction(plane: Planes) -> Map:
    """Return the squared inverse transform of the signs of a plane's cosine transform."""
    from scipy import fft  # here, because it takes longer to load than the rest of the library

    coefficients = fft.dctn(plane, norm="ortho")
    signs = np.sign(coefficients) * (np.abs(coefficients) > SIGN_ROUNDING * max(1.0, float(np.abs(plane).max())))
    found: Map = np.square(fft.idctn(signs, norm="ortho"))
    return found
