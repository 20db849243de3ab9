"""Learn the two-stage scores of contours: the weights of `imtorque.detection.scoring`.

    python -m imtorque_reproduce.counting.weights --data DIR --out src/imtorque/io/weights/contour.json
    python -m imtorque_reproduce.counting.weights --data DIR --out src/imtorque/io/weights/contour_noisy.json --noisy

From the training images of labelled sets (eight each) and from drawn scenes. A contour whose box overlaps that of an
annotated object by 0.6 is one, by less than 0.4 is none. Every set counts alike, and in it objects and others. The
unary logits, which the context model takes up, come from models that did not see the image. There are models for sizes
that are given, for unknown ones, and for those that the latter found in the image; these learn from given sizes as
well, without which they do worse on sets they have not seen. With --noisy the images are the copies that finders
learn from too, in noise and uneven light. Sets whose licence is not stated are not used: pass --sets to change that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque.core.logistic import LogisticModel, standardised
from imtorque.core.types import FloatArray
from imtorque.datasets.counting import counting_sets
from imtorque.detection.augmentation import augmented
from imtorque.detection.blobs import SIZE_SLACK, scored_and_selected, size_range, usual_sizes
from imtorque.detection.contour_features import CONTEXT_FEATURES, UNARY_FEATURES, context_features, unary_features
from imtorque.detection.contour_proposals import Search, propose_contours
from imtorque.detection.proposals import Proposals
from imtorque.detection.scoring import ContourScorer, SizesKnown
from imtorque.evaluation.counting import box_iou
from imtorque.images import CheckedImage
from imtorque.io.atomic import write_text
from imtorque.io.weights import weights_text
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import marked_sizes
from imtorque_reproduce.report import provenance

SETS = "blood_cells,nuclei-fluorescence,nuclei-grey,nuclei-stained"
# Of boxes: from here an object, below none, from here set aside; unrecorded.
OBJECT_IOU, OTHER_IOU, IGNORED_IOU = 0.6, 0.4, 0.3
KNOWN: tuple[SizesKnown, ...] = ("given", "unknown", "found")  # sizes are found by the scorer for unknown ones
PROPOSAL_FEATURE_LIMIT = 4.0  # standard deviations at which features are clipped; untuned
SCENE_FOLDS = 4  # of scenes: contexts are learned from logits of a model that has not seen theirs; bound: time
INVERSE_PENALTY = 1.0  # scikit-learn's C; convention of scikit-learn
DRAWN_SCENES = 48  # of drawn objects; untuned
DRAWN_SHARE = 1.0  # of what a set of photographs counts; untuned


@dataclass(frozen=True)
class Case:
    """One image: its contours, their unary features, and whether each is an object (NaN: not known)."""

    group: str
    contours: Proposals
    shape: tuple[int, int]
    features: FloatArray
    is_object: FloatArray


@dataclass(frozen=True)
class Scene:
    """An image with the boxes of its objects and of what is to be ignored, and the range of sizes to look in."""

    group: str
    image: Any
    boxes: FloatArray
    ignored: FloatArray
    sizes: tuple[float, float]


def scenes_of(data: Path, names: Sequence[str], noisy: bool = False) -> Iterator[Scene]:
    """Yield the training images of the sets, or noisy copies of them, then drawn scenes."""
    for part in counting_sets(data):
        if part.name in names:
            sizes = marked_sizes(part.training)
            for number, record in enumerate(part.training):
                image = augmented(record.image(), number) if noisy else record.image()
                yield Scene(part.name, image, record.boxes, record.ignored, sizes)
    for seed in range(DRAWN_SCENES):
        yield drawn_scene(seed)


def drawn_scene(seed: int) -> Scene:
    """Draw ellipses with noise, uneven light and a few lines: of one kind in even scenes, of all sizes in odd ones.

    In odd scenes small ones may lie in large ones. In every fourth, objects of three times the size are looked for, and
    none is there; every eighth is uneven light alone. Nothing else is an object.
    """
    rng = np.random.default_rng(seed)
    if seed % 8 == 5:
        return _uneven_light(rng)
    mixed = seed % 2 == 1
    side, typical = 320, float(rng.uniform(14, 48))
    y, x = np.mgrid[:side, :side].astype(np.float64)
    image = rng.uniform(0, 0.3) * (x * rng.uniform(-1, 1) + y * rng.uniform(-1, 1)) / side
    sign, boxes = rng.choice([-1, 1]), np.zeros((0, 4))
    diameters = typical * rng.uniform(0.8, 1.25, int(0.25 * side**2 / typical**2))
    if mixed:
        diameters = np.sort(np.exp(rng.uniform(np.log(12), np.log(110), 14)))[::-1]
    for diameter in diameters:
        centre = rng.uniform(0, side, 2)
        if mixed and diameter < 40 and len(boxes):  # in one of the large ones, as likely as not
            inside = boxes[rng.integers(len(boxes))]
            centre = rng.choice([centre, (inside[:2] + inside[2:]) / 2 + rng.uniform(-6, 6, 2)])
        ellipse = centre, diameter / 2, diameter / 2 * rng.uniform(0.6, 1), rng.uniform(0, np.pi)
        box = _ellipse_box(*ellipse)
        if not _fits(box, boxes, nested=mixed):
            continue
        image = image + sign * rng.uniform(0.7, 1.2) * _ellipse(y, x, *ellipse)
        boxes = np.concatenate([boxes, [box]])
    for _ in range(6):  # lines
        angle, place = rng.uniform(0, np.pi), rng.uniform(-side / 2, side / 2)
        away = np.abs((x - side / 2) * np.sin(angle) - (y - side / 2) * np.cos(angle) - place)
        image = image + rng.uniform(-0.5, 0.5) * np.clip(2 - away, 0, 1)
    image = image + rng.normal(0, 1 / rng.choice([3, 5, 12, 50]), image.shape)
    sizes = (10.0, 120.0) if mixed else (0.6 * typical, 1.5 * typical)
    if seed % 4 == 2:
        sizes = (2.5 * typical, 5 * typical)
    return Scene("drawn", image, np.clip(boxes, 0, side), np.zeros((0, 4)), sizes)


def _uneven_light(rng: np.random.Generator) -> Scene:
    """Draw a slope, plane or bent, with little noise: no object."""
    side = int(rng.integers(120, 320))
    y, x = np.mgrid[:side, :side] / side
    slopes, bends = rng.uniform(-1, 1, 2), rng.choice([0, 0.5], 2) * rng.uniform(-1, 1, 2)
    image = slopes[0] * y + slopes[1] * x + bends[0] * (y + 1) ** 2 + bends[1] * (x + 1) ** 2
    image = image + rng.normal(0, rng.choice([1e-4, 1e-2]), image.shape)
    return Scene("drawn", image, np.zeros((0, 4)), np.zeros((0, 4)), (0.06 * side, 0.4 * side))


def _ellipse(y: FloatArray, x: FloatArray, centre: FloatArray, long: float, short: float, turn: float) -> FloatArray:
    """Return the coverage of an ellipse, its edge one pixel wide."""
    v, u = y - centre[0], x - centre[1]
    a, b = u * np.cos(turn) + v * np.sin(turn), v * np.cos(turn) - u * np.sin(turn)
    coverage: FloatArray = np.clip((1 - np.hypot(a / long, b / short)) * short + 0.5, 0, 1)
    return coverage


def _fits(box: FloatArray, boxes: FloatArray, nested: bool) -> bool:
    """Return whether an object lies apart from the others, or well inside one of at least twice its size."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    common = sides.clip(0).prod(axis=1)
    own, areas = (box[2:] - box[:2]).prod(), (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    central = np.all(np.abs((box[:2] + box[2:]) / 2 - middle) < 0.2 * (boxes[:, 2:] - boxes[:, :2]), axis=1)
    inside = nested & central & (areas >= 5 * own)
    return bool(np.all((common <= 0.05 * np.minimum(own, areas)) | inside))


def _ellipse_box(centre: FloatArray, long: float, short: float, turn: float) -> FloatArray:
    reach = np.hypot([long * np.sin(turn), long * np.cos(turn)], [short * np.cos(turn), short * np.sin(turn)])
    box: FloatArray = np.concatenate([centre - reach, centre + reach]) + 0.5
    return box


def make_case(scene: Scene, known: SizesKnown, scorer: ContourScorer | None = None) -> Case:
    """Find the contours of a scene, with their unary features.

    Sizes to be found are those of the objects selected by the scorer for unknown sizes.
    """
    shape = CheckedImage(scene.image).shape
    search = Search(scene.sizes if known == "given" else size_range(shape, None), known="unknown")
    contours, _, grey = propose_contours(scene.image, search)
    if known == "found":
        found = scored_and_selected(contours, search=search, shape=shape, grey=grey, scorer=scorer)
        search = replace(search, range=usual_sizes(found)) if len(found) else search
    diameter = contours.diameter
    contours = contours[(diameter >= SIZE_SLACK * search.range[0]) & (diameter <= search.range[1] / SIZE_SLACK)]
    sizes = None if known == "unknown" else search.range
    n = len(contours)
    features = unary_features(contours, shape, sizes, grey, False) if n else np.zeros((0, len(UNARY_FEATURES)))
    return Case(scene.group, contours, shape, features, _objects(contours, scene, sizes if known == "given" else None))


def _objects(contours: Proposals, scene: Scene, sizes: tuple[float, float] | None) -> FloatArray:
    """Return 1 for contours of objects of the sizes wanted, 0 for others, NaN where it cannot be said."""
    boxes = scene.boxes
    if sizes is not None:
        side = np.sqrt((boxes[:, 2:] - boxes[:, :2]).prod(axis=1))
        boxes = boxes[(side >= SIZE_SLACK * sizes[0]) & (side <= sizes[1] / SIZE_SLACK)]
    y, x = contours.y, contours.x
    own = np.stack([y.min(axis=1), x.min(axis=1), y.max(axis=1) + 1, x.max(axis=1) + 1], axis=1)
    overlap = box_iou(own, boxes).max(axis=1, initial=0)
    unknown = box_iou(own, scene.ignored).max(axis=1, initial=0) > IGNORED_IOU
    return np.where(unknown, np.nan, np.select([overlap >= OBJECT_IOU, overlap < OTHER_IOU], [1.0, 0.0], np.nan))


def learn_model(cases: Sequence[Case], features: Sequence[FloatArray], names: tuple[str, ...]) -> LogisticModel:
    """Return the logistic model that tells objects from other contours."""
    from sklearn.linear_model import LogisticRegression

    values, objects = np.concatenate(features), np.concatenate([case.is_object for case in cases])
    case_of = np.concatenate([np.full(len(case.is_object), i) for i, case in enumerate(cases)]).astype(int)
    weight = _case_weights([case.group for case in cases], case_of, objects)
    known = np.isfinite(objects)
    measured = ~np.isnan(values).all(axis=0)
    mean, spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
    mean[measured] = np.nanmean(values[known][:, measured], axis=0)
    spread[measured] = np.maximum(np.nanstd(values[known][:, measured], axis=0), 1e-9)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=3000)
    sample_weight = weight[known] * known.sum() / weight[known].sum()
    model.fit(
        standardised(values, mean, spread, PROPOSAL_FEATURE_LIMIT)[known], objects[known], sample_weight=sample_weight
    )
    return LogisticModel(mean, spread, model.coef_[0], float(model.intercept_[0]), names, PROPOSAL_FEATURE_LIMIT)


