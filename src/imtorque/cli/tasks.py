"""What each verb of the command line does to one picture: files in, files and numbers out."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque._types import Edges, Image, IntArray, Patch
from imtorque.boundaries import strengthened
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.edges import canny_recipe, detect_edges, edges_from_depth
from imtorque.edges.canny import Force
from imtorque.extrema import find_extrema
from imtorque.files import SUFFIXES, read_mask, write_array, write_picture, write_text
from imtorque.finding import Blobs, find_blobs
from imtorque.finding.table import COLUMNS
from imtorque.patterns import Pattern, Polarity, pattern_edges
from imtorque.render.saliency import heat_overlay
from imtorque.render.torque import blob_picture, edge_picture, scale_picture, value_picture
from imtorque.saliency import blend_saliency, gbvs_saliency, itti_saliency, scan_path, torque_saliency
from imtorque.torque import default_sizes, torque_map, value_and_scale_maps

# What the columns are called in tables, the number first.
BLOB_NAMES = {"label": "number"} | {name: "torque" if name == "value" else name for name in COLUMNS}

Written = tuple[list[Path], dict[str, Any]]


@dataclass(frozen=True)
class FindEdges:
    """Edges: a picture of them, and their forces as an array."""

    verb: ClassVar[str] = "edges"
    sigma: float
    low: float | None
    high: float | None
    force: Force
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the picture."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one picture."""
        edges = self.detect(self.opening.read(source))
        outputs = [
            write_picture(f"{stem}.png", edge_picture(edges)),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
        ]
        return outputs, {**_extent(edges), "edge_pixels": int(np.count_nonzero(edges.mask))}

    def detect(self, image: Image) -> Edges:
        """Detect the edges of an image with these parameters."""
        return detect_edges(image, sigma=self.sigma, low=self.low, high=self.high, force=self.force)


@dataclass(frozen=True)
class StrengthenEdges:
    """Edges re-weighed by torque: before and after as pictures and arrays."""

    verb: ClassVar[str] = "edges"
    sigma: float
    low: float | None
    high: float | None
    strengthen: bool = True
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the picture."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the edges of one picture and the strengthened ones."""
        recipe = canny_recipe(self.sigma, self.low, self.high)
        edges = recipe.edges(self.opening.read(source))
        strength, after = np.minimum(edges.strength, 1), strengthened(edges, recipe).astype(np.float32)
        pictures = [np.round(found * 255).astype(np.uint8) for found in (strength, after)]
        outputs = [
            write_picture(f"{stem}.png", pictures[0]),
            write_array(f"{stem}.npy", np.stack([edges.fx, edges.fy])),
            write_picture(f"{stem}.strengthened.png", np.round(after * 65535).astype(np.uint16)),
            write_array(f"{stem}.strengthened.npy", after),
            write_picture(f"{stem}.before_after.png", np.hstack(pictures)),
        ]
        counts = {"edge_pixels": int(np.count_nonzero(edges.mask)), "likely": int(np.count_nonzero(after > 0.5))}
        return outputs, {**_extent(edges), **counts, "recipe": asdict(recipe)}


@dataclass(frozen=True)
class DrawMaps:
    """Value and scale maps, and torque maps of chosen sizes, as pictures and arrays."""

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
        """Return the picture."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the maps of one picture."""
        edges = self.edges.detect(self.edges.opening.read(source))
        sizes = _sizes(self.sizes, edges.shape)
        field = pattern_edges(edges, self.pattern)
        value, scale = value_and_scale_maps(field, sizes, patch=self.patch, alpha=self.alpha, polarity=self.polarity)
        limit = float(np.abs(value).max())
        outputs = [
            write_picture(f"{stem}.value.png", value_picture(value, limit)),
            write_picture(f"{stem}.scale.png", scale_picture(scale, float(sizes[-1]))),
            *self._write_arrays(f"{stem}.value", value),
            *self._write_arrays(f"{stem}.scale", scale),
        ]
        for size in self.at:
            torque = torque_map(field, size, patch=self.patch, alpha=self.alpha, polarity=self.polarity)
            outputs.append(write_picture(f"{stem}.size{size}.png", value_picture(torque, limit)))
            outputs += self._write_arrays(f"{stem}.size{size}", torque)
        if self.extrema:
            found = find_extrema(
                field, sizes, count=self.extrema, patch=self.patch, alpha=self.alpha, polarity=self.polarity
            )
            outputs.append(write_text(f"{stem}.extrema.csv", found.to_csv()))
        y, x = (int(i) for i in np.unravel_index(np.argmax(np.abs(value)), value.shape))
        strongest = {"y": y, "x": x, "size": abs(int(scale[y, x])), "torque": float(value[y, x])}
        result = {"full_colour_at": limit, "sizes": sizes.tolist(), "strongest": strongest}
        return outputs, {**_extent(edges), **result}

    def _write_arrays(self, stem: str, array: NDArray[Any]) -> list[Path]:
        writers = {"npy": write_array, "tiff": write_picture}
        return [writers[form](f"{stem}.{form}", array) for form in self.arrays]


