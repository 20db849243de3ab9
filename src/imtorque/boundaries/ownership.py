"""Border ownership: which side of an edge is the figure, from coherent torque on either side.

On either side of an edge pixel q lie points p = q + d n and q - d n, with n towards the brighter side. A square around
p has the coherence c(p) of its edges (`torque_coherence`), positive where they circle p as those of a bright figure,
negative as those of a dark one. c(q + d n) + c(q - d n) is thus positive where the bright side has more of it and
negative where the dark side has; a weighted sum over sizes and distances decides (first round). The answer is then
smoothed along contours, forces are reoriented so that the owner is on their right, whatever its grey, and their
coherence on either side decides again (further rounds). The negative of an image has the same owners.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from imtorque.core.torque import torque_coherence
from imtorque.core.types import BoolArray, Edges, FloatArray, Image, IntArray, require_edges
from imtorque.edges import detect_edges
from imtorque.images import CheckedImage
from imtorque.io.weights import read_weights

# Sides of the squares, of the image's longer side; derived: 9, 17, 31, 55, 97 and 151 pixels of 200.
SIZE_SHARES = (0.045, 0.085, 0.155, 0.275, 0.485, 0.755)
DISTANCES = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)  # of the points beside an edge, of the square's side; untuned
SIDE_SIGMA = 2.0  # of the edges, in pixels; untuned
CONTOUR_SIGMA = 3.0  # pixels, of the smoothing of answers along a contour; unrecorded
TRUTH_DISTANCE = 2.5  # pixels from an edge at which the annotated depth order is read; untuned
BOUNDARY_TOLERANCE = 1.5  # pixels from an annotated boundary within which an edge is on it; convention
MAX_EDGE_PIXELS = 400  # bound: edge pixels per image that weights are learned from
RIDGE_PENALTY = 0.05  # of standardised weights, against the mean loss of one image; unrecorded
NEWTON_STEPS = 20  # of Newton's method; bound: time
Evidence = NDArray[np.float64]
Learned = Literal["photographs", "drawings"]


@dataclass(frozen=True, eq=False)
class OwnershipModel:
    """Weights of the rounds.

    Parameters
    ----------
    first
        Of the coherence on either side, for every size and distance: shape (36,).
    second
        For all further rounds: of the same, then of the coherence of the reoriented forces, then of the answer of the
        round before: shape (73,).
    """

    first: FloatArray
    second: FloatArray

    @classmethod
    def fit(cls, images: Iterable[Image], orders: Iterable[IntArray]) -> Self:
        """Learn the weights from images whose owners are known.

        Parameters
        ----------
        images
            As for `detect_edges`.
        orders
            For each, an integer map (H, W): of two sides, the one of larger number owns the edge between them. A mask
            of the figure is one; negative numbers are not known.
        """
        cases = [(ownership_edges(image), np.asarray(order)) for image, order in zip(images, orders, strict=True)]
        first = fit_weights([first_case(edges, order) for edges, order in cases])
        return cls(first, fit_weights([second_case(edges, order, first) for edges, order in cases]))

    def sides(self, edges: Edges, rounds: int = 2) -> FloatArray:
        """Return what `border_ownership` returns, for these edges."""
        places = _EdgePixels.of(edges)
        evidence = places.coherence(edges, 1)
        answer = places.smoothed_along_contours(np.tanh(evidence @ self.first))
        for _ in range(rounds - 1):
            both = np.column_stack([evidence, places.coherence(places.reoriented(edges, answer), -1), answer])
            answer = places.smoothed_along_contours(np.tanh(both @ self.second))
        side = np.zeros(edges.shape)
        side[places.y, places.x] = answer
        return side


def border_ownership(
    source: Image | CheckedImage | Edges, *, model: OwnershipModel | Learned = "photographs", rounds: int = 2
) -> FloatArray:
    """Return for each edge pixel which of its sides is the figure.

    Parameters
    ----------
    source
        An image as for `detect_edges`, or edges with forces in proportion to their strength, as `ownership_edges`
        finds them.
    model
        Weights: those learned from "photographs" (Caltech's outlines and the Weizmann horses), from "drawings"
        (`scenes.overlap_scene`), or your own.
    rounds
        Number of rounds, each given the answers of the one before. Two are best for photographs; clean drawings
        whose contrast changes sign along a contour need six or seven.

    Returns
    -------
    ndarray
        Shape (H, W), in [-1, 1]: positive where the brighter side owns the edge (the right of its force), negative
        where the darker side does, the more certain the larger; 0 where there is no edge. `Edges(side * edges.fx,
        side * edges.fy)` has the figure on the right of every force: its torque is positive around figures of any
        grey.

    Examples
    --------
    A dark disc on bright ground owns its outline.

    >>> from imtorque.synthetic import scene
    >>> side = border_ownership(scene("disc"), model="drawings")
    >>> bool(np.mean(side[side != 0] < 0) > 0.95)
    True
    """
    if operator.index(rounds) < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    if not isinstance(model, OwnershipModel) and model not in ("photographs", "drawings"):
        raise ValueError(f'model must be "photographs", "drawings" or an OwnershipModel, got {model!r}')
    edges = source if isinstance(source, Edges) else ownership_edges(source)
    chosen = model if isinstance(model, OwnershipModel) else _learned_models()[model]
    return chosen.sides(require_edges(edges), operator.index(rounds))


def ownership_edges(image: Image | CheckedImage) -> Edges:
    """Return the edges for `border_ownership`: Canny's at a sigma of 2 pixels, with their strength."""
    return detect_edges(image, sigma=SIDE_SIGMA, force="strength")


def true_sides(edges: Edges, order: IntArray) -> tuple[NDArray[np.float64], BoolArray]:
    """Return the owner of each edge pixel by a depth order, and which edge pixels lie on a boundary where it is known.

    Parameters
    ----------
    edges
        Whose pixels are asked for, in the order of np.nonzero(edges.mask).
    order
        As for `OwnershipModel.fit`.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    if order.shape != edges.shape or order.dtype.kind not in "biu":
        raise ValueError(f"order must be integers of shape {edges.shape}, got {order.dtype} of shape {order.shape}")
    numbers = order.astype(np.int64)
    places = _EdgePixels.of(edges)
    bright, dark = (places.sample(numbers, side * TRUTH_DISTANCE, nearest=True) for side in (1, -1))
    boundary = ndimage.maximum_filter(numbers, 3) != ndimage.minimum_filter(numbers, 3)
    near = (
        ndimage.distance_transform_edt(~boundary)[places.y, places.x] <= BOUNDARY_TOLERANCE if boundary.any() else False
    )
    known = near & (bright != dark) & (np.minimum(bright, dark) >= 0)
    return np.sign(bright - dark).astype(np.float64), known


def first_case(edges: Edges, order: IntArray) -> tuple[Evidence, Evidence]:
    """Return the features of the first round at edge pixels of known owner, and the owners."""
    sides, known = true_sides(edges, order)
    chosen = _subsampled(np.flatnonzero(known))
    return _EdgePixels.of(edges)[chosen].coherence(edges, 1), sides[chosen]


def second_case(edges: Edges, order: IntArray, first: FloatArray) -> tuple[Evidence, Evidence]:
    """Return the features of the second round at the same pixels."""
    sides, known = true_sides(edges, order)
    chosen = _subsampled(np.flatnonzero(known))
    places = _EdgePixels.of(edges)
    evidence = places.coherence(edges, 1)
    answer = places.smoothed_along_contours(np.tanh(evidence @ first))
    reoriented = places[chosen].coherence(places.reoriented(edges, answer), -1)
    return np.column_stack([evidence[chosen], reoriented, answer[chosen]]), sides[chosen]


def fit_weights(cases: Sequence[tuple[Evidence, Evidence]]) -> NDArray[np.float64]:
    """Fit a ridge-penalised logistic regression without a bias, by Newton's method; images have equal weight."""
    cases = [case for case in cases if len(case[1])]
    if not cases:
        raise ValueError("images must have edges on the boundaries of their orders, got none")
    seen, owner = (np.concatenate(parts) for parts in zip(*cases, strict=True))
    share = np.concatenate([np.full(len(sides), 1 / len(sides)) for _, sides in cases])
    scale = seen.std(axis=0) + 1e-12
    seen = seen / scale
    weights = np.zeros(seen.shape[1])
    for _ in range(NEWTON_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(owner * (seen @ weights), -30, 30)))
        slope = seen.T @ (share * wrong * owner) - RIDGE_PENALTY * weights
        curvature = (seen * (share * wrong * (1 - wrong))[:, None]).T @ seen + RIDGE_PENALTY * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, slope)
    return np.asarray(weights / scale, np.float64)


