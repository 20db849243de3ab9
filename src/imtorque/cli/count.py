"""The verb `count`: objects of many images, by size, by edges or by a trained detector, in tables and images."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque.cli.batch import Outcome, Written, csv_table
from imtorque.cli.count_page import UNLIKE, preview_page
from imtorque.cli.count_tiles import count_in_tiles
from imtorque.cli.count_volume import CountVolumeObjects, ObjectTask, compact, rounded_rows, volume_columns
from imtorque.cli.options import (
    FILE_PANEL,
    SIGNS,
    Opening,
    Sign,
    detector_option,
    number_of,
    parse_range,
    parse_sizes,
    refuse,
)
from imtorque.cli.runner import TableBatch, folder_ledger, one_line_errors, recorded
from imtorque.core.resizing import shrink_image
from imtorque.core.types import BoolArray, Edges, Image
from imtorque.detection import Blobs, ObjectFinder, find_blobs
from imtorque.detection.ring_torque import odd_sizes
from imtorque.detection.table import OBJECT_COLUMNS, SizeRange
from imtorque.edges import edges_from_depth, find_recipe
from imtorque.files import SUFFIXES, pixel_size, read_mask, write_bytes, write_image, write_text
from imtorque.io.atomic import alone
from imtorque.io.ledger import read_record
from imtorque.render.objects import numbered_overlay

Form = Literal["geojson", "imagej"]
Region = Literal["circle"]
# What the columns are called in tables, the number first.
NAMES = {"label": "number"} | {name: "torque" if name == "value" else name for name in OBJECT_COLUMNS}
LENGTHS = ("y", "x", "diameter")  # columns that come in micrometres too, as does the area
COUNTED = (
    "count", "mean_diameter", "mean_diameter_um", "pixel_size_um", "depth", "height", "width", "plane", "trust", "note",
)  # fmt: skip
MICROMETRES = {"nm": 1e-3, "um": 1.0, "µm": 1.0, "μm": 1.0, "mm": 1e3, "": 1.0}
VOLUME_SIGNS: Mapping[Sign, Literal[1, -1] | None] = {"auto": 1, "bright": 1, "dark": -1, "both": None}
DEFAULT_OVERLAP = 0.4  # that of find_blobs; convention
MIN_SUGGESTING = 3  # objects, from which their sizes are suggested; convention
MOST_OBJECTS, SUGGESTED_MARGIN = (0.1, 0.9), 1.2  # quantiles of their diameters, and the margin about them; convention
DISH_SIDE = 200  # pixels, at least, of the reduced image in which a dish is found; bound: precision of its outline
MIN_DISH_SHARE, MAX_DISH_SHARE = 0.4, 1.2  # of the image's shorter side, a dish's diameter; convention
MIN_DISH_ROUNDNESS = 0.85  # of its axes; untuned: 32 degrees from above
INSIDE_RIM = 0.94  # of a dish's radius: its rim and what is reflected there are left out; convention
TRAINED = "a model knows sizes, signs and scores itself, and finds its own edges: leave out one of the two"


@dataclass(frozen=True)
class CountObjects(ObjectTask):
    """Objects, by a trained detector or without: a table, the image with their outlines and numbers, labels."""

    model: str | None
    sizes: tuple[float, float] | None
    in_micrometres: bool
    patch_sizes: tuple[int, ...] | None
    sign: Literal[1, -1, 0] | None
    threshold: float | None
    min_score: float | None
    overlap: float
    count: int | None
    mask: str | None
    inside: Region | None
    pixel: float | None
    detector: str | None
    depth: bool
    overlay: bool
    labels: bool
    rois: Form | None
    opening: Opening

    def inputs(self, source: Path) -> list[Path]:
        """Return the image, the trained detector and the mask."""
        model = [] if self.model is None else [Path(self.model)]
        return [source, *model, *([] if self.mask is None else [self._mask_path(source)])]

    def run(self, source: Path, stem: str) -> Written:
        """Write the objects of one image."""
        image, inside, found, result = self._measured(source)
        columns = object_columns(result["pixel_size_um"] is not None)
        outputs = [write_text(f"{stem}.csv", csv_table(columns, result["objects"]))]
        if self.overlay:
            places = (column.astype(np.float64) for column in (found.y, found.x))
            outputs.append(write_image(f"{stem}.png", numbered_overlay(image, found.labels, *places)))
        if self.labels:
            outputs.append(write_image(f"{stem}.labels.tiff", _label_image(found, inside)))
        if self.rois == "geojson":
            outputs.append(write_text(f"{stem}.geojson", found.to_geojson()))
        elif self.rois == "imagej":
            outputs.append(write_bytes(f"{stem}.rois.zip", found.to_imagej_rois()))
        return outputs, result

    def _measured(self, source: Path) -> tuple[Image, BoolArray | None, Blobs, dict[str, Any]]:
        """Return the image, where it is searched, its objects in its own pixels whatever --reduce, and the result."""
        own, image = self.opening.read_both(source)
        inside, pixel = self._inside(source, image, own.shape), self._pixel(source)
        searched = None if inside is None else self.opening.reduced(inside)
        found = self._find(image, searched, source, pixel).enlarged(self.opening.reduce, own.shape)
        rows = [_with_lengths(row, pixel) for row in object_rows(found)]
        diameters = [row["diameter"] for row in rows]
        mean = {"mean_diameter": float(f"{np.mean(diameters):.6g}") if rows else None}
        if pixel is not None:
            mean["mean_diameter_um"] = float(f"{np.mean(diameters) * pixel:.6g}") if rows else None
        bright = int(np.count_nonzero(found.value > 0))
        counts = {"count": len(rows), "bright": bright, "dark": len(rows) - bright}
        shape = {"height": own.shape[0], "width": own.shape[1], "pixel_size_um": pixel}
        ranges = [_enlarged_range(one, self.opening.reduce) for one in found.size_ranges]
        note = size_note(ranges, given=self.sizes is not None)
        usual = None if self.sizes is not None else _usual_sizes(diameters, ranges)
        told = {"plane": found.plane, "note": note, "usual_sizes": usual}
        return own, inside, found, {**shape, **counts, **mean, **told, **_trust(found), "objects": rows}

    def _pixel(self, source: Path) -> float | None:
        """Return micrometres per pixel of the file."""
        own = self.pixel
        if own is None and (sides := pixel_size(source)) is not None:
            own = math.sqrt(sides[0] * sides[1])
        return own

    def _find(self, image: Image, inside: BoolArray | None, source: Path, pixel: float | None) -> Blobs:
        if self.model is not None:
            found = _trained(self.model).predict_shrunk(image)
            if inside is not None:
                y, x = (np.rint(column).astype(int) for column in (found.y, found.x))
                found = found[inside[np.clip(y, 0, len(inside) - 1), np.clip(x, 0, inside.shape[1] - 1)]]
            return found[: self.count]
        factor = self.opening.reduce
        sizes: Any = None
        if self.patch_sizes is not None:
            sizes = np.unique(odd_sizes(np.maximum(np.array(self.patch_sizes) / factor, 3))).tolist()
        if self.sizes is not None:
            if self.in_micrometres and pixel is None:
                raise ValueError(f"{source}: --sizes in um needs a --pixel-size, got none, nor one in the file")
            unit = factor * (pixel if self.in_micrometres and pixel else 1.0)
            sizes = tuple(size / unit for size in self.sizes)
        return find_blobs(
            self._edges_or(image),
            sizes=sizes,
            sign=self.sign,
            threshold=self.threshold,
            min_score=self.min_score,
            overlap=self.overlap,
            count=self.count,
            mask=inside,
        )

    def _edges_or(self, image: Image) -> Image | Edges:
        """Return what objects are looked for in: the image, or edges of another kind than its own."""
        if self.depth:
            return edges_from_depth(image)
        return image if self.detector is None else find_recipe(self.detector).edges(image)

    def _inside(self, source: Path, image: Image, shape: tuple[int, ...]) -> BoolArray | None:
        """Return where to count, in the file's pixels."""
        height, width = shape[:2]
        dish = None
        if self.inside == "circle":
            circle = find_dish(image)
            if circle is None:
                raise ValueError(f"{source}: must show one round dish for --inside circle, got none; give a --mask")
            y, x, radius = (value * self.opening.reduce for value in circle)
            rows, columns = np.ogrid[:height, :width]
            dish = np.hypot(rows - y, columns - x) <= radius
        if self.mask is None:
            return dish
        path = self._mask_path(source)
        mask: BoolArray = read_mask(path)
        if mask.shape != (height, width):
            raise ValueError(
                f"{source}: mask must have the image's {height} x {width} pixels, got {path} "
                f"of {mask.shape[0]} x {mask.shape[1]}"
            )
        return mask if dish is None else mask & dish

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