@dataclass(frozen=True)
class FindBlobs:
    """Blobs: a table, an overlay with their numbers, and a label picture."""

    verb: ClassVar[str] = "blobs"
    sizes: tuple[int, ...] | None
    sign: Literal[1, -1, 0] | None
    threshold: float | None
    sure: float | None
    overlap: float
    count: int | None
    mask: str | None
    overlay: bool
    labels: bool
    opening: Opening = AS_IT_IS
    depth: bool = False

    def inputs(self, source: Path) -> list[Path]:
        """Return the picture and its mask."""
        return [source] if self.mask is None else [source, self._mask_path(source)]

    def run(self, source: Path, stem: str) -> Written:
        """Write the blobs of one picture."""
        image = self.opening.read(source)
        shape = (image.shape[0], image.shape[1])
        inside = self._inside(source, shape)
        blobs = find_blobs(
            edges_from_depth(image) if self.depth else image,
            sizes=None if self.sizes is None else list(self.sizes),
            sign=self.sign,
            threshold=self.threshold,
            sure=self.sure,
            overlap=self.overlap,
            count=self.count,
            mask=inside,
        )
        outputs = [write_text(f"{stem}.csv", blob_table(blobs))]
        if self.overlay:
            outputs.append(write_picture(f"{stem}.png", blob_picture(image, blobs)))
        if self.labels:
            outputs.append(write_picture(f"{stem}.labels.tiff", _within(label_bytes(blobs), inside)))
        bright = int(np.count_nonzero(blobs.value > 0))
        counts = {"count": len(blobs), "bright": bright, "dark": len(blobs) - bright}
        return outputs, {"height": shape[0], "width": shape[1], **counts, "blobs": blob_rows(blobs)}

    def _inside(self, source: Path, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
        if self.mask is None:
            return None
        path = self._mask_path(source)
        mask = self.opening.reduced(read_mask(path))
        if mask.shape != shape:
            raise ValueError(
                f"{source}: mask must have the picture's {shape[0]} x {shape[1]} pixels, got {path} "
                f"of {mask.shape[0]} x {mask.shape[1]}"
            )
        return mask

    def _mask_path(self, source: Path) -> Path:
        """Return the mask: the file itself, or the one of the picture's name in a folder."""
        place = Path(self.mask or "")
        if not place.is_dir():
            return place
        names = [source.name, *(source.stem + suffix for suffix in SUFFIXES)]
        found = next((place / name for name in names if (place / name).is_file()), None)
        if found is None:
            raise ValueError(f"{source}: mask must lie in {place} under the name {source.stem}.png or alike, got none")
        return found


@dataclass(frozen=True)
class PredictFixations:
    """Saliency: the map laid over the picture, the map in grey and as an array, and a table of fixations in order."""

    verb: ClassVar[str] = "saliency"
    method: str
    share: float
    fixations: int
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the picture."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the saliency of one picture."""
        image = self.opening.read(source)
        saliency = self.compute(image)
        y, x = scan_path(saliency, self.fixations)
        rows = [
            {"order": k, "y": int(row), "x": int(column), "saliency": float(f"{saliency[row, column]:.6g}")}
            for k, (row, column) in enumerate(zip(y, x, strict=True), start=1)
        ]
        outputs = [
            write_picture(f"{stem}.png", heat_overlay(image, saliency, y, x)),
            write_picture(f"{stem}.map.png", np.round(255 * saliency).astype(np.uint8)),
            write_array(f"{stem}.npy", saliency.astype(np.float32)),
            write_text(f"{stem}.csv", table(["order", "y", "x", "saliency"], rows)),
        ]
        return outputs, {
            "height": image.shape[0],
            "width": image.shape[1],
            "salient": bool(saliency.max() > 0),
            "fixations": rows,
        }

    def compute(self, image: Image) -> NDArray[np.float64]:
        """Return the saliency map of an image by this method."""
        if self.method == "blend":
            return blend_saliency([gbvs_saliency(image), torque_saliency(image)], [1 - self.share, self.share])
        return {"torque": torque_saliency, "gbvs": gbvs_saliency, "itti": itti_saliency}[self.method](image)


def _sizes(sizes: tuple[int, ...] | None, shape: tuple[int, int]) -> IntArray:
    return default_sizes(shape) if sizes is None else np.asarray(sizes, np.int64)


def _extent(edges: Edges) -> dict[str, Any]:
    return {"height": edges.shape[0], "width": edges.shape[1]}


def _within(labels: NDArray[Any], inside: NDArray[np.bool_] | None) -> NDArray[Any]:
    return labels if inside is None else np.where(inside, labels, labels.dtype.type(0))


def blob_rows(blobs: Blobs) -> list[dict[str, Any]]:
    """Return the blobs as rows, with the numbers that stand in the overlay and the label picture."""
    columns = {name: blobs.to_dict()[key].tolist() for key, name in BLOB_NAMES.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: float(f"{v:.6g}") if isinstance(v, float) else v for name, v in row.items()} for row in rows]


def blob_table(blobs: Blobs) -> str:
    """Return those rows as CSV."""
    return table(list(BLOB_NAMES.values()), blob_rows(blobs))


def label_bytes(blobs: Blobs) -> NDArray[np.uint16] | NDArray[np.int32]:
    """Return the label image in as few bytes as hold its numbers."""
    return blobs.labels.astype(np.uint16) if len(blobs) <= 65535 else blobs.labels


def table(columns: list[str], rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
