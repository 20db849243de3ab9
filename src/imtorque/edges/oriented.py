"""Oriented boundary maps: how likely a boundary of each orientation passes through each pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.caching import cached_property
from imtorque.core.types import Edges, Float32Array, FloatArray, Image
from imtorque.edges.maps import edges_from_map
from imtorque.images import CheckedImage


@dataclass(frozen=True, eq=False)
class OrientedMap:
    """The strength of a boundary of each orientation at each pixel.

    Parameters
    ----------
    strengths
        Shape (n, H, W), in [0, 1]: plane k is for boundaries of angle k pi / n, from the x axis towards the y axis
        (down). Copied, and kept as read-only float32.
    """

    strengths: Float32Array

    def __post_init__(self) -> None:
        """Check the planes and copy them."""
        given = np.array(self.strengths, dtype=np.float32, order="C")
        if given.ndim != 3 or given.size == 0:
            raise ValueError(f"strengths must have shape (orientations, H, W) and not be empty, got {given.shape}")
        if not (given.min() >= 0 and given.max() <= 1):  # nor is it with NaN
            raise ValueError(f"strengths must lie in [0, 1], got {given.min():g} to {given.max():g}")
        given.flags.writeable = False
        object.__setattr__(self, "strengths", given)

    @classmethod
    def from_map(cls, strength: ArrayLike, orientation: ArrayLike, orientations: int = 8) -> OrientedMap:
        """Make one from a map and the angle of its boundaries in radians: a network's output, say.

        A boundary counts for other angles by |cos| of the angle between, so that contours may bend.
        """
        value, angle = np.asarray(strength, np.float64), np.asarray(orientation, np.float64)
        if value.ndim != 2 or angle.shape != value.shape or not np.all(np.isfinite(angle)):
            raise ValueError(f"orientation must be finite, of the strength's shape, got {angle.shape}, {value.shape}")
        planes = np.pi * np.arange(orientations)[:, None, None] / orientations
        return cls((value * np.abs(np.cos(angle - planes))).astype(np.float32))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.strengths.shape[1], self.strengths.shape[2]

    @cached_property
    def strength(self) -> Float32Array:
        """The strongest orientation's strength, (H, W)."""
        strongest: Float32Array = self.strengths.max(axis=0)
        return strongest

    @cached_property
    def angle(self) -> Float32Array:
        """Angle of the strongest orientation in radians, (H, W), in [0, pi)."""
        step = np.float32(np.pi / len(self.strengths))
        angle: Float32Array = self.strengths.argmax(axis=0).astype(np.float32) * step
        return angle

    def thinned(self) -> Float32Array:
        """Return the strength where it is largest across its orientation, 0 elsewhere, (H, W)."""
        return _native.suppress_non_maxima(self.strength, -np.sin(self.angle), np.cos(self.angle), 0.0)

    def edges(self, image: Image | CheckedImage, threshold: float = 0.0) -> Edges:
        """Return edge vectors for torque: thinned, as strong as the map; `image` says which side is brighter."""
        return edges_from_map(self.strength, image=image, orientation=self.angle, threshold=threshold, force="strength")


def probabilities(evidence: FloatArray) -> OrientedMap:
    """Return the map of 1 / (1 + exp(-evidence)), evidence of shape (n, H, W)."""
    return OrientedMap((0.5 * (1 + np.tanh(0.5 * evidence))).astype(np.float32))
