"""How many boxes it takes to find an object: torque against random boxes, a grid, gradients, blobs and EdgeBoxes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.jobs.processes import each
from imtorque_reproduce.boundary.plots import lines_image
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, read_scene, source_files
from imtorque_reproduce.objects.peers import edge_boxes
from imtorque_reproduce.objects.proposal_rows import COUNTS, HIT, OVERLAP, SEEDS, all_hits, bounding_box, hits, summary
from imtorque_reproduce.report import Report, Request, checksum, difference

SETS = ("small", "caltech")
SMALL = 240  # images
PER_CATEGORY = 10  # of Caltech's outlines
OURS = "torque+side+busyness"
WAYS = ("torque+side", "torque-side", "torque")
CONTROLS = ("random", "grid", "gradient-density", "gradient-density-large", "side+busyness", "busyness", "blob-log")
PEER = "edge-boxes"  # selective search, much slower and behind it, stands in the objects experiment
NOT_DRAWN = ("control:gradient-density", "control:busyness")  # a plot has ten colours
COMPARED = (PEER, *(f"control:{name}" for name in CONTROLS))
NOTES = (
    "recall_N: the share of images where one of the first N boxes overlaps the object's bounding box by half. "
    "Without a prefix on small objects: Caltech's pasted into Berkeley photographs (test part), with boxes of 2 to "
    "15 % of the area. caltech_: outlined objects that mostly fill the image.",
    "torque-side: the contrast across a box's weakest side; torque: its gradient torque; torque+side: their geometric "
    "mean; torque+side+busyness: that times how much busier a box is than the ring around it, the default. "
    "control:side+busyness: the same without torque; control:busyness: that alone. gradient-density: the mean gradient "
    "of L, a and b in the box; -large: by the same power of the size as ours. Boxes, power, overlap and ring were "
    "chosen on the dev part of the small objects, with a look at other images of Caltech.",
    "edge-boxes: EdgeBoxes of OpenCV, in their own order, less those that overlap an earlier one by 0.4, as ours are; "
    "on Canny's edges with their gradient, no learned model, and at most 1000 boxes before.",
    "Not in the paper, which proposes no boxes.",
)


def run(request: Request) -> Report:
    """Score all methods on small objects and on Caltech's outlines."""
    request.require_options([])
    chosen = SETS if request.split is None else (request.split,)
    if unknown := set(chosen) - set(SETS):
        raise ValueError(f"--split must be one of {', '.join(SETS)}, got {unknown.pop()}")
    sources = {name: _sources(name, request.data, request.limit) for name in chosen}
    scored = {name: dict(summary(list(each(score, found, request.jobs, name)))) for name, found in sources.items()}
    every = [source for found in sources.values() for source in found]
    return Report(
        data="small objects (Caltech-101 in BSDS300) and Caltech-101's outlines",
        data_sha256=checksum(source_files(every), request.data),
        split=" and ".join(f"{name} ({len(found)})" for name, found in sources.items()),
        images=len(every),
        settings={"overlap": OVERLAP, "hit": HIT, "random_seeds": SEEDS},
        rows=[_row(method, scored) for method in scored[chosen[0]]],
        differences=[row for name in chosen for row in _differences(name, scored[name])],
        notes=NOTES,
        plots={f"recall-{name}.png": _curves(scored[name]) for name in chosen},
    )


def score(source: Source) -> dict[str, list[float]]:
    """Score every method on one image."""
    scene = read_scene(source)
    colours = scene.image if scene.image.ndim == 3 else np.repeat(scene.image[:, :, None], 3, axis=2)
    of_peer = hits(edge_boxes(colours, COUNTS[-1]), bounding_box(scene.figure))
    return {**all_hits(scene.image, scene.figure), PEER: of_peer}


def _sources(name: str, data: Path, limit: int | None) -> Sequence[Source]:
    found: Sequence[Source] = (
        datasets.small_objects(data, "test", count=SMALL) if name == "small" else caltech_cases(data, PER_CATEGORY)
    )
    return found[:limit]


def _row(method: str, scored: dict[str, dict[str, NDArray[np.float64]]]) -> dict[str, Any]:
    row: dict[str, Any] = {"method": method}
    for name, values in scored.items():
        prefix = "" if name == "small" else f"{name}_"
        for count, recall in zip(COUNTS, values[method].mean(axis=0), strict=True):
            row[f"{prefix}recall_{count}"] = float(recall)
    return row


def _differences(name: str, values: dict[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    prefix = "" if name == "small" else f"{name}_"
    pairs = [(OURS, other) for other in (*COMPARED, *WAYS)] + [("torque", other) for other in COMPARED]
    return [
        difference(a, b, f"{prefix}recall_{count}", evaluation.bootstrap_difference(values[a][:, k], values[b][:, k]))
        for a, b in pairs
        for k, count in enumerate(COUNTS[:2])
    ]


def _curves(values: dict[str, NDArray[np.float64]]) -> bytes:
    names = (OURS, *WAYS, *(name for name in COMPARED if name not in NOT_DRAWN))
    curves = {name: (COUNTS, values[name].mean(axis=0).tolist()) for name in names}
    return lines_image(curves, "boxes", "recall", logarithmic=True)
