"""What torque answers to beside other operators: one drawn object whose properties change, then many objects.

The second part is the paper's figure 9 with a score: of the squares that an operator finds in an image, strongest
first, which hold an object.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from imtorque import datasets
from imtorque.core.types import IntArray
from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.images import CheckedImage
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, read_scene, source_files
from imtorque_reproduce.objects.rows import Boxes, bounding_box
from imtorque_reproduce.patterns.experiment import near_enough
from imtorque_reproduce.patterns.scenes import KINDS, draw_scene
from imtorque_reproduce.properties.plots import overview
from imtorque_reproduce.properties.rows import METHODS, Found, found_by
from imtorque_reproduce.properties.scenes import SWEEPS, draw
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, compare, evenly, score_images

SCENES_PER_LEVEL = 16  # of each level, and of each kind; bound: time
SIZES = np.unique(2 * (np.geomspace(13, 71, 16) / 2).astype(int) + 1)  # pixels: drawn objects are 20 to 60 across
PHOTOGRAPH_SIZES = (9, 0.9)  # the smallest in pixels; the largest over the shorter side; untuned
PHOTOGRAPH_SIZE_STEPS = 16  # from the smallest size to the largest; untuned
CELL_IMAGE_SIDE = 300  # pixels: photographs of cells are shrunk to this; bound: time
CELL_IMAGES, SMALL_OBJECTS, OUTLINES_PER_CATEGORY = 40, 40, 2  # images; bound: time
RANKS = 50  # squares, of the curves: 25 maxima and 25 minima in figure 9; paper, Fig. 9
COMPARED = [("torque", other) for other in METHODS[1:]]
NOTES = (
    "METHOD@PROPERTY=LEVEL, one drawn object. found: the share of scenes in which the strongest square has the centre "
    "to a quarter of the object's size and the size to a factor of two. response: how strong the strongest such square "
    "is over that of the first level, of the same place and size; 0 where there is none.",
    "METHOD@SET, many objects. ap: the area under precision over recall of an image's squares, strongest first, each "
    "object found once; recall_50, precision_50: of the first 50. Means over images; drawn: all kinds of `patterns`; "
    "cells: blood cells and nuclei; small: Caltech's objects pasted into Berkeley's photographs; caltech: one object "
    "that mostly fills the image, so that precision is at most 1 in 50.",
    "torque: unit edges in squares, bright and dark; gradient-torque: the same of gradients, a box centre-surround "
    "filter; closure: without polarity. control:log, control:dog: the Laplacian, and two Gaussians, at the same sizes; "
    "control:radial-symmetry: Loy and Zelinsky's; control:mser: OpenCV's on the image smoothed as Canny's, by their "
    "contrast to what is around; control:random: squares anywhere. All by the same rule of extrema and overlaps, with "
    "default settings: nothing was tuned.",
)


@dataclass(frozen=True)
class Case:
    """How an image of a set is made, and which files it is read from."""

    read: Callable[[], tuple[Floats, Boxes]]
    files: Sequence[Path] = ()


def run(request: Request) -> Report:
    """Score all operators on the parts asked for."""
    request.require_options()
    wanted = request.parts("drawn", "photographs")
    rows, differences, images = _sweeps(request) if "drawn" in wanted else ([], [], 0)
    curves, files = {}, []
    for name, cases in _sets(request, wanted).items():
        scored = score_images(score_many, cases, request, name)
        rows += [_row(method, name, values) for method, values in scored.items()]
        differences += compare({m: v[:, 0] for m, v in scored.items()}, COMPARED, "ap", f"@{name}")
        curves[name] = {method: values[:, 1:].reshape(-1, 2, RANKS).mean(axis=0) for method, values in scored.items()}
        images += len(cases)
        files += [path for case in cases for path in case.files]
    return Report(
        data="drawn scenes; counting; small objects (Caltech-101 in BSDS300) and Caltech-101's outlines",
        data_sha256=checksum(files, request.data),
        split=" and ".join(wanted),
        images=images,
        settings={"sweeps": {name: about for name, (about, _) in SWEEPS.items()}, "sizes": SIZES.tolist()},
        rows=rows,
        differences=differences,
        notes=NOTES,
        plots={"properties.png": overview(rows, curves)} if "drawn" in wanted else {},
    )


def score_one(seed: int, sweep: str) -> dict[str, list[float]]:
    """Return for every method and level whether the object is found first, and how strongly."""
    scores: dict[str, list[float]] = {}
    first: dict[str, float] = {}
    for level in SWEEPS[sweep][1]:
        scene = draw(sweep, level, seed)
        for method in METHODS:
            found = found_by(method, scene.image, SIZES)
            near = near_enough(found.boxes, scene.box)[:, 0]
            strength = float(found.strength[near].max(initial=0))
            unit = first.setdefault(method, strength)  # of the first level
            scores[f"{method}@{sweep}={level:g}"] = [float(near[:1].any()), strength / unit if unit else 0.0]
    return scores


def score_many(case: Case) -> dict[str, list[float]]:
    """Return the average precision of every method on one image, then precision and recall after each square."""
    image, true = case.read()
    sizes = SIZES if not case.files else _photograph_sizes(image.shape)
    return {method: ranked(found_by(method, image, sizes), true) for method in METHODS}


def ranked(found: Found, true: Boxes) -> list[float]:
    """Return the average precision, the precision after 1, 2, ... squares, and the recall."""
    near = near_enough(found.boxes, true)
    free = np.ones(len(true), bool)
    right = np.zeros(max(len(near), RANKS))
    for rank, row in enumerate(near):
        hits = np.flatnonzero(row & free)
        if len(hits):
            free[hits[0]], right[rank] = False, 1
    so_far = right.cumsum()
    precision, recall = so_far / np.arange(1, len(right) + 1), so_far / len(true)
    return [float((precision * right).sum() / len(true)), *precision[:RANKS].tolist(), *recall[:RANKS].tolist()]


def _sweeps(request: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    rows, differences = [], []
    seeds = range(SCENES_PER_LEVEL)[: request.limit]
    for sweep, (_, levels) in SWEEPS.items():
        scored = score_images(partial(score_one, sweep=sweep), seeds, request, sweep, "scenes")
        for name, values in scored.items():
            found, response = values.mean(axis=0)
            rows.append({"method": name, "found": float(found), "response": float(response)})
        means = {m: np.mean([scored[f"{m}@{sweep}={level:g}"][:, 0] for level in levels], axis=0) for m in METHODS}
        differences += compare(means, COMPARED, "found", f"@{sweep}")
    return rows, differences, len(seeds) * sum(len(levels) for _, levels in SWEEPS.values())


def _sets(request: Request, wanted: Sequence[str]) -> dict[str, list[Case]]:
    """Return the images of every set, as many as are to be scored."""
    sets: dict[str, list[Case]] = {}
    if "drawn" in wanted:
        sets["drawn"] = [
            Case(partial(_drawn, kind, seed)) for kind in KINDS for seed in range(SCENES_PER_LEVEL)[: request.limit]
        ]
    if "photographs" in wanted:
        cells = [one for part in counting_sets(request.data) for one in part.test if one.has_boxes and len(one.boxes)]
        sets["cells"] = [
            Case(partial(_cells, one), [one.image_path]) for one in evenly(cells, CELL_IMAGES)[: request.limit]
        ]
        small = datasets.small_objects(request.data, "test", count=SMALL_OBJECTS)[: request.limit]
        outlined = caltech_cases(request.data, OUTLINES_PER_CATEGORY)[: request.limit]
        sets |= {
            name: [Case(partial(_object, one), source_files([one])) for one in sources]
            for name, sources in (("small", small), ("caltech", outlined))
        }
    return sets


def _drawn(kind: str, seed: int) -> tuple[Floats, Boxes]:
    scene = draw_scene(kind, seed)
    return scene.image, scene.boxes


def _cells(one: CountingImage) -> tuple[Floats, Boxes]:
    grey = CheckedImage(one.image()).grey()
    scale = min(1.0, CELL_IMAGE_SIDE / max(grey.shape))
    size = (round(scale * grey.shape[1]), round(scale * grey.shape[0]))
    small = PillowImage.fromarray(grey).resize(size, PillowImage.Resampling.BOX)
    return np.asarray(small, np.float64), np.rint(scale * one.boxes).astype(np.int64)


def _object(source: Source) -> tuple[Floats, Boxes]:
    scene = read_scene(source)
    return CheckedImage(scene.image).grey().astype(np.float64), np.array([bounding_box(scene.figure)])


def _photograph_sizes(shape: tuple[int, ...]) -> IntArray:
    smallest, share = PHOTOGRAPH_SIZES
    return np.unique(2 * (np.geomspace(smallest, share * min(shape), PHOTOGRAPH_SIZE_STEPS) / 2).astype(np.int64) + 1)


def _row(method: str, name: str, values: Floats) -> dict[str, Any]:
    means = values.mean(axis=0)
    return {
        "method": f"{method}@{name}",
        "ap": float(means[0]),
        f"precision_{RANKS}": float(means[RANKS]),
        f"recall_{RANKS}": float(means[2 * RANKS]),
    }
