"""Objects of images of any size: `find_blobs` or a trained finder tile by tile, each object whole, and counted once."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque import __version__
from imtorque.core.types import BoolArray, Image
from imtorque.detection import Blobs, ObjectFinder, find_blobs
from imtorque.detection.blobs import MIN_SCORE_UNGUIDED, checked_range
from imtorque.detection.colour import clearest_plane, in_plane
from imtorque.detection.rois import features
from imtorque.detection.table import OBJECT_COLUMNS
from imtorque.files import write_arrays, write_image
from imtorque.io.atomic import replacing
from imtorque.io.ledger import sha256
from imtorque.jobs.tables import writing_table
from imtorque.render.objects import outlined
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.job import forget_work, work_folder
from imtorque.tiling.levels import reduced_source
from imtorque.tiling.manifest import begin, end
from imtorque.tiling.passes import Progress, Runner
from imtorque.tiling.source import Source
from imtorque.tiling.sources import as_source

if TYPE_CHECKING:
    from distributed import Client

COUNTING_TILE = 1024  # convention: pixels; a worker holds some hundred bytes for each
OVERVIEW_SIDE = 2000  # pixels of the overview's longer side, at most; convention
PROBES = 9  # tiles by which sizes, sign and colour are chosen; bound: time
PROBED_SIDE = 1024  # pixels of the middle of such a tile; bound: time
MIN_PROBE_OBJECTS = 0.5  # of those in the probe that has most, from which on a probe's sizes count; convention
ONE_SIGN = 0.8  # share of the objects in the probes from which on others are taken for what lies between; convention
HALO_DIAMETERS = 2.0  # around a tile, of the largest objects: outlines and what they are judged against; convention
LEAST_HALO = 32  # pixels; convention: texture by which noise and contrast are measured
SEAM_MARGIN = 0.25  # of its diameter: how far beyond its tile the middle of an object may be found; convention
SAME_DISTANCE = 0.5  # of the smaller diameter: two finds of two tiles that are closer are one object; convention
MAX_DIAMETER = 512.0  # bound: pixels, of objects in tiles; larger ones are counted in a smaller copy
DOUBTFUL_TRUST = 0.5  # below which a tile is unlike the annotated images; convention: of Blobs.trust


@dataclass(frozen=True)
class ObjectSummary:
    """The result of `count_objects`.

    Parameters
    ----------
    out
        The folder of the results.
    shape
        Height and width of the image.
    tiles
        How many tiles it was cut into.
    count, bright, dark
        How many objects were found.
    mean_diameter
        Of the objects, in pixels; None where there are none.
    sizes
        Range of diameters that were looked for; None with a trained finder, which knows them.
    plane
        In what they were found, as `Blobs.plane` has it.
    doubtful_tiles
        How many tiles are unlike the images that a trained finder learned from.
    """

    out: str
    shape: tuple[int, int]
    tiles: int
    count: int
    bright: int
    dark: int
    mean_diameter: float | None
    sizes: tuple[float, float] | None
    plane: str
    doubtful_tiles: int = 0


@dataclass(frozen=True)
class ObjectSearch:
    """How objects are found in every tile alike."""

    model: str | None
    sizes: tuple[float, float] | None
    sign: Literal[1, -1, 0] | None
    weights: tuple[float, float, float] | None
    plane: str
    threshold: float | None
    min_score: float | None
    overlap: float

    @property
    def halo(self) -> int:
        """How far around a tile objects and their surroundings are seen."""
        largest = 0.0 if self.sizes is None else self.sizes[1]
        if self.model is not None:
            finder = _finder(self.model)
            largest = finder.diameters[2] * finder.reduce
        return max(LEAST_HALO, math.ceil(HALO_DIAMETERS * largest))

    def find(self, image: Image) -> Blobs:
        """Return the objects of an image."""
        if self.model is not None:
            return _finder(self.model).predict(image)
        seen: Any = image if self.weights is None else in_plane(image, np.array(self.weights))
        given = {"threshold": self.threshold, "min_score": self.min_score, "overlap": self.overlap}
        return find_blobs(seen, sizes=self.sizes, sign=self.sign, **given)  # type: ignore[arg-type]


def count_objects(
    source: Source | str | os.PathLike[str] | Any,
    out: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
    sizes: tuple[float, float] | None = None,
    sign: Literal[1, -1, 0] | None = None,
    threshold: float | None = None,
    min_score: float | None = None,
    overlap: float = 0.4,
    tile: int = COUNTING_TILE,
    client: Client | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ObjectSummary:
    """Find the objects of an image of any size, tile by tile: those of `find_blobs` or of a trained finder.

    Each tile is searched with what lies around it, so that objects are whole, and those on a seam are counted once.
    Memory does not grow with the image. What is done is recorded, and the same call goes on where one before it ended.
    Objects differ from those in memory where these depend on the whole image: noise and a trained finder's trust are
    those of each tile; sizes and sign that are not given, and the plane of a coloured image, those of nine tiles.

    Parameters
    ----------
    source
        A path, what `open_image` returns, or an array.
    out
        Folder for the results: `objects.csv` with a row for each object, as `Blobs.to_csv` has them, `outlines.geojson`
        for QuPath, `overview.png`, `results.json`.
    model
        A finder that `ObjectFinder.save` wrote.
    sizes
        (smallest, largest) diameter, in pixels, at most 512; by default what most objects of nine tiles have.
    sign, threshold, min_score, overlap
        As for `find_blobs`.
    tile
        Side of the tiles in pixels, at least twice the largest diameter.
    client, jobs, progress
        As for `process_image`.

    Returns
    -------
    ObjectSummary
        Also in OUT/results.json.
    """
    image, folder = as_source(source), Path(out).absolute()
    limits = None if sizes is None else checked_range(sizes)
    if limits is not None and limits[1] > min(MAX_DIAMETER, tile / HALO_DIAMETERS):
        raise ValueError(
            f"sizes must be at most {min(MAX_DIAMETER, tile / HALO_DIAMETERS):g} in tiles of {tile}, got {limits}"
        )
    path = None if model is None else str(Path(model).absolute())
    search = ObjectSearch(path, limits, sign, None, "grey", threshold, min_score, overlap)
    grid = Grid(image.shape, tile)
    asked = {**asdict(search), "tile": tile, "model": None if path is None else sha256(Path(path))}
    before = begin(folder, {"version": __version__, "source": image.fingerprint(), **asked})
    if before is not None:
        known = before["sizes"]
        return ObjectSummary(**{**before, "shape": image.shape, "sizes": None if known is None else (*known,)})
    runner = Runner(folder, client, jobs, progress)
    search = search if path is not None else _settled(search, image, grid, runner)
    done = runner.run("objects", partial(_find_in_tile, image, search, folder), grid.tiles())
    kept = _counted_once(folder, grid, search.halo)
    totals = _write(folder, kept, image)
    _write_overview(folder, kept, image, runner)
    summary = ObjectSummary(
        str(folder), image.shape, len(grid.tiles()), **totals, sizes=search.sizes, plane=search.plane,
        doubtful_tiles=sum(one["trust"] is not None and one["trust"] < DOUBTFUL_TRUST for one in done.values()),
    )  # fmt: skip
    end(folder, asdict(summary))
    forget_work(folder)
    return summary


def _settled(search: ObjectSearch, image: Source, grid: Grid, runner: Runner) -> ObjectSearch:
    """Return the search with sizes, sign and plane that hold for the whole image."""
    tiles = grid.tiles()
    chosen = [tiles[k] for k in np.unique(np.linspace(0, len(tiles) - 1, PROBES).astype(int))]
    probes = sorted(
        runner.run("probes", partial(_probe, image, search), chosen).values(), key=lambda probe: -probe["objects"]
    )
    first = probes[0]  # that shows most
    told = [p for p in probes if p["range"] and p["objects"] >= MIN_PROBE_OBJECTS * first["objects"]]
    sizes, sign, least = search.sizes, search.sign, search.min_score
    if sizes is None:
        if not told:
            raise ValueError("sizes must be given where the image shows no objects in nine of its tiles, got none")
        sizes = min(p["range"][0] for p in told), min(MAX_DIAMETER, max(p["range"][1] for p in told))
        least = MIN_SCORE_UNGUIDED if least is None and search.threshold is None else least
    if sign is None:
        bright, total = (sum(p[name] for p in probes) for name in ("bright", "objects"))
        sign = 1 if bright >= ONE_SIGN * total else -1 if bright <= (1 - ONE_SIGN) * total else 0
    weights = None if first["weights"] is None else (*first["weights"],)
    return replace(search, sizes=sizes, sign=sign, min_score=least, weights=weights, plane=first["plane"])


def _probe(image: Source, search: ObjectSearch, pair: tuple[str, Box]) -> dict[str, Any]:
    """Return what the middle of a tile shows."""
    box = pair[1]
    height, width = (min(side, PROBED_SIDE) for side in box.shape)
    top, left = box.top + (box.shape[0] - height) // 2, box.left + (box.shape[1] - width) // 2
    pixels = image.read(Box(top, left, top + height, left + width))
    weights, plane = clearest_plane(pixels)
    seen: Any = pixels if weights is None else in_plane(pixels, weights)
    found = find_blobs(seen, sizes=search.sizes, sign=search.sign)
    ranges = found.size_ranges[:1]
    return {
        "objects": len(found),
        "bright": int(np.count_nonzero(found.value > 0)),
        "range": [float(ranges[0].smallest), float(ranges[0].largest)] if ranges else None,
        "weights": None if weights is None else weights.tolist(),
        "plane": plane,
    }


def _find_in_tile(image: Source, search: ObjectSearch, folder: Path, pair: tuple[str, Box]) -> dict[str, Any]:
    """Keep the objects whose middle lies in a tile, or a little beyond it."""
    name, box = pair
    wide = box.grown(search.halo, image.shape)
    found = search.find(image.read(wide))
    columns: dict[str, NDArray[Any]] = {name: getattr(found, name) for name in OBJECT_COLUMNS}
    for axis, start in (("y", wide.top), ("x", wide.left)):
        columns[axis] = columns[axis].astype(np.float64) + start
    for side, start in (("top", wide.top), ("bottom", wide.top), ("left", wide.left), ("right", wide.left)):
        columns[side] = columns[side] + start
    margin = SEAM_MARGIN * found.diameter
    mine = np.ones(len(found), bool)
    for axis, low, high in (("y", box.top, box.bottom), ("x", box.left, box.right)):
        mine &= (columns[axis] >= low - 0.5 - margin) & (columns[axis] < high - 0.5 + margin)
    outline = found.outline.astype(np.float64) + np.array([wide.top, wide.left])
    path = _tile_path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, {**{key: column[mine] for key, column in columns.items()}, "outline": outline[mine]})
    return {"objects": int(mine.sum()), "trust": None if math.isnan(found.trust) else found.trust}


def _counted_once(folder: Path, grid: Grid, halo: int) -> dict[str, BoolArray]:
    """Return which objects of each tile count: of two tiles' finds of one object, the one of the higher score."""
    from scipy.spatial import cKDTree  # here, because it takes longer to load than the rest of the library

    near: list[NDArray[Any]] = []
    kept: dict[str, BoolArray] = {}
    for number, (name, box) in enumerate(grid.tiles()):
        part = _load(folder, name)
        kept[name] = np.ones(len(part["y"]), bool)
        inner = [(part["y"] - box.top, box.bottom - part["y"]), (part["x"] - box.left, box.right - part["x"])]
        rows = np.flatnonzero(np.min([*inner[0], *inner[1]], axis=0) < halo)
        columns = (part[key][rows].astype(np.float64) for key in ("y", "x", "diameter", "score"))
        near.append(np.column_stack([*columns, np.full(len(rows), number), rows]))
    seams = np.concatenate(near)
    if len(seams):
        pairs = cKDTree(seams[:, :2]).query_pairs(SAME_DISTANCE * seams[:, 2].max(), output_type="ndarray")
        one, two = seams[pairs[:, 0]], seams[pairs[:, 1]]
        close = np.hypot(*(one[:, :2] - two[:, :2]).T) < SAME_DISTANCE * np.minimum(one[:, 2], two[:, 2])
        names = [name for name, _ in grid.tiles()]
        order = np.argsort(-np.maximum(one[:, 3], two[:, 3]), kind="stable")
        for first, second in ((one[k], two[k]) for k in order if close[k] and one[k, 4] != two[k, 4]):
            better, worse = (first, second) if first[3] >= second[3] else (second, first)
            if kept[names[int(better[4])]][int(better[5])]:
                kept[names[int(worse[4])]][int(worse[5])] = False
    return kept


