"""From edge vectors to torque: maps, the volume over patch sizes, value and scale maps (Sec. 3 of the paper).

The torque of a patch P about its centre p is the sum of the moments of its edges, normalised by the patch (eq. 4):

    tau(P) = 1 / (2 Z) * sum over q in P of (q - p) x F(q),      Z = |P| for alpha = 2.

Outside the image there are no edges, and a patch that leaves the image keeps its full area.

Two options change what is summed. `pattern` turns the forces first, so that stars, spirals or saddles are found in
place of circles (`imtorque.core.patterns`). `polarity="free"` asks how much more the edges of a patch run around its
centre than away from it, whichever of their sides is bright: the closure

    E(P) = 1 / (2 pi r^(1 + alpha)) * sum over q in P of ((q - p) x F(q))^2 - ((q - p) . F(q))^2,      r half the size.

With unit forces and alpha = 2 a circle that fills the patch has a closure of about 1, a star -1, and edges of random
directions 0. It is positive also where one half of an outline is brighter than its ground and the other half darker,
and around line drawings, where signed moments cancel. Forces count by their squares. In a rectangle of f times more
height than width, ((q - p) . F)^2 is (f dx Fx + dy Fy / f)^2, which is 0 along the ellipse that fills it.

Forces are rounded once to fixed point, and the sums of the rounded forces are exact: results do not depend on the
number of threads, the tiling, or where in the image an object lies. Forces that are whole, or multiples of 1/4096 of
the power of two above the largest one, are not changed at all; the eight directions are kept to 1e-7; any others to
1/8192 of that power of two (sparse edges) or 2^-22 (dense fields). Where a few forces tower above the others, the
median force takes the place of the largest. `Edges.steps` says how many steps make a unit of force,
`imtorque.ForceStatistics` how they are chosen.
"""

import math
import operator

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.patches import patch_arrays
from imtorque.core.patterns import Pattern, Polarity, pattern_edges
from imtorque.core.types import (
    Edges,
    Float32Array,
    IntArray,
    Patch,
    Sizes,
    TorqueVolume,
    check_sizes,
    require_edges,
)

# Derived: mean distance of a square's points to its centre, over its side; as kMeanLever of native/core/coherence.hpp.
MEAN_LEVER = 0.38


