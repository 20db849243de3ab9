"""Regions of the Berkeley images, beside normalised cuts, Felzenszwalb's method and blind controls (Sec. 4.3).

Every method has one parameter that is swept, some also variants. Both are chosen on images of "train", once for all, by
the covering; the table is of another split.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from imtorque import datasets, evaluation
from imtorque.core.types import FloatArray
from imtorque.evaluation import RegionScores
from imtorque.files import read_image
from imtorque.jobs.processes import each
from imtorque.render.regions import mean_colour_image
from imtorque.render.saliency import labelled_sheet
from imtorque_reproduce.regions.methods import METHODS, REFERENCE, CheckedImage
from imtorque_reproduce.regions.readings import PAPER_FORM, Choice, ladder_rows
from imtorque_reproduce.report import Report, Request, Row, checksum, difference

TRAIN, SPLIT = "train", "val"
EVERY = 8  # of the training images serve to choose parameters
PAPER = {"torque-paper": 0.429, "ncut": 0.390}
PAIRS = (
    ("torque", "ncut"),
    ("torque", "felzenszwalb"),
    ("torque", "torque-paper"),
    ("torque", "control:grid"),
    ("torque", REFERENCE),
    ("torque+grid", "torque"),
    ("torque+grid", "control:grid"),
    ("torque", "control:torque+gradient"),
    ("torque", "control:grid+gradient"),
    ("torque-paper", "ncut"),
    ("torque-paper", "control:grid-paper"),
    ("control:grid", REFERENCE),
)
SHOWN = ("torque", "torque+grid", "control:grid", "ncut", "felzenszwalb")
EXAMPLES = 5
Scores = dict[tuple[str, str], list[RegionScores]]  # by method and variant


def run(request: Request) -> Report:
    """Choose on training images, score on the others, and report."""
    request.require_options(["every", "samples", "methods"])
    root = request.berkeley()
    split = request.split or SPLIT
    every, samples = int(request.option("every", str(EVERY))), int(request.option("samples", "2000"))
    tuning = datasets.bsds500(root, TRAIN)[::every][: request.limit]
    records = datasets.bsds500(root, split)[: request.limit]
    with_ucm = all(_ucm_path(record).is_file() for record in [*tuning, *records])
    asked = _methods(request.option("methods", ",".join(METHODS)))
    methods = [name for name in asked if with_ucm or name != REFERENCE]
    chosen = choose(_gather(tuning, [(name, v) for name in methods for v in METHODS[name]], request.jobs, TRAIN))
    kept = dict.fromkeys((name, choice.variant) for name, choice in chosen.items())
    with_ladder = {PAPER_FORM, "ncut"} <= set(methods)
    if with_ladder:
        kept |= dict.fromkeys((PAPER_FORM, variant) for variant in METHODS[PAPER_FORM])
    found = _gather(records, list(kept), request.jobs, split)
    scores = {name: found[name, choice.variant] for name, choice in chosen.items()}
    return Report(
        data=root.name,
        data_sha256=checksum([path for record in [*tuning, *records] for path in _files(record, with_ucm)], root),
        split=split,
        images=len(records),
        settings={"tuned_on": f"{len(tuning)} images of {TRAIN}", "chosen": _described(chosen)},
        rows=[_row(name, scores[name], chosen[name]) for name in methods],
        differences=[
            difference(a, b, metric, _interval(a, b, metric, scores, chosen, samples))
            for a, b in PAIRS
            if {a, b} <= set(methods)
            for metric in ("covering", "pri", "voi")
        ],
        notes=_notes(len(tuning)) + ([] if with_ucm else ["No precomputed gPb-UCM contours in this data."]),
        plots={"examples.png": _examples(records[:: max(1, len(records) // EXAMPLES)][:EXAMPLES], chosen)},
        readings=_ladder(found, scores, chosen, samples) if with_ladder else (),
    )


def _methods(text: str) -> list[str]:
    """Return the methods named, in their order in the table."""
    names = text.split(",")
    if not set(names) <= set(METHODS) or "torque" not in names:
        raise ValueError(f"methods must be torque and some of {', '.join(METHODS)}, got {text}")
    return [name for name in METHODS if name in names]


def _ladder(
    found: Scores, scores: Mapping[str, Sequence[RegionScores]], chosen: Mapping[str, Choice], samples: int
) -> list[dict[str, object]]:
    return ladder_rows(
        {variant: coverings(found[PAPER_FORM, variant]) for variant in METHODS[PAPER_FORM]},
        chosen[PAPER_FORM],
        coverings(scores["ncut"])[:, chosen["ncut"].place],
        samples,
    )


def _ucm_path(record: datasets.BerkeleyImage) -> Path:
    split = record.image_path.parent
    return split.parent.parent / "ucm" / split.name / f"{record.name}.png"


def _files(record: datasets.BerkeleyImage, with_ucm: bool) -> list[Path]:
    return [record.image_path, *record.truth_paths, *([_ucm_path(record)] if with_ucm else [])]


def _image(record: datasets.BerkeleyImage) -> CheckedImage:
    path = _ucm_path(record)
    return CheckedImage(record.image(), read_image(path) if path.is_file() else None)


def _gather(
    records: Sequence[datasets.BerkeleyImage], variants: Sequence[tuple[str, str]], jobs: int, label: str
) -> Scores:
    """Score variants of methods on every image."""
    found = list(each(partial(_score, variants=variants), records, jobs, label))
    return {key: [scores[key] for scores in found] for key in variants}


def _score(record: datasets.BerkeleyImage, variants: Sequence[tuple[str, str]]) -> dict[tuple[str, str], RegionScores]:
    image, truths = _image(record), [person.segmentation for person in record.annotations()]
    scores = {}
    for name, variant in variants:
        method = METHODS[name][variant]
        scores[name, variant] = evaluation.region_scores(method.segment(image), truths, thresholds=method.values)
    return scores


def choose(scores: Scores) -> dict[str, Choice]:
    """Return for each method the variant and the value of its parameter that cover best."""
    chosen: dict[str, tuple[float, Choice]] = {}
    for (name, variant), found in scores.items():
        means = coverings(found).mean(axis=0)
        place = int(means.argmax())
        if name not in chosen or means[place] > chosen[name][0]:
            chosen[name] = (float(means[place]), Choice(variant, place))
    return {name: choice for name, (_, choice) in chosen.items()}


def coverings(scores: Sequence[RegionScores]) -> FloatArray:
    """Return the covering of each image at each value of the parameter."""
    return np.array([score.covered / score.area for score in scores])


def _metric(scores: Sequence[RegionScores], metric: str) -> FloatArray:
    if metric == "covering":
        return coverings(scores)
    return np.array([score.rand_index if metric == "pri" else score.variation_of_information for score in scores])


def _row(name: str, scores: Sequence[RegionScores], choice: Choice) -> Row:
    cover = coverings(scores)
    method = METHODS[name][choice.variant]
    return {
        "method": name,
        **{metric: float(_metric(scores, metric)[:, choice.place].mean()) for metric in ("covering", "pri", "voi")},
        "covering_ods": float(cover.mean(axis=0).max()),
        "covering_ois": float(cover.max(axis=1).mean()),
        "covering_best": float(np.mean([score.best_covered / score.area for score in scores])),
        "chosen": ", ".join(filter(None, [choice.variant, f"{method.parameter} {method.values[choice.place]:g}"])),
        "paper": PAPER.get(name),
    }


def _interval(
    a: str,
    b: str,
    metric: str,
    scores: Mapping[str, Sequence[RegionScores]],
    chosen: Mapping[str, Choice],
    samples: int,
) -> evaluation.Difference:
    first, second = (_metric(scores[name], metric)[:, chosen[name].place] for name in (a, b))
    return evaluation.bootstrap_difference(first, second, samples=samples)


def _described(chosen: Mapping[str, Choice]) -> dict[str, dict[str, object]]:
    found = {}
    for name, choice in chosen.items():
        method = METHODS[name][choice.variant]
        found[name] = {
            "variant": choice.variant,
            method.parameter: method.values[choice.place],
            "of": list(method.values),
        }
    return found


def _notes(tuned: int) -> list[str]:
    return [
        f"Parameters and variants were chosen for the best covering on {tuned} training images; covering, pri and voi "
        "are at that one choice. covering_ods, _ois and _best choose on the images reported on. Scores are means over "
        "images.",
        "torque is `segment_regions`: colour models at torque extrema, a cut with many labels whose links follow edges "
        "strengthened by torque, merging by those edges, colour and texture. torque-paper stops after the cut, has "
        "links by colour alone, unit forces, and extrema ranked by torque.",
        "control:grid has a blind grid of as many patches in place of the extrema; control:torque+gradient plain edges "
        "in place of the strengthened ones; control:grid+gradient both, and so knows no torque at all. torque+grid has "
        "the extrema and the grid's patches together, twice as many.",
        "The weights of merging were chosen on 100 training images for the method torque; the controls use the same.",
        "reference:gpb-ucm: the contours that the authors of gPb-OWT-UCM published, cut at one threshold; their "
        "detector was trained on these training images.",
        "torque-paper is one reading of the paper, which names no numbers; the ladder has others, with their gain over "
        "the normalised cut.",
        "The paper's numbers are of its own selection of Berkeley images and its own normalised cut.",
    ]


def _examples(records: Sequence[datasets.BerkeleyImage], chosen: Mapping[str, Choice]) -> bytes:
    rows = []
    for record in records:
        image = record.image()
        checked = CheckedImage(image)
        people = record.annotations()
        human = max(people, key=lambda person: sum(_agreement(person, other) for other in people))
        cells = [("people", _painted(image, human.segmentation.astype(np.int64)))]
        for name in (name for name in SHOWN if name in chosen):
            choice = chosen[name]
            labels = METHODS[name][choice.variant].segment(checked)[choice.place]
            score = evaluation.region_scores([labels], [person.segmentation for person in people])
            cells.append((f"{name}  {score.covered[0] / score.area:.2f}", _painted(image, labels)))
        rows.append(cells)
    buffer = io.BytesIO()
    PillowImage.fromarray(labelled_sheet(rows)).quantize(255).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def _agreement(a: datasets.berkeley.Annotation, b: datasets.berkeley.Annotation) -> float:
    return evaluation.covering(a.segmentation, b.segmentation)


def _painted(image: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return regions in their mean colours, at half the size, with white borders."""
    numbers = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    checked = mean_colour_image(image, numbers)[::2, ::2]
    small = numbers[::2, ::2]
    border = np.zeros(small.shape, bool)
    border[:, 1:] |= small[:, 1:] != small[:, :-1]
    border[1:] |= small[1:] != small[:-1]
    checked[border] = 255
    return checked
