"""Settings of a large image, checked: edges, torque, outputs; and the halo of each step."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imtorque.core.extrema import CROSS_REACH, Neighbourhood, check_neighbourhood
from imtorque.core.patches import patch_shape
from imtorque.core.patterns import Pattern, Polarity, check_polarity, pattern_matrix
from imtorque.core.torque import default_sizes
from imtorque.core.types import Patch, Sizes, check_sizes
from imtorque.edges import SQRT2, EdgeRecipe
from imtorque.edges.canny import MAX_GRADIENT, Force, check_force, check_sigma
from imtorque.images import ValueRange, checked_range

MAPS = ("value", "scale", "edges", "strengthened", "saliency")
REDUCED = ("strengthened", "saliency")  # maps of the image at a reduced size
TABLES = ("extrema", "blobs")
DEFAULT_OUTPUTS = ("value", "scale", "edges", "blobs")
LARGEST_DEFAULT = 91  # bound: pixels, of default sizes: a halo of 45 pixels


@dataclass(frozen=True)
class EdgeSettings:
    """Options of `detect_edges`; with force="strength" the scale must be given."""

    sigma: float = SQRT2
    low: float | None = None
    high: float | None = None
    force: Force = "unit"
    directions: int | None = None
    strength_scale: float | None = None
    length_correction: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked without the image."""
        check_sigma(self.sigma)
        check_force(self.force)
        if self.directions is not None and operator.index(self.directions) != 8:
            raise ValueError(f"directions must be 8 or None, got {self.directions}")
        for name, value in (("low", self.low), ("high", self.high)):
            if value is not None and not (math.isfinite(value) and 0 <= value <= MAX_GRADIENT):
                raise ValueError(
                    f"{name} must be a gradient from 0 to {MAX_GRADIENT:.2f} of the value range, got {value}"
                )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low must not exceed high, got low {self.low} and high {self.high}")
        if self.force == "strength" and self.strength_scale is None:
            raise ValueError(
                'strength_scale must be given with force="strength": its default is a quantile over the whole image'
            )
        if self.strength_scale is not None and not (math.isfinite(self.strength_scale) and self.strength_scale > 0):
            raise ValueError(f"strength_scale must be positive, got {self.strength_scale}")

    @property
    def automatic(self) -> bool:
        """Whether the thresholds follow from the image."""
        return self.low is None and self.high is None

    def thresholds(self, unit: float) -> tuple[np.float32, np.float32]:
        """Return the given thresholds as the kernels take them, for a grey whose 1 is `unit` of the value range."""
        top = self.high if self.high is not None else self.low or 0.0
        bottom = self.low if self.low is not None else 0.4 * top
        return np.float32(bottom / unit), np.float32(top / unit)

    @property
    def halo(self) -> int:
        """Pixels around a candidate that decide it: smoothing, gradient, thinning."""
        return max(1, math.ceil(4 * self.sigma)) + 2

    @property
    def likely_steps(self) -> float | None:
        """Steps of force that nearly every image of such edges has; None where they depend on the image."""
        if self.force == "strength" or self.length_correction:
            return None
        return 3363.0 if self.directions else 4096.0


@dataclass(frozen=True)
class TorqueSettings:
    """Options of `torque_volume`, and which extrema count, as for `find_extrema`."""

    sizes: tuple[int, ...]
    patch: Patch = "square"
    alpha: float = 2.0
    pattern: Pattern = "circle"
    polarity: Polarity = "signed"
    neighbourhood: Neighbourhood = "box"
    end_scales: bool = True
    inside: bool = False

    def __post_init__(self) -> None:
        """Check the patches."""
        check_neighbourhood(self.neighbourhood)
        patch_shape(self.patch, np.asarray(self.sizes))
        pattern_matrix(self.pattern)
        check_polarity(self.polarity)

    @property
    def options(self) -> dict[str, Any]:
        """Those of torque but the sizes, as its functions take them."""
        return {"patch": self.patch, "alpha": self.alpha, "pattern": self.pattern, "polarity": self.polarity}

    @property
    def rule(self) -> tuple[bool, bool, bool]:
        """Which extrema count, as the kernel takes it: at end sizes, of crosses, inside."""
        return self.end_scales, self.neighbourhood == "cross", self.inside

    @property
    def reach(self) -> int:
        """Halo of the torque: half the largest patch."""
        return max(self.sizes) // 2

    @property
    def margin(self) -> int:
        """How far away the neighbours of an extremum are."""
        return CROSS_REACH if self.neighbourhood == "cross" else 1


@dataclass(frozen=True)
class Config:
    """All that the results of an image depend on, besides the image."""

    value_range: ValueRange | None
    edges: EdgeSettings
    torque: TorqueSettings
    outputs: tuple[str, ...]
    tile: int
    threshold: float
    overlap: float
    count: int | None
    least: float
    level: int | None
    recipe: EdgeRecipe
    table: str

    def __post_init__(self) -> None:
        """Check what the parts do not check themselves."""
        if self.count is not None and operator.index(self.count) < 0:
            raise ValueError(f"count must not be negative, got {self.count}")
        if not (math.isfinite(self.least) and self.least >= 0):
            raise ValueError(f"least must be finite and not negative, got {self.least}")


def chosen_sizes(sizes: Sizes | None, shape: tuple[int, int]) -> tuple[int, ...]:
    """Return sides of patches: those given, or the usual ones up to 91 pixels."""
    if sizes is None:
        usual = default_sizes(shape)
        return tuple(usual[usual <= LARGEST_DEFAULT].tolist())
    listed = check_sizes(sizes)
    if listed.ndim != 1:
        raise ValueError(f"sizes must be sides of squares or disks, got (height, width) pairs {listed.tolist()}")
    return tuple(listed.tolist())


def chosen_outputs(outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the outputs asked for, each once."""
    if isinstance(outputs, str):
        outputs = [outputs]
    unknown = [name for name in outputs if name not in (*MAPS, *TABLES)]
    if unknown or not outputs:
        given = ", ".join(map(str, unknown)) if unknown else "none"
        raise ValueError(f"outputs must be some of {', '.join((*MAPS, *TABLES))}, got {given}")
    return tuple(name for name in (*MAPS, *TABLES) if name in outputs)


def outputs_with_extrema(outputs: Sequence[str] | None, count: int | None, least: float) -> Sequence[str]:
    """Return the outputs; those by default have a table of extrema only where some of them are asked for."""
    if outputs is not None:
        return outputs
    return (*DEFAULT_OUTPUTS, "extrema") if count is not None or least > 0 else DEFAULT_OUTPUTS


def checked_tile(tile: int) -> int:
    """Return the side of a tile."""
    side = operator.index(tile)
    if not 1 <= side <= 16384:
        raise ValueError(f"tile must be from 1 to 16384 pixels, got {tile}")
    return side


def optional_range(value_range: ValueRange | None) -> ValueRange | None:
    """Return black and white, where they are given."""
    return None if value_range is None else checked_range(value_range)
