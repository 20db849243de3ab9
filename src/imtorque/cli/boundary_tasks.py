"""What verbs do to one image when they are asked for a boundary detector."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import typer

from imtorque.boundaries.strength import boundary_strength
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.tasks import Written
from imtorque.core.types import Edges, Float32Array, FloatArray, Image
from imtorque.edges import RECIPES, OrientedMap, boundary_map, detect_edges, ultrametric_contours
from imtorque.edges.ultrametric import contour_edges
from imtorque.files import write_array, write_image
from imtorque.images import CheckedImage
from imtorque.paper import in_unit_range, strengthened_edges
from imtorque.segmentation.cues import TYPICAL_QUANTILE

PaperForm = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="Strengthen as the paper does: Canny's edges of strength 1, 5000 extrema, its coefficients. --strengthen "
        "alone tells boundaries from texture better.",
    ),
]


class Detector(StrEnum):
    """What finds edges."""

    canny = "canny"
    pb = "pb"
    mpb = "mpb"
    gpb = "gpb"
    ucm = "ucm"
    sketch_tokens = "sketch-tokens"


Boundaries = Annotated[
    Detector | None,
    typer.Option(
        help="Work on the boundaries of a learned detector, which takes up to seconds, instead of on Canny's edges."
    ),
]


def edges_by(detector: str, image: Image) -> Edges:
    """Return the edge vectors that a detector finds, by its own orientation."""
    return RECIPES[detector].edges(CheckedImage(image))


def edge_map_by(detector: str, image: Image) -> FloatArray:
    """Return how strong a detector's boundaries are, one pixel wide, such that 1 % of them reach 1."""
    return in_unit_range(edges_by(detector, image).strength.astype(np.float64), TYPICAL_QUANTILE)


def boundaries_by(detector: str, image: Image) -> OrientedMap:
    """Return the oriented map of a detector; of closed contours, that which they are made from."""
    return boundary_map(image, "gpb" if detector == "ucm" else detector)


@dataclass(frozen=True)
class DetectBoundaries:
    """Boundaries by a detector that is learned: a map as image and array, and forces for torque."""

    verb: ClassVar[str] = "edges"
    detector: str
    strengthen: bool = False
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the boundaries of one image."""
        edges, likely, doubled = self._found(CheckedImage(self.opening.read(source)))
        outputs = [
            write_image(f"{stem}.png", np.round(likely * 255).astype(np.uint8)),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
            write_array(f"{stem}.boundaries.npy", likely),
        ]
        if doubled is not None:
            outputs.append(write_array(f"{stem}.ucm.npy", doubled))
        counts = {"edge_pixels": int(np.count_nonzero(edges.mask)), "likely": int(np.count_nonzero(likely > 0.5))}
        if self.strengthen:
            after = boundary_strength(edges, RECIPES[self.detector]).astype(np.float32)
            outputs += _written_after(stem, likely, after)
            counts["likely"] = int(np.count_nonzero(after > 0.5))
        size = {"height": edges.shape[0], "width": edges.shape[1]}
        return outputs, {**size, **counts, "detector": self.detector}

    def _found(self, image: CheckedImage) -> tuple[Edges, Float32Array, Float32Array | None]:
        """Return forces, the thin map of boundaries, and the contours at double size where they are closed."""
        low = RECIPES[self.detector].low
        if self.detector != "ucm":
            oriented = boundary_map(image, self.detector)
            return oriented.edges(image, low), oriented.thinned(), None
        oriented = boundary_map(image, "gpb")
        tree = ultrametric_contours(oriented)
        return contour_edges(tree, oriented, image, low), tree.contour_map(), tree.contours()


@dataclass(frozen=True)
class PaperEdges:
    """Canny's edges strengthened as the paper does it: before and after as images and arrays."""

    verb: ClassVar[str] = "edges"
    sigma: float
    low: float | None
    high: float | None
    opening: Opening = AS_IT_IS
    paper: bool = True

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one image and the strengthened ones."""
        edges = detect_edges(self.opening.read(source), sigma=self.sigma, low=self.low, high=self.high)
        before, after = edges.mask.astype(np.float32), strengthened_edges(edges).astype(np.float32)
        outputs = [
            write_image(f"{stem}.png", np.round(before * 255).astype(np.uint8)),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
            *_written_after(stem, before, after),
        ]
        size = {"height": edges.shape[0], "width": edges.shape[1]}
        counts = {"edge_pixels": int(np.count_nonzero(before)), "likely": int(np.count_nonzero(after > 0.5))}
        return outputs, {**size, **counts, "paper": True}


def _written_after(stem: str, before: FloatArray, after: FloatArray) -> list[Path]:
    images = [np.round(found * 255).astype(np.uint8) for found in (before, after)]
    return [
        write_image(f"{stem}.strengthened.png", np.round(after * 65535).astype(np.uint16)),
        write_array(f"{stem}.strengthened.npy", after),
        write_image(f"{stem}.before_after.png", np.hstack(images)),
    ]
