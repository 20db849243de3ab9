"""What all saliency maps share: their range, their size, their borders, and how they are blended."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.io.arrays import real_array

Map = NDArray[np.float64]

# Relative range below which a map counts as constant: what is left is rounding, which scaling would blow up to a map.
CONSTANT_RANGE = 1e-9  # bound: rounding


def blend_saliency(maps: Sequence[ArrayLike], weights: Sequence[float]) -> Map:
    """Blend saliency maps: each scaled to [0, 1], their weighted sum, scaled to [0, 1] again.

    The paper's blend is `blend_saliency([gbvs, torque], [0.7, 0.3])` (Sec. 4.1, where the weight is called alpha).

    Parameters
    ----------
    maps
        One or more maps of one shape (H, W), of any finite range.
    weights
        One for each map; not negative and not all 0. Only their ratios count.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 where the blend is constant.

    See Also
    --------
    torque_saliency, gbvs_saliency, scan_path

    Examples
    --------
    >>> blend_saliency([[[0, 1, 1]], [[0, 0, 5]]], [0.7, 0.3])
    array([[0. , 0.7, 1. ]])
    """
    arrays = [as_map(array, f"maps[{k}]") for k, array in enumerate(maps)]
    shares = np.asarray(weights, dtype=np.float64)
    if len(arrays) == 0 or shares.shape != (len(arrays),):
        raise ValueError(f"weights must be one for each of at least one map, got {len(arrays)} maps, weights {weights}")
    if not np.isfinite(shares).all() or shares.min() < 0 or shares.sum() <= 0:
        raise ValueError(f"weights must be finite, not negative and not all 0, got {list(weights)}")
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"maps must have one shape, got {', '.join(str(array.shape) for array in arrays)}")
    total = np.zeros(arrays[0].shape)
    for share, array in zip(shares, arrays, strict=True):
        total += share * unit_range(array)
    return unit_range(total)


def as_map(values: ArrayLike, name: str = "saliency") -> Map:
    """Check a map and return it as finite floats."""
    floats = real_array(values, name).astype(np.float64)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return floats


def unit_range(values: Map) -> Map:
    """Scale a map to [0, 1]; a constant one becomes 0."""
    if is_constant(values):
        return np.zeros_like(values)
    scaled: Map = values / max(float(values.max()), -float(values.min()))  # so that no difference overflows
    low, high = scaled.min(), scaled.max()
    scaled -= low
    scaled /= high - low
    return scaled


def is_constant(values: Map) -> bool:
    """Return whether a map is the same everywhere, but for rounding."""
    low, high = float(values.min()), float(values.max())
    return high / 2 - low / 2 <= CONSTANT_RANGE / 2 * max(abs(low), abs(high))


def attenuate_borders(values: Map, width: int) -> Map:
    """Lower a map linearly towards its border, to 1 / (width + 1) at the outermost pixels; at most to its middle."""
    rows, columns = (_ramp(side, width) for side in values.shape)
    attenuated: Map = values * rows[:, None] * columns
    return attenuated


def _ramp(side: int, width: int) -> Map:
    reach = min(width, side // 2)
    steps = np.arange(1, reach + 1) / (reach + 1)
    ramp = np.ones(side)
    ramp[:reach] = steps
    ramp[side - reach :] = steps[::-1]
    return ramp
