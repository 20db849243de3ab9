"""An image layer as the library sees it: planes, one after the other, each with its place in the stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Place = tuple[int, ...]


@dataclass(frozen=True)
class Stack:
    """The pixels of a layer: any number of axes, then y and x, then colours where there are."""

    data: Any
    rgb: bool = False

    @property
    def places(self) -> tuple[int, ...]:
        """Return the lengths of the axes before y and x."""
        return tuple(self.data.shape[: -3 if self.rgb else -2])

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the lengths of all axes but the colours."""
        return tuple(self.data.shape[:-1] if self.rgb else self.data.shape)

    def planes(self) -> Iterator[tuple[Place, NDArray[Any]]]:
        """Yield each plane with its place; of lazy arrays no more than one plane is in memory."""
        for place in np.ndindex(*self.places):
            yield place, self.plane(place)

    def plane(self, place: Place) -> NDArray[Any]:
        """Return one plane."""
        return np.asarray(self.data[place])


def stack_of(layer: Any) -> Stack:
    """Return the pixels of an image layer; of one with several resolutions the finest."""
    if layer.ndim < 2:
        raise ValueError(f"{layer.name} must have at least the axes y and x, got {layer.ndim}")
    return Stack(layer.data[0] if layer.multiscale else layer.data, bool(layer.rgb))


def lie_of(layer: Any) -> dict[str, Any]:
    """Return how a layer lies in the world, as arguments for a new one that shall lie there too."""
    names = ("scale", "translate", "rotate", "shear")
    return {name: getattr(layer, name) for name in names} | {"affine": layer.affine.affine_matrix}
