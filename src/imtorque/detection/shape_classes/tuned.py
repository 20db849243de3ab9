"""Torque tuned to a class of shapes: edges weighed by the force that the class is expected to have at each place.

A patch of the class's proportions is divided into cells. Over each cell the directions of the edges are summed, by
summed-area tables, in a time that does not depend on the size; the response is the sum of these, weighed by what the
class is expected to have there, over the length of all of them:

    R(p, h) = sum over cells of  w . S(cell)  /  sqrt(sum over cells of |S(cell)|^2 + floor^2).

Plain torque is the same sum with the forces of a circle. By default an edge counts whichever of its sides is brighter:
what is summed are the cosine and the sine of twice its angle.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.boxes import Boxes
from imtorque.core.types import Edges, Extrema, Float32Array, FloatArray, Image
from imtorque.detection.shape_classes.examples import read_examples, shape_edges
from imtorque.detection.shape_classes.patches import (
    CHANNEL_STEPS,
    FLOOR,
    SMALLEST_HEIGHT,
    cell_borders,
    channels,
    extent,
    seen_patches,
    unlike_patches,
)
from imtorque.images import CheckedImage

Polarity = Literal["free", "signed"]
SHAPE_CELLS = 12  # along each side of the patch; untuned
SHRINKAGE = 2.0  # of the background's covariance towards a multiple of the identity; unrecorded
# Of the height over 100 pixels, that scores are multiplied by: parts are not to come before wholes; unrecorded.
HEIGHT_POWER = 0.2
HEIGHT_GROWTH = 1.12  # ratio of neighbouring heights; untuned
DISTINCT = 0.4  # overlap of boxes, intersection over union, from which on they are one; untuned
PROPOSED = 0.35  # of a proposal's size: how far from its centre a shape may lie; untuned
PROPOSED_SIZES = (0.5, 2.0)  # the shape's size, square root of its box's area, over the proposal's; untuned


@dataclass(frozen=True, eq=False)
class ShapeTorque:
    """A class of shapes: what its edges are expected to be, cell by cell.

    Parameters
    ----------
    weights
        Shape (2, n, n): weights of the two channels in every cell.
    aspect
        Height over width of the shape's box.
    polarity
        "free", or "signed": forces with the brighter side on their right.
    """

    weights: FloatArray
    aspect: float
    polarity: Polarity = "free"

    @classmethod
    def fit(
        cls,
        shapes: Iterable[ArrayLike],
        *,
        images: Iterable[Image] | None = None,
        background: Sequence[Image] = (),
        polarity: Polarity = "free",
        cells: int = SHAPE_CELLS,
        seed: int = 0,
    ) -> Self:
        """Learn a class from examples.

        Parameters
        ----------
        shapes
            Masks, bool of shape (H, W); or contours, (n, 2) points y, x.
        images
            The images the shapes are in, one for each: the edges inside the shape then count as well. Without them,
            outlines alone do.
        background
            Images without the shape. With them, what tells the class from such images counts most; without, what
            is common to the class.
        polarity
            "free", or "signed" where the shape is always brighter than its ground (or always darker).
        cells
            Along each side of the patch.
        seed
            Of the random displacements and patches.

        Examples
        --------
        >>> from imtorque.synthetic import triangle
        >>> tuned = ShapeTorque.fit([triangle((60, 60), (32, 30), 20) > 0.5])
        >>> round(tuned.aspect, 1)
        0.9
        """
        if polarity not in ("free", "signed"):
            raise ValueError(f'polarity must be "free" or "signed", got {polarity!r}')
        if not 1 <= operator.index(cells) <= 64:
            raise ValueError(f"cells must be from 1 to 64, got {cells}")
        examples = read_examples(shapes, images)
        aspect = float(np.median([(box[2] - box[0]) / (box[3] - box[1]) for _, box in examples]))
        rng = np.random.default_rng(seed)
        seen = [vector for edges, box in examples for vector in seen_patches(edges, box, aspect, polarity, cells, rng)]
        mean = np.mean(seen, axis=0)
        if len(background):
            others = [
                v for image in background for v in unlike_patches(shape_edges(image), aspect, polarity, cells, rng)
            ]
            mean = _discriminant(np.array(seen), np.array(others))
        length = float(np.linalg.norm(mean))
        if length == 0:
            raise ValueError("shapes must have edges, got none")
        return cls((mean / length).reshape(2, cells, cells), aspect, polarity)

    def response(self, edges: Edges, height: float) -> Float32Array:
        """Return how well the edges around every pixel fit the shape at one height in pixels, shape (H, W).

        Without background at most 1, where the edges are exactly those expected.
        """
        if not (math.isfinite(height) and 4 <= height <= 100_000):
            raise ValueError(f"height must be from 4 to 100000 pixels, got {height}")
        down, across = cell_borders(height, self.aspect, self.weights.shape[1])
        first, second = channels(edges, self.polarity)
        floor = CHANNEL_STEPS * FLOOR * math.sqrt(extent(height, self.aspect))
        weights = np.ascontiguousarray(self.weights, np.float32)
        return _native.shape_response(first, second, down, across, weights, floor)

    def detect(
        self,
        source: Image | CheckedImage | Edges,
        *,
        heights: Iterable[float] | None = None,
        count: int = 10,
        proposals: Extrema | None = None,
    ) -> Boxes:
        """Find the shape: its boxes, best first, scored by the response and a little by their size.

        Parameters
        ----------
        source
            An image as for `detect_edges`, or edges of unit force.
        heights
            Of the shape's box in pixels; by default from 24 up to what fits, 12 % apart.
        count
            How many at most.
        proposals
            Extrema of plain torque: only places and sizes near one of them count. Bottom-up torque proposes, the tuned
            one decides.
        """
        edges = source if isinstance(source, Edges) else shape_edges(source)
        tall = self._heights(edges.shape) if heights is None else [float(h) for h in heights]
        found: list[FloatArray] = []
        for height in tall:
            response = self.response(edges, height)
            if proposals is not None:
                size = height / math.sqrt(self.aspect)
                response = np.where(_near(proposals, edges.shape, size), response, np.float32(0))
            weight = np.float32((height / 100) ** HEIGHT_POWER)
            found.append(_peaks(weight * response, height, height / self.aspect, 20 * count))
        if not found:
            raise ValueError("heights must not be empty")
        rows = np.concatenate(found)
        rows = rows[np.argsort(-rows[:, 4], kind="stable")]
        height, width = edges.shape
        boxes = np.ascontiguousarray(np.clip(np.rint(rows[:, :4]), 0, (height, width, height, width)), np.int64)
        kept = _native.distinct_boxes(boxes, DISTINCT, operator.index(count))
        y0, x0, y1, x1 = boxes[kept].T
        return Boxes(y0, x0, y1, x1, rows[kept, 4])

    def to_json(self) -> str:
        """Return the class as text, which `from_json` reads."""
        weights = [float(f"{w:.6g}") for w in self.weights.ravel()]
        return json.dumps({"aspect": self.aspect, "polarity": self.polarity, "weights": weights})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` returned."""
        stored = json.loads(text)
        weights = np.array(stored["weights"], float)
        cells = math.isqrt(len(weights) // 2)
        return cls(weights.reshape(2, cells, cells), float(stored["aspect"]), stored["polarity"])

    def _heights(self, shape: tuple[int, int]) -> list[float]:
        largest = min(shape[0], shape[1] * self.aspect)
        smallest = min(float(SMALLEST_HEIGHT), largest)
        return [
            smallest * HEIGHT_GROWTH**k
            for k in range(1 + math.floor(math.log(largest / smallest) / math.log(HEIGHT_GROWTH)))
        ]


def _discriminant(seen: FloatArray, others: FloatArray) -> FloatArray:
    """Return Fisher's linear discriminant of the class against the background, its covariance shrunk a little."""
    covariance = np.cov(others.T) + (np.cov(seen.T) if len(seen) > 1 else 0.0)
    size = len(covariance)
    covariance += SHRINKAGE * np.trace(covariance) / size * np.eye(size)
    return np.asarray(np.linalg.solve(covariance, seen.mean(axis=0) - others.mean(axis=0)))


def _near(proposals: Extrema, shape: tuple[int, int], size: float) -> NDArray[np.bool_]:
    """Return where a shape of this size lies near a proposal of like size."""
    ratio = size / np.sqrt(proposals.height * proposals.width)
    fits = proposals[(ratio >= PROPOSED_SIZES[0]) & (ratio <= PROPOSED_SIZES[1])]
    reach = (PROPOSED * np.sqrt(fits.height * fits.width)).astype(int)
    steps = np.zeros((shape[0] + 1, shape[1] + 1), np.int32)  # a difference table: every proposal is a square of ones
    top, bottom = np.clip(fits.y - reach, 0, shape[0]), np.clip(fits.y + reach + 1, 0, shape[0])
    left, right = np.clip(fits.x - reach, 0, shape[1]), np.clip(fits.x + reach + 1, 0, shape[1])
    for y, x, sign in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
        np.add.at(steps, (y, x), sign)
    near: NDArray[np.bool_] = steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0
    return near


def _peaks(response: Float32Array, height: float, width: float, most: int) -> FloatArray:
    """Return boxes (y0, x0, y1, x1, response) around the strongest local maxima of one map."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    top = (response == ndimage.maximum_filter(response, 5, mode="nearest")) & (response > 0)
    y, x = np.nonzero(top)
    value = response[y, x]
    best = np.argsort(-value, kind="stable")[:most]
    y, x = y[best], x[best]
    return np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2, value[best]], axis=1)
