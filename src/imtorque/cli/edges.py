"""The verb `edges`: edges of an image by any detector, and how likely each is to bound an object."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from imtorque.boundaries.strength import boundary_strength
from imtorque.cli.batch import Task, Written
from imtorque.cli.options import CANNY_PANEL, Canny, Opening, detector_option
from imtorque.cli.runner import Batch
from imtorque.core.types import Edges, Float32Array, FloatArray
from imtorque.edges import DEFAULT_DETECTOR, DETECTORS, CannyOptions, canny_recipe, find_recipe, ultrametric_contours
from imtorque.edges.ultrametric import contour_edges
from imtorque.files import write_array, write_image
from imtorque.images import CheckedImage
from imtorque.paper import BOUNDARIES, strengthened_edges
from imtorque.paper import edges as paper_edges
from imtorque.render.torque import edge_image


@dataclass(frozen=True)
class FindEdges(Task):
    """Edges: an image of them, and their forces as an array."""

    verb: ClassVar[str] = "edges"
    canny: Canny
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one image."""
        edges = self.canny.detect(self.opening.read(source))
        outputs = [write_image(f"{stem}.png", edge_image(edges)), _write_forces(stem, edges)]
        return outputs, _counts(edges)


@dataclass(frozen=True)
class StrengthenEdges(Task):
    """Canny's edges, weighed by torque or as the paper prints it: before and after as images and arrays."""

    verb: ClassVar[str] = "edges"
    canny: Canny
    opening: Opening
    paper: bool = False
    strengthen: bool = True

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one image and the strengthened ones."""
        image = self.opening.read(source)
        if self.paper:
            given = {name: own for name, own in asdict(self.canny).items() if own != getattr(Canny(), name)}
            reading = replace(BOUNDARIES, **given)
            edges = paper_edges(image, reading)
            before, after = edges.mask.astype(np.float32), strengthened_edges(edges, reading)
            settings: dict[str, Any] = {"paper": asdict(reading)}
        else:
            recipe = canny_recipe(self.canny.sigma, self.canny.low, self.canny.high)
            edges = recipe.edges(image)
            before, after = np.minimum(edges.strength, 1), boundary_strength(edges, recipe)
            settings = {"recipe": asdict(recipe)}
        outputs = [write_image(f"{stem}.png", _grey(before)), _write_forces(stem, edges)]
        written, likely = _write_strengthened(stem, before, after)
        return [*outputs, *written], {**_counts(edges), **likely, **settings}


@dataclass(frozen=True)
class DetectBoundaries(Task):
    """Boundaries by a detector that is learned: a map as image and array, and forces for torque."""

    verb: ClassVar[str] = "edges"
    detector: str
    opening: Opening
    strengthen: bool = False

    def run(self, source: Path, stem: str) -> Written:
        """Write the boundaries of one image."""
        edges, likely, doubled = self._detect(CheckedImage(self.opening.read(source)))
        outputs = [
            write_image(f"{stem}.png", _grey(likely)),
            _write_forces(stem, edges),
            write_array(f"{stem}.boundaries.npy", likely),
        ]
        if doubled is not None:
            outputs.append(write_array(f"{stem}.ucm.npy", doubled))
        counts = {**_counts(edges), "likely": int(np.count_nonzero(likely > 0.5)), "detector": self.detector}
        if self.strengthen:
            written, after = _write_strengthened(stem, likely, boundary_strength(edges, find_recipe(self.detector)))
            outputs, counts = [*outputs, *written], {**counts, **after}
        return outputs, counts

    def _detect(self, image: CheckedImage) -> tuple[Edges, Float32Array, Float32Array | None]:
        """Return forces, the thin map of boundaries, and the contours at double size where they are closed."""
        recipe, detector = find_recipe(self.detector), DETECTORS[self.detector]
        if detector.oriented_map is None:
            edges = recipe.edges(image)
            return edges, np.minimum(edges.strength, np.float32(1)), None
        oriented, threshold = detector.oriented_map(image), recipe.options.threshold
        if not detector.is_closed:
            return oriented.edges(image, threshold), oriented.thinned(), None
        tree = ultrametric_contours(oriented)
        return contour_edges(tree, oriented, image, threshold), tree.contour_map(), tree.contours()


def edges(
    *,
    strengthen: Annotated[
        bool, typer.Option("--strengthen", help="Weigh edges by torque: boundaries of objects up, texture down.")
    ] = False,
    detector: Annotated[str, detector_option("What finds edges.")] = DEFAULT_DETECTOR,
    canny: Canny,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Strengthen as the paper does, in the reading of the results: edges of strength 1 above 0.05, "
            "all extrema up to 61 pixels, its coefficients. --strengthen alone tells boundaries from texture better.",
            rich_help_panel=CANNY_PANEL,
        ),
    ] = False,
    opening: Opening,
    batch: Batch,
) -> None:
    """Detect edges: an image of them, and their forces (fx, fy) as an array.

    With --strengthen also how likely each is to be the boundary of an object: a 16-bit image, an array, and an image
    of before and after. Forces are then those of strength, and --low is 0.004 where it is not given.

    With --detector also how likely each is, for imtorque evaluate boundaries; of ucm contours at double size as well.

    Example: [bold]imtorque edges sample:hopper --strengthen[/bold]
    """
    if not isinstance(DETECTORS[detector].options, CannyOptions):
        if paper or canny != Canny():
            raise typer.BadParameter("--sigma, --low, --high, --force and --paper are Canny's", param_hint="--detector")
        batch.run(DetectBoundaries(detector, opening, strengthen), _describe)
    elif paper or strengthen:
        batch.run(StrengthenEdges(canny, opening, paper), _describe)
    else:
        batch.run(FindEdges(canny, opening), lambda result: f"{result['edge_pixels']} edge pixels")


def _describe(result: dict[str, Any]) -> str:
    return f"{result['edge_pixels']} edge pixels, {result['likely']} more likely than not on a boundary"


def _counts(edges: Edges) -> dict[str, Any]:
    return {"height": edges.shape[0], "width": edges.shape[1], "edge_pixels": int(np.count_nonzero(edges.mask))}


def _grey(strength: FloatArray) -> Any:
    return np.round(strength * 255).astype(np.uint8)


def _write_forces(stem: str, edges: Edges) -> Path:
    return write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy]))


def _write_strengthened(stem: str, before: FloatArray, after: FloatArray) -> tuple[list[Path], dict[str, int]]:
    """Write strengthened edges beside those before; return the files, and how many are more likely than not."""
    after = after.astype(np.float32)
    outputs = [
        write_image(f"{stem}.strengthened.png", np.round(after * 65535).astype(np.uint16)),
        write_array(f"{stem}.strengthened.npy", after),
        write_image(f"{stem}.before_after.png", np.hstack([_grey(before), _grey(after)])),
    ]
    return outputs, {"likely": int(np.count_nonzero(after > 0.5))}
