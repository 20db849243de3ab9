"""Other patterns than the circle: the same operator on a field whose forces were turned or mirrored, pixel by pixel.

Torque asks how much the forces of a patch run around its centre. Turned by a quarter, forces that run away from the
centre run around it: so the torque of the turned field asks for stars. With d = q - p, about the centre p:

    "circle"            sum of  dx Fy - dy Fx     forces run clockwise (y down): edges around something bright
    "star", pi / 2      sum of  dx Fx + dy Fy     forces run outwards: edges along rays, brightness rising clockwise
    "spiral", pi / 4    their mean, times sqrt(2) forces run clockwise and outwards; -pi / 4 clockwise and inwards
    an angle a          cos(a) circle + sin(a) star
    "saddle"            sum of  dx Fx - dy Fy     outwards along x, inwards along y: a crossing of edges along the axes,
                                                  bright in the quadrants where dx dy > 0
    "saddle-diagonal"   sum of  dx Fy + dy Fx     the same turned by 45 degrees: bright above and below the centre

A negative response is the same pattern with bright and dark exchanged. The four sums are `patch_moments`' four maps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from imtorque.core.types import Edges

NamedPattern = Literal["circle", "star", "spiral", "saddle", "saddle-diagonal"]
Pattern = NamedPattern | float
Polarity = Literal["signed", "free"]
Matrix = tuple[tuple[float, float], tuple[float, float]]  # of (fx, fy)

PATTERN_ANGLES: dict[str, float] = {
    "circle": 0.0,
    "spiral": math.pi / 4,
    "star": math.pi / 2,
}  # radians from the circle
SADDLES: dict[str, Matrix] = {"saddle": ((0, 1), (1, 0)), "saddle-diagonal": ((-1, 0), (0, 1))}  # mirrors of the force
MIN_TURN = 1e-9  # bound: radians; less changes no float32 force
PATTERNS = ("circle", "star", "spiral", "saddle", "saddle-diagonal")


def pattern_edges(edges: Edges, pattern: Pattern) -> Edges:
    """Return the field whose torque is the response of a pattern in the given field.

    Every function that takes `pattern` is that function of this field.

    Parameters
    ----------
    edges
        Edge vectors, or any other field of vectors, such as optical flow.
    pattern
        "circle", "star", "spiral", "saddle", "saddle-diagonal", or an angle in radians: 0 is the circle, pi / 2 the
        star, and those between are spirals (see `imtorque.core.patterns`).

    Returns
    -------
    Edges
        In the same number of steps per unit of force. Circles, stars and saddles exchange components and signs, which
        keeps the rounded forces as they are; at other angles the turned forces are rounded.

    Examples
    --------
    >>> from imtorque import Edges
    >>> away = Edges(np.array([[-1.0, 0, 1]]), np.zeros((1, 3)))
    >>> pattern_edges(away, "star").fy
    array([[-1.,  0.,  1.]], dtype=float32)
    """
    from imtorque.core.types import (
        require_edges,
    )  # here, because types needs the shapes of patches, and these polarities

    require_edges(edges)
    (a, b), (c, d) = pattern_matrix(pattern)
    if (a, b, c, d) == (1, 0, 0, 1):
        return edges
    return edges.mapped(a, b, c, d)


def pattern_matrix(pattern: Pattern) -> Matrix:
    """Return what a pattern does to the force of each pixel; exact for quarter turns."""
    if isinstance(pattern, str):
        if pattern in SADDLES:
            return SADDLES[pattern]
        if pattern not in PATTERN_ANGLES:
            raise ValueError(f"pattern must be one of {', '.join(PATTERNS)} or an angle in radians, got {pattern!r}")
        angle = PATTERN_ANGLES[pattern]
    elif isinstance(pattern, bool | np.bool_) or not isinstance(pattern, int | float | np.integer | np.floating):
        raise TypeError(f"pattern must be a name or an angle in radians, got {type(pattern).__name__}")
    elif not math.isfinite(pattern):
        raise ValueError(f"pattern must be a name or an angle in radians, got {pattern}")
    else:
        angle = float(pattern)
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * math.pi / 2) < MIN_TURN:
        cos, sin = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    else:
        cos, sin = math.cos(angle), math.sin(angle)
    return (cos, -sin), (sin, cos)


def check_polarity(polarity: Polarity) -> Polarity:
    """Check a polarity and return it."""
    if polarity not in ("signed", "free"):
        raise ValueError(f'polarity must be "signed" or "free", got {polarity!r}')
    return polarity
