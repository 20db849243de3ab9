"""Does torque add to a strong base? Two forms on gPb, learned on Berkeley's training images.

Re-weighing its edges, learned from the benchmark's own matches (`match_learning`), and merging its regions
(`merge_learning`); each beside controls of the same form without torque. First one half of the training images is
learned from and the other scored, both ways round; then all of them are learned from, and "val" is scored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from imtorque import datasets, evaluation
from imtorque.core.types import FloatArray
from imtorque.edges import RECIPES, boundary_map, ultrametric_contours
from imtorque.edges.ultrametric import ContourTree
from imtorque.evaluation.matching import Matching
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque_reproduce.boundary.rows import Scores, differences_of, gather, resamplings, rows_of
from imtorque_reproduce.detectors.experiment import spread
from imtorque_reproduce.report import Report, Request, checksum, difference
from imtorque_reproduce.strong_bases import match_learning, merge_learning

TRAIN, SPLIT = "train", "val"
LEARNED_FROM = 60  # training images
MATCHING: Matching = "min_cost"
HEIGHTS = 24  # at which regions are scored
BASE, CLOSED = "gpb", "gpb-ucm"
PAIRS = (
    ("gpb+torque", BASE),
    ("control:gpb+density", BASE),
    ("control:gpb+density+torque", "control:gpb+density"),
    ("gpb-ucm+torque", CLOSED),
    ("gpb-ucm+torque", "control:gpb-ucm+border"),
    ("control:gpb-ucm+colour", CLOSED),
    ("control:gpb-ucm+colour+torque", "control:gpb-ucm+colour"),
)
Regions = dict[str, evaluation.RegionScores]
Scored = tuple[Scores, Regions]
Coefficients = dict[str, FloatArray]


@dataclass(frozen=True)
class Seen:
    """One image: the scores of gPb and its contours, and all that is learned from and re-weighed."""

    record: datasets.BerkeleyImage
    scored: Scored
    pixels: match_learning.EdgePixels
    borders: merge_learning.Borders


def run(request: Request) -> Report:
    """Score every form on halves of the training images, then on the others, and report."""
    request.require_options(("learn", "samples"))
    count = request.option("learn", str(LEARNED_FROM))
    if not (count.isdecimal() and int(count) > 1):
        raise ValueError(f"learn must be a number of images, at least 2, got {count}")
    root, samples = request.berkeley(), resamplings(request)
    learning = spread(datasets.bsds500(root, TRAIN), int(count))
    records = datasets.bsds500(root, request.split or SPLIT)[: request.limit]
    seen = list(each(_see, learning, request.jobs, "training images"))
    halves = [
        *_scored(seen[::2], learn(seen[1::2]), request.jobs),
        *_scored(seen[1::2], learn(seen[::2]), request.jobs),
    ]
    learned = learn(seen)
    found = _scored(list(each(_see, records, request.jobs, "images")), learned, request.jobs)
    files = [path for record in [*records, *learning] for path in (record.image_path, *record.truth_paths)]
    return Report(
        data=root.name,
        data_sha256=checksum(files, root),
        split=request.split or SPLIT,
        images=len(records),
        settings={
            "learned_from": len(learning),
            "coefficients": {name: [round(float(c), 3) for c in own] for name, own in learned.items()},
            "train_halves": {"rows": _rows(halves), "differences": _differences(halves, samples)},
        },
        rows=_rows(found),
        differences=_differences(found, samples),
        notes=[
            "gpb+...: logistic re-weighing of gPb's edges, learned from the benchmark's one-to-one matches.",
            "gpb-ucm+...: regions left of gPb's contours at a low height merge anew by the learned likelihood that "
            "people keep them apart. +border: from the border alone; +colour: and from how much colours differ.",
            "train_halves in the settings: learned on one half of the training images and scored on the other.",
        ],
    )


def learn(seen: Sequence[Seen]) -> Coefficients:
    """Return the coefficients of every form."""
    pixels = match_learning.fit_forms(one.pixels for one in seen)
    return pixels | merge_learning.fit_forms(one.borders for one in seen)


def _see(record: datasets.BerkeleyImage) -> Seen:
    image, people = CheckedImage(record.image()), record.annotations()
    oriented = boundary_map(image, BASE)
    edges = oriented.edges(image, RECIPES[BASE].options.threshold)
    tree = ultrametric_contours(oriented)
    strength = np.minimum(edges.strength, 1).astype(np.float64)
    truths = [person.boundaries for person in people]
    return Seen(
        record,
        _score(people, {BASE: strength}, {CLOSED: tree}),
        match_learning.edge_pixels(edges, truths),
        merge_learning.find_borders(image, oriented, edges, tree, [person.segmentation for person in people]),
    )


def _scored(seen: Sequence[Seen], learned: Coefficients, jobs: int) -> list[Scored]:
    return list(each(partial(_score_forms, learned=learned), seen, jobs, "scored"))


def _score_forms(seen: Seen, learned: Coefficients) -> Scored:
    maps = {name: seen.pixels.strengthened(form, learned[name]) for name, form in match_learning.FORMS.items()}
    trees = {name: seen.borders.merged(form, learned[name]) for name, form in merge_learning.FORMS.items()}
    boundaries, regions = _score(seen.record.annotations(), maps, trees)
    return seen.scored[0] | boundaries, seen.scored[1] | regions


def _score(
    people: Sequence[datasets.Annotation], maps: Mapping[str, FloatArray], trees: Mapping[str, ContourTree]
) -> Scored:
    """Score boundary maps, and closed contours as boundaries and as regions."""
    truths, drawn = [person.boundaries for person in people], [person.segmentation for person in people]
    contours = {name: tree.contours().astype(np.float64) for name, tree in trees.items()}
    every = dict(maps) | {name: evaluation.contours_from_ucm(ucm) for name, ucm in contours.items()}
    boundaries: Scores = {
        (name, MATCHING): evaluation.boundary_scores(found, truths, matching=MATCHING) for name, found in every.items()
    }
    return boundaries, {
        name: evaluation.ucm_region_scores(ucm, drawn, thresholds=HEIGHTS) for name, ucm in contours.items()
    }


def _rows(found: Sequence[Scored]) -> list[dict[str, Any]]:
    rows = rows_of(gather([boundaries for boundaries, _ in found]), MATCHING)
    for row in (row for row in rows if row["method"] in found[0][1]):
        row["covering"] = evaluation.summarise_regions([regions[row["method"]] for _, regions in found]).covering_ods
    return rows


def _differences(found: Sequence[Scored], samples: int) -> list[dict[str, Any]]:
    rows = differences_of(gather([boundaries for boundaries, _ in found]), PAIRS, samples)
    for a, b in (pair for pair in PAIRS if pair[0] in found[0][1]):
        ours, theirs = ([regions[name] for _, regions in found] for name in (a, b))
        interval = evaluation.bootstrap_difference(
            _covered(ours), _covered(theirs), statistic=lambda mean: (mean[:, :-1] / mean[:, -1:]).max(axis=1)
        )
        rows.append(difference(a, b, "covering", interval))
    return rows


def _covered(scores: Sequence[evaluation.RegionScores]) -> FloatArray:
    """Return for each image the pixels covered at each threshold, and last the area, (n, T + 1)."""
    return np.stack([np.append(one.covered, one.area) for one in scores])
