"""Where torque without polarity helps, and where it does not: drawn scenes, objects in photographs, cells.

Rows are METHOD@SET. Drawn scenes need no data; on photographs boxes are those of `proposals`; on cells each method has
sixteen settings, chosen on the training images of a set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque.segmentation.boxes import candidate_boxes
from imtorque_reproduce.counting.controls import Range, Setting, marked_sizes
from imtorque_reproduce.counting.scores import ImageScores, f1_difference, goal, score_image, summary
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, read_scene, source_files
from imtorque_reproduce.objects.proposal_rows import COUNTS, HIT, Boxes, bounding_box, hits, overlaps
from imtorque_reproduce.patterns.plots import drawn_sheet
from imtorque_reproduce.patterns.rows import (
    COUNTERS,
    METHODS,
    best_by,
    box_response,
    drawn_boxes,
    edge_density,
    extrema_of_sizes,
)
from imtorque_reproduce.patterns.scenes import KINDS, draw_scene
from imtorque_reproduce.report import Report, Request, checksum, difference

PARTS = ("drawn", "objects", "counting")
SCENES = 60  # of each kind
SMALL, PER_CATEGORY = 240, 10  # images, as in `proposals`
DRAWN = (*METHODS, "control:hough")
METRICS = ("found", "found_twice", "found_iou")
COMPARED = (
    ("closure", "torque"),
    ("torque+closure", "torque"),
    ("torque+closure", "closure"),
    ("closure", "control:radial-symmetry-free"),
    ("torque+closure", "control:radial-symmetry-free"),
)
NOTES = (
    "found: the share of drawn objects of which one of the first n squares, n being how many objects there are, has "
    "the centre to a quarter of their size and the size to a factor of two; found_twice: of the first 2 n; found_iou: "
    "of the first n, with an intersection over union of at least 0.5. Closure takes squares inside triangles for "
    "their size, and loses there.",
    "torque: |signed torque|; closure: without polarity; torque+closure: the extrema of both by value, a circle having "
    "1 in either. control:radial-symmetry: Loy and Zelinsky's, bright and dark peaks together; -free: every gradient "
    "votes to both sides; control:log: the Laplacian of Gaussian; control:hough: OpenCV's circles.",
    "recall_N: as in `proposals`, with the same boxes and images, of the torque and the closure of a box's Canny "
    "edges (alpha 1.5) and, as control, of their number.",
    "f1, f1_iou, mae, bias, count: as in `counting`, of extrema alone, without outlines or claims, in the range of "
    "sizes marked in the training images; sign, threshold and overlap are the best of sixteen on these.",
)
Scores = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Part:
    """What one part of the experiment found."""

    rows: list[dict[str, Any]]
    differences: list[dict[str, Any]]
    images: int
    files: Sequence[Path] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)


def run(request: Request) -> Report:
    """Score every method on every set of the parts asked for."""
    request.require_options([])
    wanted = PARTS if request.split is None else (request.split,)
    if unknown := set(wanted) - set(PARTS):
        raise ValueError(f"--split must be one of {', '.join(PARTS)}, got {unknown.pop()}")
    parts = [{"drawn": _drawn, "objects": _objects, "counting": _counting}[name](request) for name in wanted]
    return Report(
        data="drawn scenes; small objects (Caltech-101 in BSDS300) and Caltech-101's outlines; counting",
        data_sha256=checksum([path for part in parts for path in part.files], request.data),
        split=" and ".join(wanted),
        images=sum(part.images for part in parts),
        settings={"kinds": KINDS, "chosen": {key: value for part in parts for key, value in part.chosen.items()}},
        rows=[row for part in parts for row in part.rows],
        differences=[row for part in parts for row in part.differences],
        notes=NOTES,
        plots={"drawn.png": drawn_sheet()} if "drawn" in wanted else {},
    )


def score_drawn(seed: int, kind: str) -> dict[str, list[float]]:
    """Return the metrics of every method on one drawn scene."""
    scene = draw_scene(kind, seed)
    return {method: drawn_scores(drawn_boxes(method, scene.image), scene.boxes) for method in DRAWN}


def drawn_scores(found: Boxes, true: Boxes) -> list[float]:
    """Return the share of true boxes among the first found: by place and size, of twice as many, by overlap."""
    n = len(true)
    near, over = near_enough(found, true), overlaps(found, true) >= HIT
    return [float(m.any(axis=0).mean()) if len(m) else 0.0 for m in (near[:n], near[: 2 * n], over[:n])]


def near_enough(found: Boxes, true: Boxes) -> NDArray[np.bool_]:
    """Return which boxes have the centre of which true ones to a quarter of their size, and that to a factor of two."""
    centres = [(boxes[:, :2] + boxes[:, 2:]) / 2 for boxes in (found, true)]
    sizes = [np.sqrt((boxes[:, 2:] - boxes[:, :2]).prod(axis=1)) for boxes in (found, true)]
    off = np.abs(centres[0][:, None] - centres[1][None]).max(axis=2)
    ratio = sizes[0][:, None] / sizes[1][None]
    return np.asarray((off <= sizes[1] / 4) & (ratio >= 0.5) & (ratio <= 2))


def score_objects(source: Source) -> dict[str, list[float]]:
    """Return whether the first boxes of each method hold the object of one image."""
    scene = read_scene(source)
    shape = (scene.image.shape[0], scene.image.shape[1])
    true, candidates, grey = bounding_box(scene.figure), candidate_boxes(shape), CheckedImage(scene.image).grey()
    responses = {
        "torque": box_response(grey, candidates, "signed"),
        "closure": box_response(grey, candidates, "free"),
        "control:edge-density": edge_density(grey, candidates),
    }
    return {name: hits(best_by(response, candidates, COUNTS[-1]), true) for name, response in responses.items()}


def score_cells(truth: CountingImage, sizes: Range, setting: Setting, *, masks: bool = True) -> ImageScores:
    """Score the extrema of one image of cells."""
    grey = CheckedImage(truth.image()).grey().astype(np.float64)
    return score_image(extrema_of_sizes(grey, sizes, setting), truth, masks=masks)


def _drawn(request: Request) -> Part:
    seeds = range(SCENES)[: request.limit]
    rows, differences = [], []
    for kind in KINDS:
        scored = _columns(list(each(partial(score_drawn, kind=kind), seeds, request.jobs, kind, "scenes")))
        rows += _rows(scored, kind, METRICS)
        differences += [_difference(scored, a, b, kind, 0, "found") for a, b in COMPARED]
    return Part(rows, differences, len(KINDS) * len(seeds))


def _objects(request: Request) -> Part:
    small = datasets.small_objects(request.data, "test", count=SMALL)[: request.limit]
    sets: dict[str, Sequence[Source]] = {
        "small": small,
        "caltech": caltech_cases(request.data, PER_CATEGORY)[: request.limit],
    }
    rows, differences = [], []
    for name, sources in sets.items():
        scored = _columns(list(each(score_objects, sources, request.jobs, name)))
        rows += _rows(scored, name, [f"recall_{count}" for count in COUNTS])
        for other in ("torque", "control:edge-density"):
            differences += [_difference(scored, "closure", other, name, 1, f"recall_{COUNTS[1]}")]
    every = [source for sources in sets.values() for source in sources]
    return Part(rows, differences, len(every), source_files(every))


def _counting(request: Request) -> Part:
    rows, differences, files, chosen, images = [], [], [], {}, 0
    for part in counting_sets(request.data):
        test, sizes = part.test[: request.limit], marked_sizes(part.training)
        scores: dict[str, list[ImageScores]] = {}
        for method, settings in COUNTERS.items():
            tune = partial(_goal, training=part.training, sizes=sizes)
            goals = list(each(tune, settings, request.jobs, f"tuning {method}@{part.name}", "settings"))
            setting = settings[int(np.argmax(goals))]
            score = partial(score_cells, sizes=sizes, setting=setting)
            scores[method] = list(each(score, test, request.jobs, f"{method}@{part.name}"))
            rows.append({"method": f"{method}@{part.name}", **summary(scores[method])})
            chosen[f"{method}@{part.name}"] = {"sizes": [round(size, 1) for size in sizes], "setting": list(setting)}
        interval = f1_difference(scores["closure"], scores["torque"], "f1")
        differences.append(difference(f"closure@{part.name}", f"torque@{part.name}", "f1", interval))
        files += [path for p in (*part.training, *test) for path in (p.image_path, p.labels_path) if path is not None]
        images += len(test)
    return Part(rows, differences, images, files, chosen)


def _goal(setting: Setting, training: Sequence[CountingImage], sizes: Range) -> float:
    return goal([score_cells(truth, sizes, setting, masks=False) for truth in training])


def _columns(scored: Sequence[dict[str, list[float]]]) -> Scores:
    return {method: np.array([one[method] for one in scored]) for method in scored[0]}


def _rows(scored: Scores, name: str, metrics: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"method": f"{method}@{name}", **dict(zip(metrics, values.mean(axis=0).tolist(), strict=True))}
        for method, values in scored.items()
    ]


def _difference(scored: Scores, a: str, b: str, name: str, column: int, metric: str) -> dict[str, Any]:
    interval = evaluation.bootstrap_difference(scored[a][:, column], scored[b][:, column])
    return difference(f"{a}@{name}", f"{b}@{name}", metric, interval)
