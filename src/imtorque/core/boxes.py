"""Boxes with scores: what proposes objects returns them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from imtorque.core import export
from imtorque.core.repr import with_first_rows
from imtorque.core.types import FloatArray, IntArray, as_one_array


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes in pixels, best first: rows y0 to y1 - 1 and columns x0 to x1 - 1, with their scores.

    Masks, slices and index arrays select: `boxes[:10]` is the ten best.
    """

    y0: IntArray
    x0: IntArray
    y1: IntArray
    x1: IntArray
    score: FloatArray

    def __len__(self) -> int:
        """Return how many boxes there are."""
        return len(self.score)

    def __getitem__(self, index: slice | ArrayLike) -> Boxes:
        """Return the boxes that a mask, a slice or an index array selects."""
        chosen = index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))
        return Boxes(self.y0[chosen], self.x0[chosen], self.y1[chosen], self.x1[chosen], self.score[chosen])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the boxes as (n, 4), as `as_array` does."""
        return as_one_array([self.y0, self.x0, self.y1, self.x1], dtype, copy).T

    def as_array(self) -> NDArray[np.int64]:
        """Return the boxes as (n, 4): y0, x0, y1, x1."""
        return np.stack([self.y0, self.x0, self.y1, self.x1], axis=1)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the boxes as CSV text, a row each, and write it to `path` where one is given."""
        return export.to_csv(self._columns(), path)

    def to_dataframe(self) -> Any:
        """Return the rows as a pandas DataFrame; needs pandas."""
        return export.to_dataframe(self._columns())

    def to_geojson(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the boxes as GeoJSON text, which QuPath imports, and write it to `path` where one is given."""
        return export.to_geojson(self.as_array(), {"score": self.score}, path)

    def to_napari(self) -> export.Layer:
        """Return a Shapes layer: data, arguments and type for napari's `Layer.create`."""
        corners = self.as_array()[:, [[0, 1], [0, 3], [2, 3], [2, 1]]] - 0.5  # napari's pixel 0 is from -0.5 to 0.5
        return export.shapes_layer(list(corners), {"score": self.score}, "boxes")

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"y0": self.y0, "x0": self.x0, "y1": self.y1, "x1": self.x1, "score": self.score}

    def __repr__(self) -> str:
        """Say how many boxes there are, and show the first."""
        return with_first_rows(f"Boxes({len(self)})", self._columns())
