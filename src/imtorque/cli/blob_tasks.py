"""What the verb that finds blobs does to one image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.cli.boundary_tasks import edges_by
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.rois import Form, write_rois
from imtorque.cli.tasks import Written, table
from imtorque.core.types import Edges, Image
from imtorque.detection import Blobs, find_blobs
from imtorque.detection.table import COLUMNS
from imtorque.edges import edges_from_depth
from imtorque.files import SUFFIXES, read_mask, write_image, write_text
from imtorque.render.torque import blob_image

# What the columns are called in tables, the number first.
BLOB_NAMES = {"label": "number"} | {name: "torque" if name == "value" else name for name in COLUMNS}


@dataclass(frozen=True)
class FindBlobs:
    """Blobs: a table, an overlay with their numbers, and a label image."""

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
    rois: Form | None = None
    detector: str | None = None

    def inputs(self, source: Path) -> list[Path]:
        """Return the image and its mask."""
        return [source] if self.mask is None else [source, self._mask_path(source)]

    def run(self, source: Path, stem: str) -> Written:
        """Write the blobs of one image."""
        image, inside, blobs = self._found(source)
        rois = write_rois(stem, blobs, self.rois, self.opening.reduce)
        outputs = [write_text(f"{stem}.csv", blob_table(blobs)), *rois]
        if self.overlay:
            outputs.append(write_image(f"{stem}.png", blob_image(image, blobs)))
        if self.labels:
            outputs.append(write_image(f"{stem}.labels.tiff", _within(label_bytes(blobs), inside)))
        return outputs, _result(image, blobs)

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result for one image."""
        image, _, blobs = self._found(source)
        return _result(image, blobs)

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the blobs."""
        found: list[dict[str, Any]] = result["blobs"]
        return found

    def _found(self, source: Path) -> tuple[Image, NDArray[np.bool_] | None, Blobs]:
        image = self.opening.read(source)
        shape = (image.shape[0], image.shape[1])
        inside = self._inside(source, shape)
        blobs = find_blobs(
            self._shown(image),
            sizes=None if self.sizes is None else list(self.sizes),
            sign=self.sign,
            threshold=self.threshold,
            min_score=self.sure,
            overlap=self.overlap,
            count=self.count,
            mask=inside,
        )
        return image, inside, blobs

    def _shown(self, image: Image) -> Image | Edges:
        """Return what blobs are looked for in: the image, or edges of another kind than its own."""
        if self.depth:
            return edges_from_depth(image)
        return image if self.detector is None else edges_by(self.detector, image)

    def _inside(self, source: Path, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
        if self.mask is None:
            return None
        path = self._mask_path(source)
        mask = self.opening.reduced(read_mask(path))
        if mask.shape != shape:
            raise ValueError(
                f"{source}: mask must have the image's {shape[0]} x {shape[1]} pixels, got {path} "
                f"of {mask.shape[0]} x {mask.shape[1]}"
            )
        return mask

    def _mask_path(self, source: Path) -> Path:
        """Return the mask: the file itself, or the one of the image's name in a folder."""
        place = Path(self.mask or "")
        if not place.is_dir():
            return place
        names = [source.name, *(source.stem + suffix for suffix in SUFFIXES)]
        found = next((place / name for name in names if (place / name).is_file()), None)
        if found is None:
            raise ValueError(f"{source}: mask must lie in {place} under the name {source.stem}.png or alike, got none")
        return found


def _result(image: Image, blobs: Blobs) -> dict[str, Any]:
    bright = int(np.count_nonzero(blobs.value > 0))
    counts = {"count": len(blobs), "bright": bright, "dark": len(blobs) - bright}
    return {"height": image.shape[0], "width": image.shape[1], **counts, "blobs": blob_rows(blobs)}


def _within(labels: NDArray[Any], inside: NDArray[np.bool_] | None) -> NDArray[Any]:
    return labels if inside is None else np.where(inside, labels, labels.dtype.type(0))


def blob_rows(blobs: Blobs) -> list[dict[str, Any]]:
    """Return the blobs as rows, with the numbers that stand in the overlay and the label image."""
    columns = {name: blobs.to_dict()[key].tolist() for key, name in BLOB_NAMES.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: float(f"{v:.6g}") if isinstance(v, float) else v for name, v in row.items()} for row in rows]


def blob_table(blobs: Blobs) -> str:
    """Return those rows as CSV."""
    return table(list(BLOB_NAMES.values()), blob_rows(blobs))


def label_bytes(blobs: Blobs) -> NDArray[np.uint16] | NDArray[np.int32]:
    """Return the label image in as few bytes as hold its numbers."""
    return blobs.labels.astype(np.uint16) if len(blobs) <= 65535 else blobs.labels