def torque_map(
    edges: Edges,
    size: int | tuple[int, int],
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> Float32Array:
    """Compute the torque of the patch of one size around every pixel.

    Parameters
    ----------
    edges
        Edge vectors, as `detect_edges` returns them.
    size
        Odd side length in pixels, or (height, width) for a rectangle. A disk of size s has radius (s - 1) / 2.
    patch
        "square" or "disk".
    alpha
        Exponent of the normalisation Z: 4 (s/2)^alpha for squares, pi R^alpha for disks. 2 is the patch area; smaller
        values favour larger patches (Sec. 3.4).
    pattern
        What the edges of a patch are to form around its centre: "circle", "star", "spiral", "saddle",
        "saddle-diagonal", or an angle in radians from the circle (0) by spirals to the star (pi / 2).
    polarity
        "signed": bright and dark objects have opposite signs. "free": the closure of the patch, which does not depend
        on which side of an edge is brighter.

    Returns
    -------
    ndarray
        Torque, shape (H, W): positive around bright objects, negative around dark ones. Closure: positive where edges
        circle the pixel, negative where they point to it.

    See Also
    --------
    torque_volume, value_and_scale_maps, torque_spectrum

    Examples
    --------
    The torque of a bright shape's gradient is its area over the patch area.

    >>> image = np.zeros((33, 33))
    >>> image[12:21, 12:21] = 1
    >>> from imtorque import gradient_edges
    >>> round(float(torque_map(gradient_edges(image), 25)[16, 16]) * 25**2, 3)
    81.0
    """
    sizes = np.asarray([size])
    volume = torque_volume(edges, sizes, patch=patch, alpha=alpha, pattern=pattern, polarity=polarity)
    tau: Float32Array = volume.tau[0]
    return tau


def torque_volume(
    edges: Edges,
    sizes: Sizes,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
    out: Float32Array | None = None,
) -> TorqueVolume:
    """Compute the torque of every patch, for every pixel and every size.

    Parameters
    ----------
    edges, patch, alpha, pattern, polarity
        As for `torque_map`.
    sizes
        Odd, increasing side lengths, or (height, width) pairs in order of area.
    out
        Array to write the volume to: float32, C-contiguous, shape (S, H, W). Saves allocating it anew.

    See Also
    --------
    value_and_scale_maps, torque_map, smooth_volume, find_extrema

    Notes
    -----
    Cost is linear in pixels and sizes and does not depend on the sizes themselves (squares, rectangles): each patch is
    a few look-ups in summed-area tables (Sec. 3.5). Disks cost a time proportional to their radius.
    """
    array = check_sizes(sizes)
    field = pattern_edges(require_edges(edges), pattern)
    patches = patch_arrays(field, array, patch, alpha, polarity)
    shape = (len(array), *edges.shape)
    if out is None:
        out = np.empty(shape, np.float32)
    elif not isinstance(out, np.ndarray) or out.dtype != np.float32:
        raise TypeError(f"out must be a float32 array, got {getattr(out, 'dtype', type(out).__name__)}")
    elif out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be C-contiguous and writeable of shape {shape}, got shape {out.shape}")
    _native.torque_volume(field.field, *patches, out)
    return TorqueVolume(out, array)


def value_and_scale_maps(
    source: Edges | TorqueVolume,
    sizes: Sizes | None = None,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> tuple[Float32Array, NDArray[np.int32]]:
    """Return the strongest torque at each pixel, and the patch size it was found at.

    V(p) = tau(p, s*) with s* = argmax over s of |tau(p, s)|, and S(p) = sgn(V) s* (eqs. 5 to 7).

    Parameters
    ----------
    source
        `Edges`: the volume is never stored. Or a `TorqueVolume`.
    sizes, patch, alpha, pattern, polarity
        As for `torque_volume`, only with `Edges`; by default the sizes of `default_sizes`.

    Returns
    -------
    value
        Shape (H, W), float32.
    scale
        Signed size, shape (H, W); (H, W, 2), height and width, for rectangles. The smallest of equally good sizes; 0
        where the torque is 0 at all sizes.

    See Also
    --------
    torque_volume, find_extrema, default_sizes
    """
    if isinstance(source, TorqueVolume):
        if sizes is not None:
            raise ValueError("sizes must be left out with a TorqueVolume, which has its own")
        array = source.sizes
        value, label = _native.value_and_scale_of_volume(source.tau, _labels(array))
    else:
        array = sizes_for(source, sizes)
        field = pattern_edges(source, pattern)
        patches = patch_arrays(field, array, patch, alpha, polarity)
        value, label = _native.value_and_scale(field.field, *patches, _labels(array))
    if array.ndim == 1:
        return value, label
    pairs = np.vstack([[0, 0], array]).astype(np.int32)
    return value, pairs[np.abs(label)] * np.sign(label)[:, :, None]


def torque_spectrum(
    edges: Edges,
    point: tuple[int, int],
    sizes: Sizes,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> Float32Array:
    """Return the torque over patch size at one pixel (y, x): `torque_volume(...).tau[:, y, x]` without the volume.

    See Also
    --------
    torque_map, torque_volume
    """
    array = check_sizes(sizes)
    y, x = (operator.index(i) for i in point)
    height, width = require_edges(edges).shape
    if not (0 <= y < height and 0 <= x < width):
        raise ValueError(f"point must lie in the image of {height} x {width}, got (y, x) = ({y}, {x})")
    field = pattern_edges(edges, pattern)
    return _native.torque_spectrum(field.field, *patch_arrays(field, array, patch, alpha, polarity), y, x)


def torque_coherence(
    edges: Edges, size: int, *, pattern: Pattern = "circle", polarity: Polarity = "signed"
) -> Float32Array:
    """Compute how consistently the edges of each square turn around its centre: torque over edge mass.

        c(p) = tau(p) / (mass(p) + 0.001),      mass(p) = 0.38 L / (2 L^2) * sum over q in P of |F(q)|

    with L the side of the square P and 0.38 L the mean distance of its points to the centre. Where tau grows with the
    number of edges, so that texture wins, c does not: edges that all turn around the centre reach about 1, at most
    1.87, and edges in all directions about 0. It tells boundaries from texture; its extrema are not objects.

    Parameters
    ----------
    edges
        Edge vectors. Their length matters twice: in the average over the square, and against the constant 0.001, which
        keeps squares of almost no edges near 0.
    size
        Odd side length in pixels.
    pattern
        As for `torque_map`.
    polarity
        "free": closure over the sum of squared levers times squared forces, so that edges that all circle the centre
        have 1, edges that all point to it -1, and edges in all directions about 0.

    Returns
    -------
    ndarray
        Shape (H, W), float32, with the sign of the torque; exactly 0 where the square holds no edges.

    See Also
    --------
    dense_contribution, torque_map

    Examples
    --------
    >>> image = np.zeros((33, 33))
    >>> image[12:21, 12:21] = 1
    >>> from imtorque import detect_edges
    >>> round(float(torque_coherence(detect_edges(image), 17)[16, 16]), 1)
    0.7
    """
    side = int(check_sizes([operator.index(size)])[0])
    field = pattern_edges(require_edges(edges), pattern)
    coherence = torque_map(field, side, polarity=polarity)
    divide = _native.divide_by_second_mass if polarity == "free" else _native.divide_by_mass
    divide(field.field, side // 2, coherence)
    return coherence


def smooth_volume(volume: TorqueVolume, sigma_space: float, sigma_scale: float) -> TorqueVolume:
    """Filter the volume with a Gaussian over space and scale, before sizes are selected from it (Sec. 3.4).

    Parameters
    ----------
    volume
        The torque volume.
    sigma_space
        Standard deviation in pixels.
    sigma_scale
        Standard deviation in steps of the list of sizes.

    See Also
    --------
    torque_volume, value_and_scale_maps
    """
    if not isinstance(volume, TorqueVolume):
        raise TypeError(f"volume must be a TorqueVolume, got {type(volume).__name__}")
    for name, sigma in (("sigma_space", sigma_space), ("sigma_scale", sigma_scale)):
        if not (math.isfinite(sigma) and sigma >= 0):
            raise ValueError(f"{name} must not be negative, got {sigma}")
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    sigmas = (sigma_scale, sigma_space, sigma_space)
    return TorqueVolume(ndimage.gaussian_filter(volume.tau, sigmas, mode="nearest"), volume.sizes)


def default_sizes(
    shape: tuple[int, ...], *, smallest: int = 5, largest: int | None = None, growth: float = 1.06
) -> IntArray:
    """Return odd sizes for an image of this shape: at least 2 and about 6 % apart, up to a patch of 21 % of its area.

    The paper goes to that largest size in steps of 2 (Sec. 3.3); steps in proportion to the size find the same objects
    with less work on larger images.

    Parameters
    ----------
    shape
        Of the image; only height and width count.
    smallest
        The first size, odd.
    largest
        Bound of the sizes, where it is not to follow from the shape.
    growth
        Ratio of neighbouring sizes, where it makes more than 2.

    Examples
    --------
    >>> default_sizes((161, 241))
    array([ 5,  7,  9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37,
           39, 41, 43, 45, 47, 49, 51, 55, 59, 63, 67, 71, 75, 79, 83, 87])
    """
    bound = max(smallest, 0.46 * math.sqrt(shape[0] * shape[1])) if largest is None else largest
    if not 1 <= smallest <= bound or smallest % 2 == 0:
        raise ValueError(f"smallest must be odd and at most the largest size {bound:g}, got {smallest}")
    sizes = [smallest]
    while (following := max(sizes[-1] + 2, 2 * math.floor(sizes[-1] * growth / 2) + 1)) <= bound:
        sizes.append(following)
    return np.asarray(sizes, dtype=np.int64)


def sizes_for(edges: Edges, sizes: Sizes | None) -> IntArray:
    """Return checked sizes; those of `default_sizes` where none are given."""
    return default_sizes(require_edges(edges).shape) if sizes is None else check_sizes(sizes)


def _labels(sizes: IntArray) -> NDArray[np.int32]:
    """Return what the scale map shows for each size: the size, or for rectangles its place in the list, from 1."""
    return sizes.astype(np.int32) if sizes.ndim == 1 else np.arange(1, len(sizes) + 1, dtype=np.int32)