def count(
    *,
    model: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A detector that imtorque train-detector wrote."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="20-60",
            help="Least and largest diameter of the objects, in pixels, or as in 5-12um; a list such as 21,45 is of "
            "patch sizes.",
        ),
    ] = None,
    sign: Annotated[
        Sign,
        typer.Option(
            help="Which objects to look for. auto takes both, but the kind that explains fewer of the edges, likely "
            "what lies between objects, scores less."
        ),
    ] = "auto",
    threshold: Annotated[
        float | None, typer.Option(min=0, help="Smallest |torque| of an outline; 1 is a strong edge all around.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least score: how much an outline looks like an object.")
    ] = None,
    overlap: Annotated[
        float,
        typer.Option(min=0, help="Largest part of its area an object may share with a stronger one of like size."),
    ] = DEFAULT_OVERLAP,
    count: Annotated[int | None, typer.Option(min=0, metavar="N", help="Keep the N strongest of each image.")] = None,
    mask: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Count inside a region: an image, white inside; or a folder with one of each input's name.",
        ),
    ] = None,
    inside: Annotated[
        Region | None,
        typer.Option(help="Count inside a region that is found in each image: circle, the inside of a round dish."),
    ] = None,
    pixel_size: Annotated[
        str | None, typer.Option(metavar="0.32um", help="Side of a pixel; by default what the file says.")
    ] = None,
    detector: Annotated[str | None, detector_option("Find objects by the edges of this detector.")] = None,
    depth: Annotated[
        bool,
        typer.Option(
            "--depth",
            help="The images are depth maps, smaller is nearer, 0 unknown: bright is what stands in front.",
        ),
    ] = False,
    overlay: Annotated[bool, typer.Option(help="Write the image with outlines and numbers.")] = True,
    labels: Annotated[bool, typer.Option(help="Write a TIFF whose pixels hold the number of their object.")] = True,
    volume: Annotated[
        bool,
        typer.Option(
            "--volume",
            help="Each file is one volume: all slices of a stack, a .zarr folder, or .nii with nibabel.",
            rich_help_panel=FILE_PANEL,
        ),
    ] = False,
    spacing: Annotated[
        str | None,
        typer.Option(
            metavar="Z,Y,X",
            help="Of a volume: micrometres from voxel to voxel, such as 2,0.5,0.5; by default what the file says.",
            rich_help_panel=FILE_PANEL,
        ),
    ] = None,
    tile: Annotated[
        int | None,
        typer.Option(
            min=64,
            max=16384,
            metavar="N",
            help="Count in tiles of N pixels, such as 1024, what does not fit in memory: slides, OME-Zarr. Each image "
            "has a folder: a table, outlines for QuPath, an overview.",
            rich_help_panel=FILE_PANEL,
        ),
    ] = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Also write counts.html: one page with every overlay, those to be looked at first."
        ),
    ] = False,
    rois: Annotated[
        Form | None,
        typer.Option(help="Also write outlines for QuPath (geojson) or for ImageJ (imagej, needs roifile)."),
    ] = None,
    opening: Opening,
    batch: TableBatch,
) -> None:
    """Find and count objects: counts.csv, objects.csv, and for each image a table, labels, and outlines with numbers.

    Objects are bright or dark, of any size, or as imtorque train-detector learned them. Places, diameters and areas
    come in pixels, and in micrometres where the size of a pixel is known.

    Example: [bold]imtorque count sample:hopper --count 10[/bold]

    Of a slide: [bold]imtorque count slide.svs --tile 1024 --sizes 12-30[/bold]

    In three dimensions: [bold]imtorque count stack.tif --volume[/bold]

    By examples: [bold]imtorque count cells/ --model cells.finder --pixel-size 0.32um[/bold]

    Of very many, into one table instead: [bold]imtorque count --paths list.txt --table all.parquet[/bold]
    """
    if model is not None:
        given = {"sizes": sizes, "threshold": threshold, "min_score": min_score, "detector": detector, "depth": depth}
        given["sign"] = None if sign == "auto" else sign
        refuse(TRAINED, **given, overlap=None if overlap == DEFAULT_OVERLAP else overlap)
        if opening.reduce == 1:
            with one_line_errors():
                opening = replace(opening, reduce=_trained(str(model)).reduce)
    if depth:
        refuse("depth has jumps, not boundaries: leave out one of the two", detector=detector)
    patch_sizes = parse_sizes("--sizes", sizes) if sizes is not None and re.fullmatch(r"[0-9,\s]+", sizes) else None
    low, high, micrometres = parse_range(sizes) if sizes is not None and patch_sizes is None else (0.0, 0.0, False)
    task = CountObjects(
        model=None if model is None else batch.shared(model),
        sizes=(low, high) if high else None,
        in_micrometres=micrometres,
        patch_sizes=patch_sizes,
        sign=SIGNS[sign],
        threshold=threshold,
        min_score=min_score,
        overlap=overlap,
        count=count,
        mask=None if mask is None else batch.shared(mask),
        inside=inside,
        pixel=None if pixel_size is None else _length("--pixel-size", pixel_size),
        detector=detector,
        depth=depth,
        overlay=overlay,
        labels=labels,
        rois=rois,
        opening=opening,
    )
    if rois == "imagej" and find_spec("roifile") is None:
        raise typer.BadParameter("imagej needs roifile: pip install 'imtorque[rois]'", param_hint="--rois")
    if preview:
        refuse(
            "--preview shows the overlays of the folder: leave it out",
            table=batch.table,
            no_overlay=not overlay,
        )
    if tile is not None:
        left: dict[str, Any] = {"mask": mask, "inside": inside, "detector": detector, "depth": depth, "rois": rois}
        left |= {
            "count": count,
            "reduce": opening.reduce - 1 or None,
            "volume": volume,
            "pixel_size": pixel_size,
            "preview": preview,
            "spacing": spacing,
            "retry": batch.retry,
        }
        refuse("--tile goes without it", **left, table=batch.table, overwrite=batch.overwrite)
        if patch_sizes is not None:
            raise typer.BadParameter("must be a range such as 20-60 with --tile", param_hint="--sizes")
        searched = {
            "sizes": task.sizes,
            "in_micrometres": task.in_micrometres,
            "sign": task.sign,
            "threshold": threshold,
            "min_score": min_score,
        }
        count_in_tiles(batch, opening, {**searched, "model": model, "overlap": overlap, "tile": tile})
        return
    if volume:
        others: dict[str, Any] = {
            "model": model,
            "mask": mask,
            "inside": inside,
            "detector": detector,
            "depth": depth,
            "rois": rois,
        }
        others |= {"min_score": min_score, "pixel_size": pixel_size, "page": opening.page}
        refuse("--volume goes without it", **others, reduce=None if opening.reduce == 1 else opening.reduce)
        work: CountObjects | CountVolumeObjects = CountVolumeObjects(
            sizes=task.sizes,
            in_micrometres=micrometres,
            patch_sizes=patch_sizes,
            sign=VOLUME_SIGNS[sign],
            threshold=threshold,
            overlap=None if overlap == DEFAULT_OVERLAP else overlap,
            count=count,
            spacing=None if spacing is None else _spacing(spacing),
            channel=opening.channel,
            overlay=overlay,
            labels=labels,
        )
    else:
        refuse("is of volumes: give --volume as well", spacing=spacing)
        work = task
    tables = _Tables(batch, preview)
    with one_line_errors():
        tables.check()
    try:
        batch.run(work, _describe, tables.add)
    finally:
        with one_line_errors():
            tables.write()


