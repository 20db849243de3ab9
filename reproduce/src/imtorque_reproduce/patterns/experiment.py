"""Where torque without polarity helps, and where it does not: drawn scenes, objects in photographs, cells.

Rows are METHOD@SET. Drawn scenes need no data; on photographs boxes are those of `proposals`; on cells each method has
sixteen settings, chosen on the training images of a set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque.segmentation.boxes import candidate_boxes
from imtorque_reproduce.counting.controls import Range, Setting, marked_sizes
from imtorque_reproduce.counting.scores import ImageScores, f1_difference, goal, score_image, summary
from imtorque_reproduce.figure_ground.cases import Source, read_scene, source_files
from imtorque_reproduce.objects.proposals import proposal_cases
from imtorque_reproduce.objects.rows import BOX_COUNTS, HIT, Boxes, best_by, bounding_box, hits, overlaps
from imtorque_reproduce.patterns.plots import drawn_sheet
from imtorque_reproduce.patterns.rows import (
    COUNTERS,
    METHODS,
    box_response,
    drawn_boxes,
    edge_density,
    extrema_of_sizes,
)
from imtorque_reproduce.patterns.scenes import KINDS, draw_scene
from imtorque_reproduce.report import Report, Request, checksum, difference
from imtorque_reproduce.scoring import Floats, compare, score_images

SCENES_PER_KIND = 60  # of each kind; bound: time
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
    request.require_options()
    wanted = request.parts(*SCENE_PARTS)
    parts = [SCENE_PARTS[name](request) for name in wanted]
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
    return {name: hits(best_by(response, candidates, BOX_COUNTS[-1]), true) for name, response in responses.items()}


def score_cells(truth: CountingImage, sizes: Range, setting: Setting, *, masks: bool = True) -> ImageScores:
    """Score the extrema of one image of cells."""
    grey = CheckedImage(truth.image()).grey().astype(np.float64)
    return score_image(extrema_of_sizes(grey, sizes, setting), truth, masks=masks)


def _drawn(request: Request) -> Part:
    seeds = range(SCENES_PER_KIND)[: request.limit]
    rows, differences = [], []
    for kind in KINDS:
        scored = score_images(partial(score_drawn, kind=kind), seeds, request, kind, "scenes")
        rows += _rows(scored, kind, METRICS)
        differences += compare({m: v[:, 0] for m, v in scored.items()}, COMPARED, "found", f"@{kind}")
    return Part(rows, differences, len(KINDS) * len(seeds))


def _objects(request: Request) -> Part:
    sets = proposal_cases(request, "small", "caltech")
    pairs = [("closure", other) for other in ("torque", "control:edge-density")]
    rows, differences = [], []
    for name, sources in sets.items():
        scored = score_images(score_objects, sources, request, name)
        rows += _rows(scored, name, [f"recall_{count}" for count in BOX_COUNTS])
        differences += compare({m: v[:, 1] for m, v in scored.items()}, pairs, f"recall_{BOX_COUNTS[1]}", f"@{name}")
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


def _rows(scored: Mapping[str, Floats], name: str, metrics: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"method": f"{method}@{name}", **dict(zip(metrics, values.mean(axis=0).tolist(), strict=True))}
        for method, values in scored.items()
    ]


SCENE_PARTS = {"drawn": _drawn, "objects": _objects, "counting": _counting}
