"""From a volume to its surfaces: Canny's method in three dimensions, or the whole gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.types import LARGEST_FORCE, BoolArray, Float32Array
from imtorque.edges.canny import HISTOGRAM_BINS, LOW_OF_HIGH, NON_EDGE_SHARE, SQRT2, check_sigma
from imtorque.io.arrays import real_array

Spacing = tuple[float, float, float]
# Exponents: steps per largest vector, where few voxels hold one and where many do; bound: of integer sums.
SPARSE_EXPONENT, DENSE_EXPONENT = (12, 21)
MAX_EXPONENT = 100  # bound: keeps the number of steps, and its inverse, inside a float32
SMALLEST_VECTOR = 2.0 ** (SPARSE_EXPONENT + 3 - MAX_EXPONENT)  # bound: torque within 1e-4, of dense fields too
SPARSE_SHARE = 0.4  # convention: share of the voxels up to which a field is sparse
ISOTROPIC: Spacing = (1.0, 1.0, 1.0)  # convention: of voxels along z, y and x


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Surface elements: the vector g = (gz, gy, gx) at each voxel, towards the brighter side, zero where there is none.

    Its length is the area of the element, in such units that over a closed surface around a bright object the sum of
    -(q - p) . g(q), with q - p in voxels, is three times the number of voxels inside.

    Parameters
    ----------
    gz, gy, gx
        Components, shape (Z, Y, X), finite; the largest 0, or from 2.6e-26 to 1e30. Copied, and kept as read-only
        float32.
    """

    gz: Float32Array
    gy: Float32Array
    gx: Float32Array
    steps: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the components, copy them and choose how finely they are rounded."""
        planes = [_component(name, getattr(self, name)) for name in ("gz", "gy", "gx")]
        if not planes[0].shape == planes[1].shape == planes[2].shape:
            raise ValueError(f"gz, gy and gx must have one shape, got {', '.join(str(p.shape) for p in planes)}")
        largest = max(float(np.abs(plane).max()) for plane in planes)
        if not largest <= LARGEST_FORCE:
            raise ValueError(f"gz, gy and gx must be finite and within ±{LARGEST_FORCE:g}, got NaN, infinity or more")
        if 0 < largest < SMALLEST_VECTOR:
            raise ValueError(f"gz, gy and gx must be 0 or reach {SMALLEST_VECTOR:.2g}, got at most {largest:.2g}")
        for name, plane in zip(("gz", "gy", "gx"), planes, strict=True):
            plane.flags.writeable = False
            object.__setattr__(self, name, plane)
        few = np.count_nonzero(self.mask) <= SPARSE_SHARE * planes[0].size
        exponent = (SPARSE_EXPONENT if few else DENSE_EXPONENT) - math.ceil(math.log2(largest)) if largest else 0
        object.__setattr__(self, "steps", 2.0 ** min(max(exponent, -MAX_EXPONENT), MAX_EXPONENT))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Depth, height and width of the volume."""
        return self.gz.shape[0], self.gz.shape[1], self.gz.shape[2]

    @property
    def mask(self) -> BoolArray:
        """Where there is a surface."""
        mask: BoolArray = (self.gz != 0) | (self.gy != 0) | (self.gx != 0)
        return mask

    def __repr__(self) -> str:
        """Say how large, and how many surface voxels."""
        depth, height, width = self.shape
        return f"Surfaces({depth} x {height} x {width}, {np.count_nonzero(self.mask)} surface voxels)"