@dataclass(frozen=True, eq=False)
class _EdgePixels:
    """Edge pixels, and the unit normals towards their brighter sides."""

    y: IntArray
    x: IntArray
    ny: FloatArray
    nx: FloatArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, edges: Edges) -> _EdgePixels:
        y, x = np.nonzero(edges.mask)
        fx, fy = edges.fx[y, x].astype(np.float64), edges.fy[y, x].astype(np.float64)
        length = np.hypot(fx, fy)
        return cls(y, x, fx / length, -fy / length, edges.shape)

    def __getitem__(self, chosen: IntArray) -> _EdgePixels:
        return _EdgePixels(self.y[chosen], self.x[chosen], self.ny[chosen], self.nx[chosen], self.shape)

    def sample(self, plane: NDArray[np.generic], distance: float, nearest: bool = False) -> NDArray[np.float64]:
        """Return a plane at the points so far from the edges towards the brighter side, clamped to the image."""
        from scipy import ndimage

        where = [self.y + distance * self.ny, self.x + distance * self.nx]
        found: NDArray[np.float64] = ndimage.map_coordinates(
            plane, where, output=np.float64, order=0 if nearest else 1, mode="nearest"
        )
        return found

    def coherence(self, edges: Edges, dark: int) -> Evidence:
        """Return c(q + d n) + dark * c(q - d n) for every size and distance, shape (n, 36)."""
        columns = []
        for share in SIZE_SHARES:
            size = 2 * math.floor(share * max(self.shape) / 2) + 1
            coherence = torque_coherence(edges, size)
            for part in DISTANCES:
                columns.append(self.sample(coherence, part * size) + dark * self.sample(coherence, -part * size))
        return np.stack(columns, axis=1)

    def smoothed_along_contours(self, side: FloatArray) -> NDArray[np.float64]:
        """Smooth answers along contours: the local mean of side times normal, projected on the normal."""
        from scipy import ndimage

        def around(values: FloatArray) -> NDArray[np.float64]:
            plane = np.zeros(self.shape)
            plane[self.y, self.x] = values
            found: NDArray[np.float64] = ndimage.gaussian_filter(plane, CONTOUR_SIGMA, mode="constant")[self.y, self.x]
            return found

        along = around(side * self.ny) * self.ny + around(side * self.nx) * self.nx
        return along / np.maximum(around(np.ones(len(self.y))), 1e-12)

    def reoriented(self, edges: Edges, side: FloatArray) -> Edges:
        """Return the forces with the owner of each edge on their right, scaled by how certain that is."""
        plane = np.zeros(self.shape)
        plane[self.y, self.x] = side
        side_of = plane.astype(np.float32)
        return Edges(side_of * edges.fx, side_of * edges.fy)


def _subsampled(places: IntArray) -> IntArray:
    """Return at most MAX_EDGE_PIXELS of the places, evenly spaced."""
    if len(places) <= MAX_EDGE_PIXELS:
        return places
    return places[np.linspace(0, len(places) - 1, MAX_EDGE_PIXELS).round().astype(np.intp)]


@cache
def _learned_models() -> dict[str, OwnershipModel]:
    stored = read_weights("ownership")
    return {name: OwnershipModel(*(np.array(found[k]) for k in ("first", "second"))) for name, found in stored.items()}
