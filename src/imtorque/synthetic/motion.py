"""Discs that move over a ground that moves, both in one paint: two frames, either of which shows nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray
from imtorque.synthetic.camouflage import apart, patchwork

MOTION_NOISE = 0.01  # of the frames' greys; untuned


@dataclass(frozen=True, eq=False)
class MotionScene:
    """Two frames and the truth.

    Parameters
    ----------
    first, second
        Grey in [0, 1], shape (H, W).
    flow
        Motion from the first to the second, shape (H, W, 2): across and down, in pixels.
    labels
        0 on the ground, i + 1 on disc i, in the first frame.
    y, x, size
        Centres and diameters of the discs in the first frame, in pixels.
    """

    first: FloatArray
    second: FloatArray
    flow: FloatArray
    labels: NDArray[np.int32]
    y: FloatArray
    x: FloatArray
    size: FloatArray


def motion_scene(seed: int = 0, *, shape: tuple[int, int] = (240, 320), count: int = 6) -> MotionScene:
    """Render two frames of discs that move over a ground that moves, turns and comes nearer.

    Parameters
    ----------
    seed
        Another one gives another scene.
    shape
        Height and width of the frames.
    count
        How many discs at most.
    """
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(shape).astype(float)
    affine = np.column_stack([rng.uniform(-2, 2, 2), rng.uniform(-0.015, 0.015, (2, 2))])
    places = apart(count, shape, (0.05 * max(shape), 0.1 * max(shape)), rng, margin=10)
    angles = rng.uniform(0, 2 * np.pi, len(places))
    speeds = rng.uniform(2.0, 3.5, len(places))
    own = np.stack([speeds * np.cos(angles), speeds * np.sin(angles)], axis=1)
    paints = [patchwork(shape, rng) for _ in range(len(places) + 1)]
    flow = _affine(affine, rows, columns)
    first, second = paints[0], _sampled(paints[0], rows, columns, _inverted(affine, rows, columns))
    labels = np.zeros(shape, np.int32)
    for k, (y, x, radius) in enumerate(places):
        motion = own[k] + _affine(affine, np.array(y), np.array(x))
        before = _disc(rows - y, columns - x, radius)
        after = _disc(rows - y - motion[1], columns - x - motion[0], radius)
        labels[before >= 0.5] = k + 1
        flow[before >= 0.5] = motion
        first = first * (1 - before) + paints[k + 1] * before
        moved = _sampled(paints[k + 1], rows, columns, np.broadcast_to(motion, flow.shape))
        second = second * (1 - after) + moved * after
    first, second = (np.clip(frame + rng.normal(0, MOTION_NOISE, shape), 0, 1) for frame in (first, second))
    ys, xs, radii = (np.array(v) for v in zip(*places, strict=True))
    return MotionScene(first, second, flow, labels, ys, xs, 2 * radii)


def _affine(terms: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    across, down = (t[0] + t[1] * columns + t[2] * rows for t in terms)
    return np.stack([across, down], axis=-1)


def _inverted(terms: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the motion that brought each pixel of the second frame to its place, by a few rounds of substitution."""
    motion = _affine(terms, rows, columns)
    for _ in range(5):
        motion = _affine(terms, rows - motion[..., 1], columns - motion[..., 0])
    return motion


def _sampled(paint: FloatArray, rows: FloatArray, columns: FloatArray, motion: FloatArray) -> FloatArray:
    """Return paint that was moved: each pixel from where it came from, the paint repeating beyond its borders."""
    from scipy import ndimage

    where = [rows - motion[..., 1], columns - motion[..., 0]]
    moved: FloatArray = ndimage.map_coordinates(paint, where, order=3, mode="grid-wrap")
    return moved


def _disc(dy: FloatArray, dx: FloatArray, radius: float) -> FloatArray:
    """Return how much of each pixel a disc covers, about."""
    return np.clip(radius - np.hypot(dy, dx) + 0.5, 0, 1)
