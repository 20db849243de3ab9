"""All saliency maps by name: from here the command line, the server and the docs draw their choices."""

from collections.abc import Callable
from dataclasses import dataclass

from imtorque.core.types import Image
from imtorque.images import CheckedImage
from imtorque.saliency.baselines import centre_saliency, edge_density_saliency
from imtorque.saliency.boolean_maps import boolean_saliency
from imtorque.saliency.from_torque import torque_saliency
from imtorque.saliency.gbvs import SMALLEST_IMAGE, gbvs_saliency
from imtorque.saliency.itti import itti_saliency
from imtorque.saliency.maps import Map, blend_saliency
from imtorque.saliency.signature import signature_saliency

DEFAULT_SHARE = 0.4  # of torque in the blend; tuned on SUN scenes by `imtorque reproduce attention`; the paper's is 0.3
# Chosen on 170 SUN scenes and 175 images of OSIE (docs/measured/saliency.md, "Blends of many maps").
AVERAGED = ("torque", "gbvs", "boolean", "signature", "centre")


@dataclass(frozen=True)
class SaliencyMethod:
    """A saliency map that can be asked for by name.

    Parameters
    ----------
    title
        What people call it, with its publication.
    compute
        From an image to a map of its shape, in [0, 1].
    smallest_side
        Pixels that both sides of an image must have.
    """

    title: str
    compute: Callable[[Image | CheckedImage], Map]
    smallest_side: int = 1


def gbvs_torque_blend(image: Image | CheckedImage, share: float = DEFAULT_SHARE) -> Map:
    """Return the blend of GBVS and torque (Sec. 4.1), with this share of torque."""
    return blend_saliency([gbvs_saliency(image), torque_saliency(image)], [1 - share, share])


def mean_saliency(image: Image | CheckedImage) -> Map:
    """Return the plain mean of the maps named in `AVERAGED`."""
    return blend_saliency([METHODS[name].compute(image) for name in AVERAGED], [1.0] * len(AVERAGED))


METHODS = {
    "blend": SaliencyMethod("GBVS and torque (Nishigaki & Fermüller)", gbvs_torque_blend, SMALLEST_IMAGE),
    "torque": SaliencyMethod("Torque (Nishigaki & Fermüller)", torque_saliency),
    "gbvs": SaliencyMethod("Graph-based visual saliency (Harel, Koch & Perona 2006)", gbvs_saliency, SMALLEST_IMAGE),
    "itti": SaliencyMethod("Itti, Koch & Niebur 1998", itti_saliency, 40),
    "boolean": SaliencyMethod("Boolean maps (Zhang & Sclaroff 2016)", boolean_saliency),
    "signature": SaliencyMethod("Image signature (Hou, Harel & Koch 2012)", signature_saliency),
    "mean": SaliencyMethod(f"Mean of {', '.join(AVERAGED)}", mean_saliency, SMALLEST_IMAGE),
    "centre": SaliencyMethod("Middle of the image (baseline)", centre_saliency),
    "edges": SaliencyMethod("Density of edges (baseline)", edge_density_saliency),
}


def saliency_map(image: Image | CheckedImage, method: str = "blend", *, share: float = DEFAULT_SHARE) -> Map:
    """Compute a saliency map by its name.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`.
    method
        A key of `METHODS`.
    share
        Of torque in "blend"; the other methods have no use for it.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1.

    Examples
    --------
    >>> from imtorque.synthetic import scene
    >>> saliency_map(scene("disc", (48, 64)), "boolean").shape
    (48, 64)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return gbvs_torque_blend(image, share) if method == "blend" else METHODS[method].compute(image)