class _Tables:
    """One table of all images, and one of all objects; none where the batch goes into one table of its own."""

    def __init__(self, batch: TableBatch, preview: bool) -> None:
        self.out = batch.folder if batch.table is None else None
        self.paths = [batch.folder / "counts.csv", batch.folder / "objects.csv"]
        self.page = batch.folder / "counts.html" if preview else None
        self.overwrite = batch.overwrite
        self.any_image = False
        self.counts: dict[str, dict[str, Any]] = {}
        self.records: dict[str, Path] = {}  # not the objects: a batch may be long
        self.failed: set[str] = set()

    def check(self) -> None:
        """Refuse to replace tables that this verb did not write."""
        if self.out is not None:
            folder_ledger(self.out, "count", self.overwrite).check(*(path.name for path in self.paths))
            if self.page is not None:
                folder_ledger(self.out, "count.page", self.overwrite).check(self.page.name)

    def add(self, outcome: Outcome) -> None:
        """Take in what became of an image."""
        self.any_image = True
        if outcome.status == "failed":
            self.failed.add(outcome.input)
        elif self.out is not None:
            self.counts[outcome.input] = {key: outcome.result.get(key) for key in COUNTED}
            self.records[outcome.input] = Path(outcome.outputs[-1])

    def write(self) -> None:
        """Write both tables, with the images of earlier calls that are in the folder still, and without failed ones."""
        if self.out is None or not self.any_image:
            return
        earlier, records = {}, {}
        for name, record, result in self._earlier():
            earlier[name], records[name] = {key: result.get(key) for key in COUNTED}, record
        self.counts, self.records = earlier | self.counts, records | self.records
        names = Counter(Path(path).name for path in self.counts)  # images of one name are told by their paths
        shown = {path: Path(path).name if names[Path(path).name] == 1 else path for path in self.counts}
        counts = ({"image": shown[path], **row} for path, row in self.counts.items())
        objects = (
            {"image": shown[path], **row} for path, record in self.records.items() for row in _result(record)["objects"]
        )
        kinds = {(row["depth"] is not None, row["pixel_size_um"] is not None) for row in self.counts.values()}
        columns = dict.fromkeys(
            name for deep, known in sorted(kinds) for name in (volume_columns if deep else object_columns)(known)
        )
        summary = [name for name in ("image", *COUNTED) if name != "depth" or any(deep for deep, _ in kinds)]
        if self.page is not None:
            with recorded(self.out, "count.page", [self.page], self.overwrite):
                write_text(self.page, self._page(shown))
        with recorded(self.out, "count", self.paths, self.overwrite):
            write_text(self.paths[0], csv_table(summary, ({name: row[name] for name in summary} for row in counts)))
            write_text(self.paths[1], csv_table(["image", *columns], objects))

    def _page(self, shown: dict[str, str]) -> str:
        """Return the page of all images under the names of the tables."""
        results = {shown[path]: _result(record) for path, record in self.records.items()}
        return preview_page(results, {shown[path]: record.with_suffix(".png") for path, record in self.records.items()})

    def _earlier(self) -> Iterator[tuple[str, Path, dict[str, Any]]]:
        """Yield the image, the record and the result of each image that another call has counted into this folder."""
        now = {record.name for record in self.records.values()}
        for path in sorted(self.paths[0].parent.glob(f"*.{CountObjects.verb}.json")):
            record = None if path.name in now else read_record(path, CountObjects.verb)
            if record is not None and record.get("input") not in self.failed and "result" in record:
                yield record["input"], path, record["result"]


