"""The boundary detectors pb, mPb, gPb, Sketch Tokens and closed contours, on the Berkeley images.

With `--set learn=N` their numbers are first learned from N images of "train", and stand in the settings of the report.
Sketch Tokens are scored where `imtorque data train sketch-tokens` has trained them on the same computer.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.boundaries.strength import BoundaryModel, Samples
from imtorque.core.contribution import dense_contribution
from imtorque.core.types import Edges, FloatArray
from imtorque.edges import RECIPES, OrientedMap, ultrametric_contours
from imtorque.edges.boundary_maps import (
    LEARNED,
    LEARNED_GLOBAL,
    MPB_CUES,
    PB_CUES,
    Combination,
    GlobalCombination,
    evidence_by,
    global_evidence,
    spectral_of,
)
from imtorque.edges.oriented import probabilities
from imtorque.edges.token_forest import COMMAND, trained_tokens
from imtorque.edges.ultrametric import contour_edges
from imtorque.files import read_image
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque_reproduce.boundary.rules import TOKENS, learned_bases
from imtorque_reproduce.boundary.tables import Scores, Table, score_maps
from imtorque_reproduce.detectors.learning import Example, cue_example, learn
from imtorque_reproduce.plots import maps_image
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import berkeley_files, stride

TRAIN, SPLIT = "train", "val"
REFERENCE = "reference:gpb-ucm"  # the authors' own maps, where the data has them
SHOWN = ("pb", "mpb", "gpb", "gpb-ucm")
DETECTOR_EXAMPLES = 3  # images in the plot; convention
FIRST_SPECTRAL = 1.0  # weight of the spectral gradients from which learning starts; untuned
# As their authors published them.
PUBLISHED = {"pb, BSDS300": 0.65, "gPb, BSDS300": 0.70, "gPb-OWT-UCM, BSDS300": 0.71, "covering, BSDS300": 0.59}
PUBLISHED |= {"Sketch Tokens, BSDS500": 0.73}
Map = NDArray[np.float64]
Regions = dict[str, evaluation.RegionScores]  # by method
Numbers = tuple[Combination, Combination, GlobalCombination]
IN_CODE: Numbers = (LEARNED["pb"], LEARNED["mpb"], LEARNED_GLOBAL)


def run(request: Request) -> Report:
    """Learn where asked to, score every detector on every image, and report."""
    request.require_options(("learn", "matching"))
    matching = request.option("matching", "min_cost", ("min_cost", "cardinality"))
    root = request.berkeley()
    learning = stride(datasets.bsds500(root, TRAIN), count) if (count := request.number("learn", 0, 0)) else []
    numbers = _learn(learning, request.jobs) if learning else IN_CODE
    records = datasets.bsds500(root, request.split or SPLIT)[: request.limit]
    found = list(each(partial(_score, root=root, numbers=numbers, matching=matching), records, request.jobs, "images"))
    table = Table.of([boundaries for boundaries, _ in found], request, matching)
    settings: dict[str, Any] = {"learned_from": len(learning), "published": PUBLISHED, "numbers": _shown(numbers)}
    shown = [*SHOWN, *([TOKENS] if TOKENS in learned_bases() else [])]
    if TOKENS in shown:
        settings[TOKENS] = trained_tokens().about
    if learning:
        settings["torque"] = torque_coefficients(learning, numbers)
    return Report(
        data=root.name,
        data_sha256=checksum(berkeley_files([*records, *learning]), root),
        split=request.split or SPLIT,
        images=len(records),
        settings=settings,
        rows=with_covering(table.rows(), [regions for _, regions in found]),
        notes=["covering: of the regions at the one best threshold for all images, and at each image's own."]
        + ([] if TOKENS in shown else [f"{TOKENS}: not trained on this computer ({COMMAND}), so left out."]),
        plots={
            "precision_recall.png": table.curves(shown),
            "examples.png": maps_image(_panels(stride(records, DETECTOR_EXAMPLES), numbers, shown), [*shown, "people"]),
        },
    )


def with_covering(rows: list[dict[str, Any]], found: Sequence[Regions]) -> list[dict[str, Any]]:
    """Add to the rows of closed contours how well their regions cover those that people drew."""
    for row in (row for row in rows if row["method"] in found[0]):
        summary = evaluation.summarise_regions([regions[row["method"]] for regions in found])
        row["covering"], row["covering_ois"] = summary.covering_ods, summary.covering_ois
        row["covering_threshold"] = summary.covering_threshold
    return rows


def _learn(records: Sequence[datasets.BerkeleyImage], jobs: int) -> Numbers:
    examples = [cue_example(record, MPB_CUES) for record in records]
    mpb = _combination(MPB_CUES, learn(examples, jobs=jobs))
    chosen = [MPB_CUES.index(cue) for cue in PB_CUES]
    pb = _combination(PB_CUES, learn([Example(e.features[chosen], e.truths) for e in examples], jobs=jobs))
    weights = np.array(mpb.weights, np.float32)
    evidence = [np.tensordot(weights, e.features, axes=1) + np.float32(mpb.intercept) for e in examples]
    spectral = [spectral_of(local)[None] for local in evidence]
    every = [Example(np.concatenate([e.features, own]), e.truths) for e, own in zip(examples, spectral, strict=True)]
    found = learn(every, start=np.append(mpb.weights, FIRST_SPECTRAL), closed=True, jobs=jobs)
    return pb, mpb, GlobalCombination(_combination(MPB_CUES, found[:-1]), round(float(found[-1]), 3))


def torque_coefficients(records: Sequence[datasets.BerkeleyImage], numbers: Numbers) -> dict[str, list[float]]:
    """Learn how torque re-weighs the edges of each detector: c0, c1, c2 of `strengthen_edges`.

    A detector whose edges are all on boundaries, or none of them, is left out: there is nothing to tell apart.
    """
    samples: dict[str, list[Samples]] = {}
    for record in records:
        truths = [annotation.boundaries for annotation in record.annotations()]
        for name, edges in _edges(CheckedImage(record.image()), numbers).items():
            cue = dense_contribution(edges, RECIPES[name].sizes)
            found = BoundaryModel().samples(np.minimum(edges.strength, 1), cue, truths)
            samples.setdefault(name, []).append(found)
    mixed = {name: parts for name, parts in samples.items() if len({bool(s) for _, part in parts for s in part}) == 2}
    fitted = {name: BoundaryModel().fit_samples(parts) for name, parts in mixed.items()}
    return {name: [round(float(c), 3) for c in (f.intercept_, *f.coef_)] for name, f in fitted.items()}


def _edges(image: CheckedImage, numbers: Numbers) -> dict[str, Edges]:
    oriented = _oriented(image, numbers)
    edges = {name: found.edges(image, RECIPES[name].options.threshold) for name, found in oriented.items()}
    tree = ultrametric_contours(oriented["gpb"])
    return edges | {"ucm": contour_edges(tree, oriented["gpb"], image, RECIPES["ucm"].options.threshold)}


def _combination(cues: tuple[Any, ...], found: FloatArray) -> Combination:
    return Combination(cues, round(float(found[0]), 3), tuple(round(float(c), 3) for c in found[1:]))


def _oriented(image: CheckedImage, numbers: Numbers) -> dict[str, OrientedMap]:
    pb, mpb, combined = numbers
    evidence, local = evidence_by(image, mpb, combined.local)
    whole = global_evidence(evidence, local, combined.spectral)
    found = {"pb": pb.evidence(image), "mpb": evidence, "gpb": whole}
    maps = {name: probabilities(total) for name, total in found.items()}
    return maps | ({TOKENS: trained_tokens()(image)} if TOKENS in learned_bases() else {})


def _maps(record: datasets.BerkeleyImage, numbers: Numbers) -> tuple[dict[str, Map], dict[str, Map]]:
    """Return the boundary maps of every detector, and the contours at double size of those that are closed."""
    oriented = _oriented(CheckedImage(record.image()), numbers)
    trees = {f"{name}-ucm": ultrametric_contours(found) for name, found in oriented.items() if name != "pb"}
    thin = {name: found.thinned().astype(np.float64) for name, found in oriented.items()}
    contours = {name: tree.contours().astype(np.float64) for name, tree in trees.items()}
    return thin | {name: evaluation.contours_from_ucm(ucm) for name, ucm in contours.items()}, contours


def _score(record: datasets.BerkeleyImage, root: Path, numbers: Numbers, matching: str) -> tuple[Scores, Regions]:
    """Return the boundary scores and the region scores of one image, by method."""
    people = record.annotations()
    maps, contours = _maps(record, numbers)
    path = record.image_path
    reference = root / "ucm" / path.parent.name / f"{record.name}.png"
    if reference.is_file():
        contours[REFERENCE] = np.asarray(read_image(reference))
        maps[REFERENCE] = evaluation.contours_from_ucm(contours[REFERENCE])
    boundaries = score_maps(maps, [person.boundaries for person in people], matching)
    regions = {
        method: evaluation.ucm_region_scores(ucm, [p.segmentation for p in people]) for method, ucm in contours.items()
    }
    return boundaries, regions


def _shown(numbers: Numbers) -> dict[str, Any]:
    pb, mpb, combined = numbers
    local = {
        name: {
            "intercept": c.intercept,
            **{f"{cue.channel}-{cue.radius}": w for cue, w in zip(c.cues, c.weights, strict=True)},
        }
        for name, c in (("pb", pb), ("mpb", mpb), ("gpb", combined.local))
    }
    local["gpb"]["spectral"] = combined.spectral
    return local


def _panels(
    records: Sequence[datasets.BerkeleyImage], numbers: Numbers, shown: Sequence[str]
) -> list[list[FloatArray]]:
    panels = []
    for record in records:
        maps, _ = _maps(record, numbers)
        human = np.mean([annotation.boundaries for annotation in record.annotations()], axis=0)
        panels.append([*(maps[name] for name in shown), human])
    return panels
