"""What each part adds to a map of where people look: a blend learned on one set, with its parts removed in turn.

Five parts: the middle of the picture, edges, GBVS, torque, and an object-level map. A logistic rule over their maps and
the products of their maps says how likely a pixel lies where people looked; it is learned anew without each part, on
one eye-tracking set, and reported on another. The object-level map knows no torque, so that torque is one part alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from imtorque import evaluation
from imtorque._parallel import each
from imtorque._types import FloatArray, Image
from imtorque.boundaries import fit_logistic, logistic
from imtorque.experiments.attention import (
    data_folder,
    differences_of,
    eye_tracking_files,
    read_observed,
    summary,
)
from imtorque.experiments.attention_maps import FINE, GBVS_BLUR, Tuned, edge_channels, edge_strength, torque_map
from imtorque.experiments.report import Report, Request, checksum
from imtorque.images import Picture
from imtorque.resizing import resize
from imtorque.saliency import blend_saliency, centre_saliency, gbvs_saliency
from imtorque.saliency.maps import Map, unit_range
from imtorque.saliency.splats import DEFAULT_SIGMA, blurred
from imtorque.scoring.saliency import Observed, SaliencyScores, score_map
from imtorque.segmentation.colour_cut import Hints
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, view_picture, working_shape
from imtorque.segmentation.object_candidates import box_cuts, halved
from imtorque.segmentation.object_choice import object_odds

LEARN, SPLIT = "sun_scenes", "osie"
STEP = 6  # learn from every so many-th pixel of every so many-th row
Parts = dict[str, list[Map]]  # by part its maps; the first of each stands for it in products
PARTS = ("centre", "edges", "gbvs", "torque", "objects")
BLEND, FORMER = "blend", "gbvs+torque"
COMPARED = (*((BLEND, f"{BLEND}-without-{part}") for part in PARTS), (BLEND, FORMER), (FORMER, "gbvs"))
NOTES = (
    "blend: logistic rule over the maps of five parts and the products of pairs of them, learned on the other set; "
    "blend-without-PART: learned anew without that part. Nothing of the set reported on was looked at.",
    "centre: a Gaussian in the middle. edges: those of torque, blurred by 25 and by 10 pixels. gbvs: the map, and it "
    "blurred. torque: torque_saliency's best form, and weighed by coherence with 8 pixels. objects: how many of the "
    "figures cut in 60 boxes hold a pixel, each by how likely it is an object by the rule of segment_objects that "
    "knows no torque.",
    "gbvs+torque is the blend of the attention experiment, 0.6 and 0.4. gbvs, torque, objects, centre, edges: the "
    "first map of each part alone.",
)


def run(request: Request) -> Report:
    """Learn on one set, report on another."""
    request.require_options(["learn"])
    folder = data_folder(request.data, request.split or SPLIT)
    other = data_folder(request.data, request.option("learn", LEARN))
    if other.resolve() == folder.resolve():
        raise ValueError(f"learn must name another set than the one reported on, got {other.name}")
    observed = read_observed(folder, request.limit)
    learning = read_observed(other, request.limit)
    rules = learn(learning, request.jobs)
    scored = list(each(partial(score_image, rules=rules), observed, request.jobs, folder.name))
    scores = {method: [image[method] for image in scored] for method in scored[0]}
    return Report(
        data=folder.name,
        data_sha256=checksum(
            [*eye_tracking_files(folder, observed), *eye_tracking_files(other, learning)], folder.parent
        ),
        split="all" if request.limit is None else f"first {len(observed)}",
        images=len(observed),
        settings={"learned_on": f"{len(learning)} images of {other.name}", "coefficients": _rounded(rules)},
        rows=[{"method": method, **summary(images)} for method, images in scores.items()],
        differences=differences_of(scores, COMPARED),
        notes=NOTES,
    )


def part_maps(image: Image) -> Parts:
    """Return the maps of every part, each from 0 to 1."""
    channels, tuned = edge_channels(image)[1], Tuned()
    gbvs = gbvs_saliency(image)
    fine = torque_map(channels, int(FINE["count"]), sigma=FINE["sigma"], weight="coherence")
    return {
        "centre": [centre_saliency(image)],
        "edges": [edge_strength(channels, DEFAULT_SIGMA), edge_strength(channels, FINE["edge_sigma"])],
        "gbvs": [gbvs, unit_range(blurred(gbvs, GBVS_BLUR))],
        "torque": [torque_map(channels, tuned.count, alpha=tuned.alpha), fine],
        "objects": [object_map(image)],
    }


def object_map(image: Image) -> Map:
    """Return how many figures cut in boxes hold each pixel, each by how likely it is an object, without torque."""
    picture = Picture(image)
    if min(working_shape(picture.shape)) < SMALLEST_SIDE:
        return np.zeros(picture.shape)
    height, width = working_shape(picture.shape)
    view = view_picture(picture, Hints([(height // 2, width // 2)]), torque=False)
    cuts = box_cuts(view) if view.edges.any() else []
    if len(cuts) < 2:  # nothing to compare
        return np.zeros(picture.shape)
    figures = [halved(view, cut) for cut in cuts]
    likely = logistic(object_odds(view, figures))
    return unit_range(resize(np.tensordot(likely, np.stack(figures).astype(np.float64), 1), picture.shape))


def features(parts: Parts) -> FloatArray:
    """Return what a rule weighs at each pixel: all maps, and the products of pairs of parts, (m, H, W)."""
    first = [maps[0] for maps in parts.values()]
    products = [a * b for a, b in combinations_with_replacement(first, 2)]
    return np.stack([*(one for maps in parts.values() for one in maps), *products])


def learn(observed: Sequence[Observed], jobs: int) -> dict[str, FloatArray]:
    """Return the coefficients of the blend of all parts, and of each without one part."""
    samples = list(each(_samples, observed, jobs, "learning"))
    looked = np.concatenate([region for _, region in samples])
    return {row: fit_logistic(np.concatenate([by_row[row] for by_row, _ in samples]), looked) for row in samples[0][0]}


def score_image(observed: Observed, rules: Mapping[str, FloatArray]) -> dict[str, SaliencyScores]:
    """Score every method on one image."""
    parts = part_maps(observed.image.image())
    maps = {
        row: logistic(rules[row][0] + np.tensordot(rules[row][1:], features(kept), 1))
        for row, kept in _without(parts).items()
    }
    maps[FORMER] = blend_saliency([parts["gbvs"][0], parts["torque"][0]], [1 - Tuned().share, Tuned().share])
    maps |= {part: found[0] for part, found in parts.items()}
    return {
        row: score_map(found if found.max() > 0 else found + 1, observed, DEFAULT_SIGMA) for row, found in maps.items()
    }


def _samples(observed: Observed) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the features of some pixels for every rule, (n, m), and whether people looked there."""
    parts = part_maps(observed.image.image())
    fixations = observed.image.fixations()
    region = evaluation.fixated_region(fixations.y, fixations.x, observed.image.shape)[::STEP, ::STEP]
    few = {part: [one[::STEP, ::STEP] for one in maps] for part, maps in parts.items()}
    return {
        row: features(kept).reshape(-1, region.size).T for row, kept in _without(few).items()
    }, region.ravel().astype(float)


def _without(parts: Parts) -> dict[str, Parts]:
    """Return by row the parts that it has: all, and all but one."""
    less = {f"{BLEND}-without-{left}": {part: maps for part, maps in parts.items() if part != left} for left in PARTS}
    return {BLEND: parts, **less}


def _rounded(rules: Mapping[str, FloatArray]) -> dict[str, Any]:
    return {row: [round(float(c), 4) for c in coefficients] for row, coefficients in rules.items()}