def _parts(folder: Path, kept: Mapping[str, BoolArray]) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the objects of each tile that count, with their numbers."""
    count = 0
    for name, rows in kept.items():
        part = {key: column[rows] for key, column in _load(folder, name).items()}
        yield part | {"label": np.arange(count + 1, count + 1 + int(rows.sum()))}
        count += int(rows.sum())


def _write(folder: Path, kept: Mapping[str, BoolArray], image: Source) -> dict[str, Any]:
    """Write the table and the outlines, tile by tile; return how many objects there are and how large."""
    from pyarrow import table

    bright, count, total = 0, 0, 0.0
    with ExitStack() as stack:
        write = stack.enter_context(writing_table(folder / "objects.csv"))
        collection = stack.enter_context(replacing(folder / "outlines.geojson"))
        file = stack.enter_context(open(collection, "w", encoding="utf-8"))
        file.write('{"type": "FeatureCollection", "features": [')
        for part in _parts(folder, kept):
            columns = {"number": part["label"], **{key: _printed(key, part[key]) for key in OBJECT_COLUMNS}}
            if image.affine is not None:
                columns["world_y"], columns["world_x"] = image.affine.transform(part["y"], part["x"])
            write(table({"torque" if key == "value" else key: column for key, column in columns.items()}))
            for feature in features(part, part["outline"], 1.0):
                file.write((",\n" if count else "\n") + json.dumps(feature))
                count += 1
            bright += int(np.count_nonzero(part["value"] > 0))
            total += float(part["diameter"].sum())
        file.write("\n]}\n")
    mean = float(f"{total / count:.6g}") if count else None
    return {"count": count, "bright": bright, "dark": count - bright, "mean_diameter": mean}


def _printed(name: str, column: NDArray[Any]) -> NDArray[Any]:
    """Return a column with the digits that say something."""
    if name in ("y", "x"):
        return np.round(column, 3)
    return column.astype(np.float32) if column.dtype.kind == "f" else column


def _write_overview(folder: Path, kept: Mapping[str, BoolArray], image: Source, runner: Runner) -> None:
    """Write a small copy of the image with the outlines."""
    level = max(0, math.ceil(math.log2(max(image.shape) / OVERVIEW_SIDE)))
    small = reduced_source(image, level, runner)
    pixels = small.read(Box(0, 0, *small.shape))
    outlines = (outline for part in _parts(folder, kept) for outline in part["outline"])
    offset = (2**level - 1) / 2
    write_image(folder / "overview.png", outlined(pixels, ((outline - offset) / 2**level for outline in outlines)))


def _tile_path(folder: Path, name: str) -> Path:
    return work_folder(folder) / "objects" / f"{name}.npz"


def _load(folder: Path, name: str) -> dict[str, NDArray[Any]]:
    with np.load(_tile_path(folder, name), allow_pickle=False) as arrays:
        return dict(arrays)


@lru_cache(maxsize=2)
def _finder(path: str) -> ObjectFinder:
    return ObjectFinder.load(path)
