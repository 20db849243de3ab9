"""Regions of the Berkeley images, beside normalised cuts, Felzenszwalb's method and blind controls (Sec. 4.3).

Every method has one parameter that is swept, some also variants. Both are chosen on images of "train", once for all, by
the covering; the table is of another split.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from imtorque import datasets, evaluation
from imtorque.core.types import FloatArray
from imtorque.evaluation import RegionScores
from imtorque.files import read_image
from imtorque.jobs.processes import each
from imtorque.render.regions import mean_colour_image
from imtorque_reproduce.plots import sheet_png
from imtorque_reproduce.regions.ablation import PAPER_FORM, Choice, ablation_rows
from imtorque_reproduce.regions.rows import METHODS, REFERENCE, RegionImage
from imtorque_reproduce.report import Report, Request, Row, checksum
from imtorque_reproduce.scoring import berkeley_files, compare, gather, stride

TRAIN, SPLIT = "train", "val"
TUNING_STEP = 8  # every so many-th training image serves to choose parameters; bound: time
PAPER_COVERING = {"torque-paper": 0.429, "ncut": 0.390}  # covering, Sec. 4.3.1
PAIRS = (
    *(("torque", other) for other in ("ncut", "felzenszwalb", "torque-paper", "control:grid", REFERENCE)),
    *(("torque+grid", other) for other in ("torque", "control:grid")),
    *(("torque", f"control:{places}+gradient") for places in ("torque", "grid")),
    *((form, other) for form in ("torque-paper", "torque-frozen") for other in ("ncut", "control:grid-paper")),
    ("control:grid", REFERENCE),
)
SHOWN = ("torque", "torque+grid", "control:grid", "ncut", "felzenszwalb")
REGION_EXAMPLES = 5  # images in the plot; convention
METRICS = ("covering", "pri", "voi")
Scores = dict[tuple[str, str], list[RegionScores]]  # by method and variant


def run(request: Request) -> Report:
    """Choose on training images, score on the others, and report."""
    request.require_options(["every", "samples", "methods"])
    root, split = request.berkeley(), request.split or SPLIT
    samples = request.number("samples", 2000)
    tuning = datasets.bsds500(root, TRAIN)[:: request.number("every", TUNING_STEP)][: request.limit]
    records = datasets.bsds500(root, split)[: request.limit]
    every = [*tuning, *records]
    with_ucm = all(_ucm_path(record).is_file() for record in every)
    methods = [name for name in request.names("methods", METHODS, "torque") if with_ucm or name != REFERENCE]
    chosen = choose(_score_all(tuning, [(name, v) for name in methods for v in METHODS[name]], request.jobs, TRAIN))
    kept = dict.fromkeys((name, choice.variant) for name, choice in chosen.items())
    with_ablation = {PAPER_FORM, "ncut"} <= set(methods)
    if with_ablation:
        kept |= dict.fromkeys((PAPER_FORM, variant) for variant in METHODS[PAPER_FORM])
    found = _score_all(records, list(kept), request.jobs, split)
    scores = {name: found[name, choice.variant] for name, choice in chosen.items()}
    by_metric = {
        metric: {name: _metric(own, metric)[:, chosen[name].place] for name, own in scores.items()}
        for metric in METRICS
    }
    readings = []
    if with_ablation:
        variants = {variant: coverings(found[PAPER_FORM, variant]) for variant in METHODS[PAPER_FORM]}
        readings = ablation_rows(variants, chosen[PAPER_FORM], by_metric["covering"]["ncut"], samples)
    return Report(
        data=root.name,
        data_sha256=checksum(_files(every, with_ucm), root),
        split=split,
        images=len(records),
        settings={"tuned_on": f"{len(tuning)} images of {TRAIN}", "chosen": _describe(chosen)},
        rows=[_row(name, scores[name], chosen[name]) for name in methods],
        differences=[
            one
            for pair in PAIRS
            for metric, values in by_metric.items()
            for one in compare(values, [pair], metric, samples=samples)
        ],
        notes=_notes(len(tuning)) + ([] if with_ucm else ["No precomputed gPb-UCM contours in this data."]),
        plots={"examples.png": _examples(stride(records, REGION_EXAMPLES), chosen)},
        readings=readings,
    )


def _ucm_path(record: datasets.BerkeleyImage) -> Path:
    split = record.image_path.parent
    return split.parent.parent / "ucm" / split.name / f"{record.name}.png"


def _files(records: Sequence[datasets.BerkeleyImage], with_ucm: bool) -> list[Path]:
    return berkeley_files(records) + ([_ucm_path(record) for record in records] if with_ucm else [])


def _image(record: datasets.BerkeleyImage) -> RegionImage:
    path = _ucm_path(record)
    return RegionImage(record.image(), read_image(path) if path.is_file() else None)


def _score_all(
    records: Sequence[datasets.BerkeleyImage], variants: Sequence[tuple[str, str]], jobs: int, label: str
) -> Scores:
    """Score variants of methods on every image."""
    return gather(list(each(partial(_score, variants=variants), records, jobs, label)))


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
        **{metric: float(_metric(scores, metric)[:, choice.place].mean()) for metric in METRICS},
        "covering_ods": float(cover.mean(axis=0).max()),
        "covering_ois": float(cover.max(axis=1).mean()),
        "covering_best": float(np.mean([score.best_covered / score.area for score in scores])),
        "chosen": ", ".join(filter(None, [choice.variant, f"{method.parameter} {method.values[choice.place]:g}"])),
        "paper": PAPER_COVERING.get(name),
    }


def _describe(chosen: Mapping[str, Choice]) -> dict[str, dict[str, object]]:
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
        "torque-paper is one reading of the paper, which names no numbers; the ablation has others, with their gain "
        "over the normalised cut.",
        "torque-frozen: another reading, the best of combinations of the open choices on 10 training images, frozen "
        "before these images were scored (`regions-readings`).",
        "The paper's numbers are of its own selection of Berkeley images and its own normalised cut.",
    ]


def _examples(records: Sequence[datasets.BerkeleyImage], chosen: Mapping[str, Choice]) -> bytes:
    rows = []
    for record in records:
        image = record.image()
        checked = RegionImage(image)
        people = record.annotations()
        human = max(people, key=lambda person: sum(_agreement(person, other) for other in people))
        cells = [("people", _painted(image, human.segmentation.astype(np.int64)))]
        for name in (name for name in SHOWN if name in chosen):
            choice = chosen[name]
            labels = METHODS[name][choice.variant].segment(checked)[choice.place]
            score = evaluation.region_scores([labels], [person.segmentation for person in people])
            cells.append((f"{name}  {score.covered[0] / score.area:.2f}", _painted(image, labels)))
        rows.append(cells)
    return sheet_png(rows, 255)


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
