"""Figures by edges alone: one minimum cut around each fixation, in polar coordinates or on the pixel grid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.torque import torque_spectrum
from imtorque.core.types import BoolArray, Float32Array, FloatArray, Image
from imtorque.edges import SQRT2, detect_edges
from imtorque.images import CheckedImage
from imtorque.io.arrays import whole_array
from imtorque.segmentation.cartesian import cut_cartesian
from imtorque.segmentation.cues import Cue, edge_cue
from imtorque.segmentation.polar import RADIUS_OF_SIZE, cut_polar, from_polar, outside_image, polar_edge_map
from imtorque.segmentation.working_size import moved, working_image

DEFAULT_CUE: Cue = "strengthened"


@dataclass(frozen=True)
class CutCosts:
    """How a cut by edges is made: "polar" or "cartesian", with the costs of its links."""

    method: str
    eta: float
    k: float


def figures_by_edges(
    image: CheckedImage,
    clicks: Sequence[tuple[int, int]],
    edge_map: Cue | ArrayLike | None,
    size: float | Literal["torque"] | None,
    costs: CutCosts,
) -> tuple[list[BoolArray], FloatArray]:
    """Return one cut for every click, and the edges, at the same working size."""
    shape = image.shape
    if edge_map is None or isinstance(edge_map, str):
        working = working_image(image)
        strength = edge_cue(working, cast(Cue, edge_map or DEFAULT_CUE))
    else:
        working, strength = CheckedImage(image.grey(), (0.0, 1.0)), check_edge_map(edge_map, shape)
    added = [moved(click, shape, working.shape) for click in clicks]
    radii = [_radius(working, click, size, max(working.shape) / max(shape)) for click in added]
    if costs.method == "cartesian":
        return [cut_cartesian(strength, click, costs.eta, costs.k) for click in added], strength
    return _polar_figures(working.grey(), strength, added, radii, costs), strength


def check_edge_map(edge_map: ArrayLike | None, shape: tuple[int, int]) -> FloatArray:
    """Check an edge map and return it."""
    values = whole_array(edge_map, "edge_map")
    if values.dtype.kind not in "fiub":
        raise TypeError(f"edge_map must be real numbers or the name of a cue, got dtype {values.dtype}")
    if values.shape != shape:
        raise ValueError(f"edge_map must have the image's shape {shape}, got {values.shape}")
    floats = values.astype(np.float64)
    if not (floats.min() >= 0 and floats.max() <= 1):  # false for NaN
        raise ValueError(f"edge_map must lie in [0, 1], got {floats.min():g} to {floats.max():g}")
    return floats


def _radius(image: CheckedImage, fixation: tuple[int, int], size: float | str | None, scale: float) -> float | None:
    """Return the distance at which the outline is expected, if at any, in pixels of an image shrunk by `scale`."""
    if size is None:
        return None
    if isinstance(size, str):
        if size != "torque":
            raise ValueError(f'size must be a number of pixels, "torque" or None, got {size!r}')
        return RADIUS_OF_SIZE * torque_size(image, fixation)
    if not (math.isfinite(size) and size > 0):
        raise ValueError(f"size must be positive, got {size}")
    return RADIUS_OF_SIZE * size * scale


def torque_size(image: Image | CheckedImage, fixation: tuple[int, int]) -> int:
    """Return the side of the square of strongest torque at the fixation, with alpha = 1: whole objects, not parts."""
    edges = detect_edges(image, force="strength")
    sizes = np.arange(3, max(4, math.ceil(math.sqrt(edges.shape[0] * edges.shape[1]))), 2)
    torque = np.abs(torque_spectrum(edges, fixation, sizes, alpha=1.0))
    return int(sizes[torque.argmax()])


def _polar_figures(
    grey: Float32Array,
    strength: FloatArray,
    fixations: Sequence[tuple[int, int]],
    radii: Sequence[float | None],
    costs: CutCosts,
) -> list[BoolArray]:
    """Return the polar cut around each fixation."""
    gx, gy = _native.smoothed_gradient(grey, SQRT2)
    cuts = []
    for fixation, radius in zip(fixations, radii, strict=True):
        polar = polar_edge_map(strength, (gy, -gx), fixation)
        figure = cut_polar(polar, outside_image(strength.shape, fixation), costs.eta, costs.k, radius)
        cuts.append(from_polar(figure, strength.shape, fixation))
    return cuts