def _case_weights(groups: Sequence[str], case: NDArray[np.int64], objects: FloatArray) -> FloatArray:
    """Return weights by which every set counts alike, and in it objects as much as others."""
    group = np.array(groups)[case]
    weight = np.zeros(len(objects))
    for name in sorted(set(groups)):
        for kind in (0, 1):
            members = (group == name) & (objects == kind)
            weight[members] = (DRAWN_SHARE if name == "drawn" else 1.0) / max(members.sum(), 1)
    return weight


def learn_scorer(cases: Sequence[Case], of_one_image: int = 1) -> ContourScorer:
    """Return both models; the second learns from unary logits of images that the first model did not see.

    Cases of one image, so many of them, follow each other.
    """
    folds = np.arange(len(cases)) // of_one_image % SCENE_FOLDS
    others = [_unary_model([c for c, f in zip(cases, folds, strict=True) if f != fold]) for fold in range(SCENE_FOLDS)]
    context = []
    for case, fold in zip(cases, folds, strict=True):
        logit = others[fold].logit(case.features)
        none = np.zeros((0, len(CONTEXT_FEATURES)))
        context.append(context_features(case.contours, logit, case.shape, False) if len(logit) else none)
    return ContourScorer(_unary_model(cases), learn_model(cases, context, CONTEXT_FEATURES))


