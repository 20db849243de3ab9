"""What each verb of the command line does to one image: files in, files and numbers out."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from imtorque.boundaries.strength import boundary_strength
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.core.extrema import find_extrema
from imtorque.core.patterns import Pattern, Polarity, pattern_edges
from imtorque.core.torque import default_sizes, torque_map, value_and_scale_maps
from imtorque.core.types import Edges, Image, IntArray, Patch
from imtorque.edges import canny_recipe, detect_edges
from imtorque.edges.canny import Force
from imtorque.files import write_array, write_image, write_text
from imtorque.render.saliency import heat_overlay
from imtorque.render.torque import edge_image, scale_image, value_image
from imtorque.saliency import saliency_map, scan_path

Written = tuple[list[Path], dict[str, Any]]
EXTREMUM = ["y", "x", "size", "torque"]


@dataclass(frozen=True)
class FindEdges:
    """Edges: an image of them, and their forces as an array."""

    verb: ClassVar[str] = "edges"
    sigma: float
    low: float | None
    high: float | None
    force: Force
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one image."""
        edges = self.detect(self.opening.read(source))
        outputs = [
            write_image(f"{stem}.png", edge_image(edges)),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
        ]
        return outputs, {**_extent(edges), "edge_pixels": int(np.count_nonzero(edges.mask))}

    def detect(self, image: Image) -> Edges:
        """Detect the edges of an image with these parameters."""
        return detect_edges(image, sigma=self.sigma, low=self.low, high=self.high, force=self.force)


@dataclass(frozen=True)
class StrengthenEdges:
    """Edges re-weighed by torque: before and after as images and arrays."""

    verb: ClassVar[str] = "edges"
    sigma: float
    low: float | None
    high: float | None
    strengthen: bool = True
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one image and the strengthened ones."""
        recipe = canny_recipe(self.sigma, self.low, self.high)
        edges = recipe.edges(self.opening.read(source))
        strength, after = np.minimum(edges.strength, 1), boundary_strength(edges, recipe).astype(np.float32)
        images = [np.round(found * 255).astype(np.uint8) for found in (strength, after)]
        outputs = [
            write_image(f"{stem}.png", images[0]),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
            write_image(f"{stem}.strengthened.png", np.round(after * 65535).astype(np.uint16)),
            write_array(f"{stem}.strengthened.npy", after),
            write_image(f"{stem}.before_after.png", np.hstack(images)),
        ]
        counts = {"edge_pixels": int(np.count_nonzero(edges.mask)), "likely": int(np.count_nonzero(after > 0.5))}
        return outputs, {**_extent(edges), **counts, "recipe": asdict(recipe)}


@dataclass(frozen=True)
class DrawMaps:
    """Value and scale maps, and torque maps of chosen sizes, as images and arrays."""

    verb: ClassVar[str] = "maps"
    edges: FindEdges
    sizes: tuple[int, ...] | None
    at: tuple[int, ...]
    patch: Patch
    alpha: float
    arrays: tuple[str, ...]
    pattern: Pattern = "circle"
    polarity: Polarity = "signed"
    extrema: int = 0

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the maps of one image."""
        field, value, scale, result = self._measured(source)
        limit, largest = result["full_colour_at"], float(result["sizes"][-1])
        outputs = [
            write_image(f"{stem}.value.png", value_image(value, limit)),
            write_image(f"{stem}.scale.png", scale_image(scale, largest)),
            *self._write_arrays(f"{stem}.value", value),
            *self._write_arrays(f"{stem}.scale", scale),
        ]
        for size in self.at:
            torque = torque_map(field, size, patch=self.patch, alpha=self.alpha, polarity=self.polarity)
            outputs.append(write_image(f"{stem}.size{size}.png", value_image(torque, limit)))
            outputs += self._write_arrays(f"{stem}.size{size}", torque)
        if self.extrema:
            outputs.append(write_text(f"{stem}.extrema.csv", table(EXTREMUM, result["extrema"])))
        return outputs, result

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result for one image."""
        return self._measured(source)[-1]

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the extrema asked for, or the strongest torque of the image."""
        found: list[dict[str, Any]] = result["extrema"] if self.extrema else [result["strongest"]]
        return found

    def _measured(self, source: Path) -> tuple[Edges, NDArray[Any], NDArray[Any], dict[str, Any]]:
        edges = self.edges.detect(self.edges.opening.read(source))
        sizes = _sizes(self.sizes, edges.shape)
        field = pattern_edges(edges, self.pattern)
        options: dict[str, Any] = {"patch": self.patch, "alpha": self.alpha, "polarity": self.polarity}
        value, scale = value_and_scale_maps(field, sizes, **options)
        y, x = (int(i) for i in np.unravel_index(np.argmax(np.abs(value)), value.shape))
        strongest = {"y": y, "x": x, "size": abs(int(scale[y, x])), "torque": float(value[y, x])}
        limit = float(np.abs(value).max())
        result = {**_extent(edges), "full_colour_at": limit, "sizes": sizes.tolist(), "strongest": strongest}
        if self.extrema:
            found = find_extrema(field, sizes, count=self.extrema, **options)
            columns = (found.y.tolist(), found.x.tolist(), found.size.tolist(), found.value.tolist())
            rows = [(*place, float(f"{torque:.6g}")) for *place, torque in zip(*columns, strict=True)]
            result["extrema"] = [dict(zip(EXTREMUM, row, strict=True)) for row in rows]
        return field, value, scale, result

    def _write_arrays(self, stem: str, array: NDArray[Any]) -> list[Path]:
        writers = {"npy": write_array, "tiff": write_image}
        return [writers[form](f"{stem}.{form}", array) for form in self.arrays]


@dataclass(frozen=True)
class PredictFixations:
    """Saliency: the map laid over the image, the map in grey and as an array, and a table of fixations in order."""

    verb: ClassVar[str] = "saliency"
    method: str
    share: float
    fixations: int
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the saliency of one image."""
        image = self.opening.read(source)
        saliency = saliency_map(image, self.method, share=self.share)
        y, x = scan_path(saliency, self.fixations)
        rows = [
            {"order": k, "y": int(row), "x": int(column), "saliency": float(f"{saliency[row, column]:.6g}")}
            for k, (row, column) in enumerate(zip(y, x, strict=True), start=1)
        ]
        outputs = [
            write_image(f"{stem}.png", heat_overlay(image, saliency, y, x)),
            write_image(f"{stem}.map.png", np.round(255 * saliency).astype(np.uint8)),
            write_array(f"{stem}.npy", saliency.astype(np.float32)),
            write_text(f"{stem}.csv", table(["order", "y", "x", "saliency"], rows)),
        ]
        return outputs, {
            "height": image.shape[0],
            "width": image.shape[1],
            "salient": bool(saliency.max() > 0),
            "fixations": rows,
        }


def _sizes(sizes: tuple[int, ...] | None, shape: tuple[int, int]) -> IntArray:
    return default_sizes(shape) if sizes is None else np.asarray(sizes, np.int64)


def _extent(edges: Edges) -> dict[str, Any]:
    return {"height": edges.shape[0], "width": edges.shape[1]}


def table(columns: list[str], rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
