"""Area, middle and axes of polygons, many at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imtorque.core.types import FloatArray


class Moments(NamedTuple):
    """What a polygon's inside has: area, centroid, semi-axes of the ellipse of like second moments, and its turn.

    The turn is the angle of the long axis from the x axis towards the y axis (down), in (-pi/2, pi/2].
    """

    area: FloatArray
    y: FloatArray
    x: FloatArray
    long: FloatArray
    short: FloatArray
    turn: FloatArray


def polygon_moments(y: FloatArray, x: FloatArray) -> Moments:
    """Return the moments of polygons with points (n, k), by Green's theorem.

    Examples
    --------
    >>> angle = np.arange(200) * np.pi / 100
    >>> ellipse = polygon_moments(5 + 3 * np.sin(angle)[None], 7 + 6 * np.cos(angle)[None])
    >>> [abs(round(float(v[0]), 1)) for v in ellipse]
    [56.5, 5.0, 7.0, 6.0, 3.0, 0.0]
    """
    y0, x0 = y.mean(axis=1), x.mean(axis=1)
    v, u = y - y0[:, None], x - x0[:, None]
    v1, u1 = np.roll(v, -1, axis=1), np.roll(u, -1, axis=1)
    cross = u * v1 - u1 * v
    area = cross.sum(axis=1) / 2
    whole = np.where(np.abs(area) > 1e-9, area, 1e-9)
    my = ((v + v1) * cross).sum(axis=1) / (6 * whole)
    mx = ((u + u1) * cross).sum(axis=1) / (6 * whole)
    vv = ((v * v + v * v1 + v1 * v1) * cross).sum(axis=1) / (12 * whole) - my**2
    uu = ((u * u + u * u1 + u1 * u1) * cross).sum(axis=1) / (12 * whole) - mx**2
    uv = ((u * v1 + 2 * u * v + 2 * u1 * v1 + u1 * v) * cross).sum(axis=1) / (24 * whole) - mx * my
    middle, half = (uu + vv) / 2, np.hypot((uu - vv) / 2, uv)
    long = 2 * np.sqrt(np.maximum(middle + half, 0))
    short = 2 * np.sqrt(np.maximum(middle - half, 0))
    return Moments(np.abs(area), y0 + my, x0 + mx, long, short, 0.5 * np.arctan2(2 * uv, uu - vv))