def _result(record: Path) -> dict[str, Any]:
    """Return the result in a record, when nobody writes it."""
    with alone(record):
        stored = read_record(record, CountObjects.verb)
    if stored is None or "result" not in stored:
        raise ValueError(f"{record}: must hold a result, got what another run left; give the command again")
    result: dict[str, Any] = stored["result"]
    return result


def _enlarged_range(one: SizeRange, factor: int) -> SizeRange:
    return SizeRange(one.smallest * factor, one.largest * factor, one.objects)


def size_note(ranges: Sequence[SizeRange], given: bool) -> str:
    """Return what is to be said of an image with objects beyond the sizes taken or given; nothing of others."""
    if len(ranges) < 2:
        return ""
    taken, other = (f"{math.floor(one.smallest)}-{math.ceil(one.largest)}" for one in ranges)
    if given:
        return f"{ranges[1].objects} more look alike: --sizes {other}"
    return f"sizes {taken} taken, but {number_of(ranges[1].objects, 'object')} lie in {other}: give --sizes"


def _usual_sizes(diameters: Sequence[float], ranges: Sequence[SizeRange]) -> list[int] | None:
    """Return the sizes of most objects that were found without a range, and a range that holds them with a margin."""
    if not ranges or len(diameters) < MIN_SUGGESTING:
        return None
    small, large = np.quantile(diameters, MOST_OBJECTS)
    margins = math.floor(small / SUGGESTED_MARGIN), math.ceil(large * SUGGESTED_MARGIN)
    return [max(3, size) for size in (round(small), round(large), *margins)]


