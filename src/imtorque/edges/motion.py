"""Edges of motion: where one surface moves unlike its neighbour, with what moves unlike the whole image inside."""

from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.types import Edges, Float32Array, FloatArray, Image
from imtorque.edges.canny import Force, check_force
from imtorque.edges.jumps import Plane, Window, check_jump, jump_edges, jumps, least_jump, slopes
from imtorque.images import CheckedImage
from imtorque.io.arrays import whole_array

Ground = Literal["affine", "still"]
WINDOW = Window(gap=3, length=5)  # flow is blurred across edges by about the patches it is matched by
MOTION_ROUNDS = 30  # of iteratively reweighted least squares for the ground's motion; bound: time
MAX_FITTED = 20_000  # pixels that the ground's motion is fitted to, spread over the image; bound: time
MIN_RESIDUAL = 0.05  # pixels per frame; smaller residuals get the same weight; untuned


def edges_from_motion(flow: ArrayLike, *, jump: float = 0.5, ground: Ground = "affine", force: Force = "unit") -> Edges:
    """Find the edges at which motion jumps; the side that moves unlike the ground is the inner one.

    Torque is then positive around what moves by itself, also where it is painted like its ground. Smooth changes of
    motion, as a camera makes that turns or comes nearer, are no edges.

    Parameters
    ----------
    flow
        Motion of each pixel to the next frame, shape (H, W, 2): across and down, in pixels. `optical_flow` measures it.
    jump
        Least jump in pixels per frame. Jumps below five standard deviations of the flow's own noise are none either.
    ground
        What moves unlike it is inside. "affine": the affine motion that most of the image follows. "still": no
        motion at all, for a camera that stands.
    force
        "unit", or "strength": the jump itself.

    Returns
    -------
    Edges
        One pixel wide. A pixel of the outermost rows and columns is never an edge.

    Notes
    -----
    Two frames do not say which of two surfaces lies in front. Where two objects touch that both move by themselves, the
    one that differs more from the ground counts as inside.

    Examples
    --------
    >>> flow = np.zeros((60, 80, 2))
    >>> flow[..., 0] = 1
    >>> flow[20:41, 30:51] = -1
    >>> from imtorque import find_extrema
    >>> find_extrema(edges_from_motion(flow), count=1).to_csv().split()[1][:8]
    '30,40,21'
    """
    check_force(force)
    check_jump(jump)
    field = _flow(flow)
    if ground not in ("affine", "still"):
        raise ValueError(f'ground must be "affine" or "still", got {ground!r}')
    own = field - ground_motion(field) if ground == "affine" else field
    parts = [[jumps(own[..., c], axis, WINDOW) for c in (0, 1)] for axis in (1, 0)]
    strength = np.maximum(*(np.hypot(part[0][0], part[1][0]) for part in parts))
    nx, ny = _normal(own)
    # A jump of two components has no sign; the inner side is that on which more motion of its own is.
    speed = np.hypot(own[..., 0], own[..., 1])
    towards = np.where(nx * slopes(speed, 1, WINDOW) + ny * slopes(speed, 0, WINDOW) < 0, -1.0, 1.0)
    noises = [noise for part in parts for _, noise in part]
    return jump_edges(strength, towards * nx, towards * ny, least_jump(jump, *noises), WINDOW, force)


def optical_flow(first: Image, second: Image) -> Float32Array:
    """Measure the motion of every pixel from one frame to the next, by OpenCV's DIS (the extra [opencv]).

    Parameters
    ----------
    first, second
        Two frames of one size, as for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W, 2): motion across and down, in pixels.
    """
    try:
        cv2: Any = import_module("cv2")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("optical_flow needs the extra [opencv]: pip install 'imtorque[opencv]'") from error

    frames = [CheckedImage(frame).as_bytes() for frame in (first, second)]
    frames = [
        frame if frame.ndim == 2 else np.rint(255 * CheckedImage(frame).grey()).astype(np.uint8) for frame in frames
    ]
    if frames[0].shape != frames[1].shape:
        raise ValueError(f"first and second must have one size, got {frames[0].shape} and {frames[1].shape}")
    if min(frames[0].shape) < 16:
        raise ValueError(f"frames must have at least 16 x 16 pixels, got {frames[0].shape}")
    measure = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    measure.setFinestScale(0)
    flow: Float32Array = measure.calc(frames[0], frames[1], None)
    return flow


def ground_motion(flow: FloatArray) -> Plane:
    """Return the affine motion that most of the image follows, at every pixel, shape (H, W, 2).

    By iteratively reweighted least squares: the sum of the distances between flow and fit is the least, so a part of
    the image that moves by itself hardly counts.
    """
    height, width = flow.shape[:2]
    y, x = np.indices((height, width)).reshape(2, -1).astype(np.float64)
    every = np.column_stack([np.ones(y.size), (x - width / 2) / width, (y - height / 2) / height])
    step = max(1, y.size // MAX_FITTED)
    terms, motion = every[::step], flow.reshape(-1, 2)[::step].astype(np.float64)
    weight = np.ones(len(motion))
    for _ in range(MOTION_ROUNDS):
        fit = np.linalg.lstsq(terms * weight[:, None], motion * weight[:, None], rcond=None)[0]
        residual = np.hypot(*(motion - terms @ fit).T)
        weight = 1 / np.sqrt(np.maximum(residual, MIN_RESIDUAL))
    motion_of_all: Plane = (every @ fit).reshape(height, width, 2)
    return motion_of_all


def _flow(flow: ArrayLike) -> Plane:
    given = whole_array(flow, "flow")
    if given.dtype.kind not in "fiu":
        raise TypeError(f"flow must be real numbers, got dtype {given.dtype}")
    if given.ndim != 3 or given.shape[2] != 2 or given.size == 0:
        raise ValueError(f"flow must have shape (H, W, 2) and not be empty, got {given.shape}")
    if not np.all(np.isfinite(given)):
        raise ValueError("flow must be finite, got NaN or infinity")
    return given.astype(np.float64)


def _normal(own: Plane) -> tuple[Plane, Plane]:
    """Return the line across the jump, without a side: the direction in which both components together change most."""
    (ux, uy), (vx, vy) = ([slopes(own[..., c], axis, WINDOW) for axis in (1, 0)] for c in (0, 1))
    angle = 0.5 * np.arctan2(2 * (ux * uy + vx * vy), ux**2 + vx**2 - uy**2 - vy**2)
    return np.cos(angle), np.sin(angle)
