"""Images and maps at other sizes: by whole factors, to fit a side, and by cubic interpolation."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import Float32Array, Image, Planes

AVERAGED_PIXELS = 2**20  # bound: pixels at a time
# How four values are pooled two by two, and what the result is divided by.
PAIRWISE: dict[Callable[..., Any], tuple[np.ufunc, int]] = {np.mean: (np.add, 4), np.max: (np.maximum, 1)}

Floats = TypeVar("Floats", bound=np.floating[Any])


def shrink_image(image: Image, factor: int) -> Image:
    """Average blocks of factor x factor pixels; incomplete ones at the right and the bottom are left out.

    Examples
    --------
    >>> shrink_image(np.array([[0, 10, 7], [20, 30, 7]], np.uint8), 2)
    array([[15]], dtype=uint8)
    """
    pixels = np.asarray(image)
    height, width = (side // factor for side in pixels.shape[:2]) if factor >= 1 else (0, 0)
    if height < 1 or width < 1:
        raise ValueError(f"factor must be from 1 to the shorter side of {pixels.shape[:2]}, got {factor}")
    blocks = pixels[: height * factor, : width * factor].reshape(height, factor, width, factor, *pixels.shape[2:])
    shrunk = np.empty((height, width, *pixels.shape[2:]), pixels.dtype)
    step = max(1, AVERAGED_PIXELS // (width * factor**2))
    for start in range(0, height, step):  # so that little is held besides, and nobody waits for the end
        _native.check_interrupt()
        mean = blocks[start : start + step].mean(axis=(1, 3))
        shrunk[start : start + step] = mean if pixels.dtype.kind == "f" else mean.round()
    return shrunk


def shrunk(planes: NDArray[Floats], factor: int, pool: Callable[..., Any] = np.mean) -> NDArray[Floats]:
    """Return planes (..., H, W) shrunk by a whole factor: the mean, or another pool, of each square.

    Squares that reach beyond the border repeat its pixels.
    """
    if factor == 1:
        return planes
    height, width = planes.shape[-2:]
    if height % factor or width % factor:
        room = [(0, 0)] * (planes.ndim - 2) + [(0, -height % factor), (0, -width % factor)]
        planes = np.pad(planes, room, mode="edge")
        height, width = planes.shape[-2:]
    if factor == 2 and pool in PAIRWISE:  # reducing two short axes takes ten times as long
        join, count = PAIRWISE[pool]
        rows = join(planes[..., ::2], planes[..., 1::2])
        halved: NDArray[Floats] = join(rows[..., ::2, :], rows[..., 1::2, :])
        return halved / halved.dtype.type(count)
    squares = planes.reshape(*planes.shape[:-2], height // factor, factor, width // factor, factor)
    pooled: NDArray[Floats] = pool(squares, axis=(-3, -1))
    return pooled


def fitted(plane: Float32Array, longest: int, smallest: int = 1) -> Float32Array:
    """Return a plane with no side longer than `longest`: each pixel the mean of what it covers."""
    share = longest / max(plane.shape)
    if share >= 1:
        return plane
    from PIL import Image as PillowImage  # here, because `import imtorque` does without it

    height, width = (max(smallest, round(side * share)) for side in plane.shape)
    return np.asarray(PillowImage.fromarray(plane).resize((width, height), PillowImage.Resampling.BOX), np.float32)


def resize(values: Planes, shape: tuple[int, int]) -> Planes:
    """Resize a map by cubic interpolation (Catmull-Rom), which averages where it shrinks.

    Beyond the border the map repeats its border pixels: their share of the kernel is left out and the rest scaled up.
    """
    height, width = values.shape
    rows, columns = resize_matrices((height, width), shape)
    resized: Planes = rows @ values @ columns.T
    return resized


def resize_matrices(old: tuple[int, int], new: tuple[int, int]) -> tuple[Planes, Planes]:
    """Return the matrices that resize columns and rows of pixels: cached, so not to be written to."""
    rows, columns = (_kept_matrix(*lengths) for lengths in zip(old, new, strict=True))
    return rows, columns


def resize_matrix(old: int, new: int) -> Planes:
    """Return the (new, old) matrix that resizes a line of pixels."""
    if old == new:
        return np.eye(new)
    stretch = max(old / new, 1.0)
    centres = (np.arange(new) + 0.5) * old / new - 0.5
    distance = np.abs(np.arange(old) - centres[:, None]) / stretch
    kernel = np.zeros_like(distance)
    counts = distance < 2  # few: cubes take long
    d = distance[counts]
    near = 1.5 * d**3 - 2.5 * d**2 + 1
    far = -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2
    kernel[counts] = np.where(d <= 1, near, far)
    matrix: Planes = kernel / kernel.sum(axis=1, keepdims=True)
    return matrix


@lru_cache(maxsize=8)
def _kept_matrix(old: int, new: int) -> Planes:
    matrix = resize_matrix(old, new)
    matrix.flags.writeable = False
    return matrix