def detect_surfaces(
    volume: ArrayLike,
    *,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    spacing: Spacing = ISOTROPIC,
) -> Surfaces:
    """Detect surfaces with Canny's method: where the smoothed gradient is largest across the surface and strong enough.

    Parameters
    ----------
    volume
        Grey values, shape (Z, Y, X), of any real dtype.
    sigma
        Standard deviation of the Gaussian, in units of the smallest spacing.
    low, high
        Hysteresis thresholds of the gradient, in grey values per such unit. By default `high` is the value that 70 % of
        the voxels stay below and `low` is 0.4 of `high`.
    spacing
        Distance of the voxels along z, y and x, in any unit.

    Returns
    -------
    Surfaces
        One voxel thick, each element with the area that it stands for. The outermost voxels are never surfaces.

    Examples
    --------
    >>> volume = np.zeros((20, 20, 20))
    >>> volume[5:15, 5:15, 5:15] = 1
    >>> detect_surfaces(volume).shape
    (20, 20, 20)
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    grey, steps = check_volume(volume), relative_spacing(spacing)
    smooth = smoothed(grey, sigma, spacing)
    along = [_difference(smooth, axis) / np.float32(step) for axis, step in enumerate(steps)]
    del smooth
    strength = np.sqrt(along[0] ** 2 + along[1] ** 2 + along[2] ** 2)
    bottom, top = _thresholds(low, high, strength)
    gz, gy, gx = (np.ascontiguousarray(g * np.float32(step)) for g, step in zip(along, steps, strict=True))
    thinned = _native.volume_thin(strength, gz, gy, gx, bottom)
    del gz, gy, gx
    labels, _ = ndimage.label(thinned > 0, np.ones((3, 3, 3)))
    strong = np.zeros(int(labels.max()) + 1, bool)
    strong[labels[thinned > top]] = True
    strong[0] = False
    return _elements(along, strength, strong[labels], steps)


def gradient_surfaces(volume: ArrayLike) -> Surfaces:
    """Return the whole gradient, by central differences: the torque of a bright object is then its share of the box.

    The spacing of the voxels does not matter for it: levers grow as differences per unit of length fall.
    """
    grey = check_volume(volume)
    return Surfaces(*(_difference(grey, axis) for axis in range(3)))


def check_volume(volume: ArrayLike) -> Float32Array:
    """Return a volume as float32 with values of moderate size."""
    grey = real_array(volume, "volume", "(Z, Y, X)").astype(np.float32)
    if not np.all(np.isfinite(grey)) or np.abs(grey).max() > LARGEST_FORCE:
        raise ValueError(f"volume must be finite and within ±{LARGEST_FORCE:g}, got NaN, infinity or more")
    return grey


def smoothed(grey: Float32Array, sigma: float, spacing: Spacing) -> Float32Array:
    """Return grey values under a Gaussian whose sigma is in units of the smallest spacing."""
    from scipy import ndimage

    check_sigma(sigma)
    smooth: Float32Array = ndimage.gaussian_filter(
        grey, [sigma / step for step in relative_spacing(spacing)], mode="nearest"
    )
    return smooth


def relative_spacing(spacing: Spacing) -> Spacing:
    """Return the spacing over its smallest part."""
    if len(spacing) != 3 or not all(math.isfinite(step) and step > 0 for step in spacing):
        raise ValueError(f"spacing must be three positive numbers (z, y, x), got {spacing}")
    least = min(spacing)
    z, y, x = (float(step) / least for step in spacing)
    if max(z, y, x) > 1000:
        raise ValueError(f"spacing must not differ by more than 1000 times, got {spacing}")
    return z, y, x


def _difference(grey: Float32Array, axis: int) -> Float32Array:
    """Return central differences along an axis, one-sided at its ends, 0 along an axis of one voxel."""
    return np.gradient(grey, axis=axis) if grey.shape[axis] > 1 else np.zeros_like(grey)


def _elements(along: list[Float32Array], strength: Float32Array, mask: BoolArray, steps: Spacing) -> Surfaces:
    """Return surface elements of the voxels in the mask: their unit normals times the area that each stands for.

    A surface passes one voxel in every line along the axis that it is most nearly square to, so that a voxel of it has
    the volume of a voxel over the length it has along the normal there. In voxels, component i of the lever times the
    spacing is the lever, which the spacing is multiplied in for.
    """
    normal = [np.where(mask, g, 0) / np.where(mask, strength, 1) for g in along]
    longest = np.max([np.abs(n) * np.float32(step) for n, step in zip(normal, steps, strict=True)], axis=0)
    area = np.where(mask, 1 / np.where(mask, longest, 1), 0)
    return Surfaces(*((n * np.float32(s) * area).astype(np.float32) for n, s in zip(normal, steps, strict=True)))


def _thresholds(low: float | None, high: float | None, strength: Float32Array) -> tuple[float, float]:
    for name, value in (("low", low), ("high", high)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must not be negative, got {value}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low must not exceed high, got low {low} and high {high}")
    top = high if high is not None else low
    if top is None:
        largest = float(strength.max())
        counts, _ = np.histogram(strength, HISTOGRAM_BINS, (0.0, largest or 1.0))
        below = int(np.searchsorted(np.cumsum(counts), NON_EDGE_SHARE * strength.size, side="right"))
        top = (below + 1) / HISTOGRAM_BINS * largest
    return (low if low is not None else LOW_OF_HIGH * top), top


def _component(name: str, array: ArrayLike) -> NDArray[np.float32]:
    given = real_array(array, name, "(Z, Y, X)")
    with np.errstate(over="ignore"):
        return given.astype(np.float32, order="C", copy=True)