def find_dish(image: Image) -> tuple[float, float, float] | None:
    """Return the middle of the largest round object and the radius inside its rim; None where there is none."""
    factor = max(1, min(image.shape[:2]) // DISH_SIDE)
    small = shrink_image(image, factor)
    side = min(small.shape[:2])
    if side < 3 / MIN_DISH_SHARE:  # the smallest diameter that can be looked for
        return None
    found = find_blobs(small, sizes=(MIN_DISH_SHARE * side, MAX_DISH_SHARE * side), sign=0)
    round_ones = np.flatnonzero(found.minor >= MIN_DISH_ROUNDNESS * found.major)
    if not round_ones.size:
        return None
    dish = found[round_ones[[found.diameter[round_ones].argmax()]]]
    y, x = (float(place[0]) * factor + (factor - 1) / 2 for place in (dish.y, dish.x))
    return y, x, INSIDE_RIM * float(dish.diameter[0]) * factor / 2


def object_columns(in_micrometres: bool) -> list[str]:
    """Return the columns of a table of objects, with or without rows."""
    lengths = [f"{name}_um" for name in LENGTHS] + ["area_um2"]
    return [*NAMES.values(), *(lengths if in_micrometres else [])]


def object_rows(found: Blobs) -> list[dict[str, Any]]:
    """Return objects as rows, with the numbers that stand in the overlay and the label image."""
    columns = {name: found.to_dict()[key].tolist() for key, name in NAMES.items()}
    return rounded_rows(columns)


def _with_lengths(row: dict[str, Any], pixel: float | None) -> dict[str, Any]:
    """Return a row with its place and measures in micrometres as well, where a pixel's size is known."""
    if pixel is None:
        return row
    lengths = {f"{name}_um": float(f"{row[name] * pixel:.6g}") for name in LENGTHS}
    return {**row, **lengths, "area_um2": float(f"{row['area'] * pixel**2:.6g}")}


def _label_image(found: Blobs, inside: BoolArray | None) -> NDArray[Any]:
    """Return the label image in as few bytes as hold its numbers, 0 outside of a mask."""
    labels = compact(found.labels, len(found))
    return labels if inside is None else np.where(inside, labels, labels.dtype.type(0))


@cache
def _trained(path: str) -> ObjectFinder:
    return ObjectFinder.load(path)


def _describe(result: dict[str, Any]) -> str:
    size = f", mean diameter {_in_pixels(result['mean_diameter'])} px" if result["count"] else ""
    plane = result.get("plane", "grey")  # records of before have none
    found_in = "" if plane in ("grey", "edges") else f", found in {plane}"
    kinds = f"({result['bright']} bright, {result['dark']} dark)"
    usual, note = result.get("usual_sizes"), result.get("note")
    hint = "" if usual is None else "; most are {} to {} px: --sizes {}-{}".format(*usual)
    unlike = f"; warning: {result['warning']} {UNLIKE}" if result.get("warning") else ""
    counted = f"{number_of(result['count'], 'object')} {kinds}{size}{found_in}"
    return f"{counted}{unlike}{f'; {note}' if note else hint}"


def _trust(found: Blobs) -> dict[str, Any]:
    """Return how far the image is like those learned from, and what it has that they had not; None, "" untrained."""
    return {"trust": None if math.isnan(found.trust) else float(f"{found.trust:.3g}"), "warning": found.warning}


def _in_pixels(length: float) -> str:
    """Return a length in pixels, with a decimal where that says something."""
    return f"{length:.0f}" if length >= 100 else f"{length:.1f}"


def _spacing(text: str) -> tuple[float, float, float]:
    """Return micrometres from voxel to voxel along z, y and x."""
    try:
        z, y, x = (float(part) for part in text.removesuffix("um").split(","))
    except ValueError:
        z = y = x = 0.0
    if not all(0 < step < 1e9 for step in (z, y, x)):
        raise typer.BadParameter(f"must be three numbers such as 2,0.5,0.5, got {text!r}", param_hint="--spacing")
    return z, y, x


def _length(option: str, text: str) -> float:
    match = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?)\s*(nm|um|µm|μm|mm|)", text.strip())
    try:
        length = float(match[1]) * MICROMETRES[match[2]] if match else 0.0
    except ValueError:
        length = 0.0
    if not 0 < length < 1e9:
        raise typer.BadParameter(f"must be like 0.32um, 320nm or 0.32, got {text!r}", param_hint=option)
    return length