def in_turn(*lists: Sequence[Case]) -> list[Case]:
    """Return the cases of lists over the same images, those of one image side by side."""
    return [case for of_image in zip(*lists, strict=True) for case in of_image]


def _unary_model(cases: Sequence[Case]) -> LogisticModel:
    return learn_model(cases, [case.features for case in cases], UNARY_FEATURES)


def main(
    data: Annotated[Path, typer.Option(help="Folder of the labelled sets.")],
    out: Annotated[Path, typer.Option(help="JSON file to write.")],
    sets: Annotated[str, typer.Option(help="Sets to learn from.")] = SETS,
    noisy: Annotated[bool, typer.Option("--noisy", help="Learn from copies in noise and uneven light.")] = False,
    jobs: Annotated[int, typer.Option(help="Images worked on at a time.")] = 1,
) -> None:
    """Learn the weights from training images and drawn scenes, and write them."""
    scenes = list(scenes_of(data, sets.split(","), noisy))
    scorers: dict[SizesKnown, ContourScorer] = {}
    cases: dict[SizesKnown, list[Case]] = {}
    for known in KNOWN:
        task = partial(make_case, known=known, scorer=scorers.get("unknown"))
        cases[known] = list(each(task, scenes, jobs, known))
        learned_from = [cases["given"], cases["found"]] if known == "found" else [cases[known]]
        scorers[known] = learn_scorer(in_turn(*learned_from), len(learned_from))
    models: dict[str, Any] = {
        known: {"unary": s.unary.to_dict(4), "context": s.context.to_dict(4)} for known, s in scorers.items()
    }
    command = f"python -m imtorque_reproduce.counting.weights --data DIR --out FILE --sets {sets}{' --noisy' * noisy}"
    images = f"eight images each{', copies in noise and uneven light' * noisy}"
    origin = provenance(
        data=f"{sets} ({images}) and {DRAWN_SCENES} drawn scenes",
        split="train",
        command=command,
    )
    write_text(out, weights_text(models, origin))


if __name__ == "__main__":
    typer.run(main)
