"""How many boxes it takes to find an object: torque against random boxes, a grid, gradients, blobs and EdgeBoxes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imtorque import datasets
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, read_scene, source_files
from imtorque_reproduce.objects.controls import edge_boxes
from imtorque_reproduce.objects.rows import BOX_COUNTS, HIT, OVERLAP, SEEDS, all_hits, bounding_box, hits
from imtorque_reproduce.plots import lines_image
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, compare, score_images

PREFIXES = {"small": "", "caltech": "caltech_"}  # of the metrics of each set
PROPOSAL_SMALL, PROPOSAL_PER_CATEGORY = 240, 10  # images; of Caltech's outlines; bound: time
OURS = "torque+side+busyness"
WAYS = ("torque+side", "torque-side", "torque")
CONTROLS = ("random", "grid", "gradient-density", "gradient-density-large", "side+busyness", "busyness", "blob-log")
PEER = "edge-boxes"  # selective search, much slower and behind it, stands in the objects experiment
NOT_DRAWN = ("control:gradient-density", "control:busyness")  # a plot has ten colours
COMPARED = (PEER, *(f"control:{name}" for name in CONTROLS))
PAIRS = [(OURS, other) for other in (*COMPARED, *WAYS)] + [("torque", other) for other in COMPARED]
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
    request.require_options()
    sources = proposal_cases(request, *request.parts(*PREFIXES))
    scored = {name: score_images(score, found, request, name) for name, found in sources.items()}
    every = [source for found in sources.values() for source in found]
    return Report(
        data="small objects (Caltech-101 in BSDS300) and Caltech-101's outlines",
        data_sha256=checksum(source_files(every), request.data),
        split=" and ".join(f"{name} ({len(found)})" for name, found in sources.items()),
        images=len(every),
        settings={"overlap": OVERLAP, "hit": HIT, "random_seeds": SEEDS},
        rows=[_row(method, scored) for method in next(iter(scored.values()))],
        differences=[
            one
            for name, values in scored.items()
            for pair in PAIRS
            for k, count in enumerate(BOX_COUNTS[:2])
            for one in compare({m: v[:, k] for m, v in values.items()}, [pair], f"{PREFIXES[name]}recall_{count}")
        ],
        notes=NOTES,
        plots={f"recall-{name}.png": _curves(values) for name, values in scored.items()},
    )


def proposal_cases(request: Request, *names: str) -> dict[str, Sequence[Source]]:
    """Return the images of the sets with these names."""
    found: dict[str, Sequence[Source]] = {}
    for name in names:
        if name == "small":
            found[name] = datasets.small_objects(request.data, "test", count=PROPOSAL_SMALL)[: request.limit]
        else:
            found[name] = caltech_cases(request.data, PROPOSAL_PER_CATEGORY)[: request.limit]
    return found


def score(source: Source) -> dict[str, list[float]]:
    """Score every method on one image."""
    scene = read_scene(source)
    colours = scene.image if scene.image.ndim == 3 else np.repeat(scene.image[:, :, None], 3, axis=2)
    of_peer = hits(edge_boxes(colours, BOX_COUNTS[-1]), bounding_box(scene.figure))
    return {**all_hits(scene.image, scene.figure), PEER: of_peer}


def _row(method: str, scored: dict[str, dict[str, Floats]]) -> dict[str, Any]:
    row: dict[str, Any] = {"method": method}
    for name, values in scored.items():
        metrics = (f"{PREFIXES[name]}recall_{count}" for count in BOX_COUNTS)
        row |= zip(metrics, values[method].mean(axis=0).tolist(), strict=True)
    return row


def _curves(values: dict[str, Floats]) -> bytes:
    names = (OURS, *WAYS, *(name for name in COMPARED if name not in NOT_DRAWN))
    curves = {name: (BOX_COUNTS, values[name].mean(axis=0).tolist()) for name in names}
    return lines_image(curves, "boxes", "recall", logarithmic=True)
