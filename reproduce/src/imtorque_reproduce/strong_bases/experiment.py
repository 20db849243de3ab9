"""Does torque add to a strong base? Two forms on gPb, learned on Berkeley's training images.

Re-weighing its edges, learned from the benchmark's own matches (`match_learning`), and merging its regions
(`merge_learning`); each beside controls of the same form without torque. First one half of the training images is
learned from and the other scored, both ways round; then all of them are learned from, and "val" is scored once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from imtorque import datasets, evaluation
from imtorque.core.types import FloatArray
from imtorque.edges import RECIPES, boundary_map, ultrametric_contours
from imtorque.edges.ultrametric import ContourTree
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque_reproduce.boundary.tables import Scores, Table, score_maps
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import berkeley_files, compare, gather, stride
from imtorque_reproduce.strong_bases import match_learning, merge_learning

TRAIN, SPLIT = "train", "val"
LEARNED_FROM = 60  # training images; bound: time
MATCHING = "min_cost"
HEIGHTS = 24  # at which regions are scored; bound: time
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
    root = request.berkeley()
    learning = stride(datasets.bsds500(root, TRAIN), request.number("learn", LEARNED_FROM, 2))
    records = datasets.bsds500(root, request.split or SPLIT)[: request.limit]
    seen = list(each(_see, learning, request.jobs, "training images"))
    halves = [seen[::2], seen[1::2]]
    crossed = [one for own, other in (halves, halves[::-1]) for one in _scored(own, learn(other), request.jobs)]
    learned = learn(seen)
    found = _scored(list(each(_see, records, request.jobs, "images")), learned, request.jobs)
    rows, differences = _tables(found, request)
    return Report(
        data=root.name,
        data_sha256=checksum(berkeley_files([*records, *learning]), root),
        split=request.split or SPLIT,
        images=len(records),
        settings={
            "learned_from": len(learning),
            "coefficients": {name: [round(float(c), 3) for c in own] for name, own in learned.items()},
            "train_halves": dict(zip(("rows", "differences"), _tables(crossed, request), strict=True)),
        },
        rows=rows,
        differences=differences,
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
    boundaries = score_maps(every, truths, MATCHING)
    return boundaries, {
        name: evaluation.ucm_region_scores(ucm, drawn, thresholds=HEIGHTS) for name, ucm in contours.items()
    }


def _tables(found: Sequence[Scored], request: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows and differences: F of all methods, covering of those that have regions."""
    table = Table.of([boundaries for boundaries, _ in found], request, MATCHING)
    scores = gather([regions for _, regions in found])
    rows, covered = table.rows(), {name: _covered(own) for name, own in scores.items()}
    for row in (row for row in rows if row["method"] in scores):
        row["covering"] = evaluation.summarise_regions(scores[row["method"]]).covering_ods
    return rows, table.differences(PAIRS) + compare(covered, PAIRS, "covering", statistic=_best_covering)


def _best_covering(mean: FloatArray) -> FloatArray:
    largest: FloatArray = (mean[:, :-1] / mean[:, -1:]).max(axis=1)
    return largest


def _covered(scores: Sequence[evaluation.RegionScores]) -> FloatArray:
    """Return for each image the pixels covered at each threshold, and last the area, (n, T + 1)."""
    return np.stack([np.append(one.covered, one.area) for one in scores])
