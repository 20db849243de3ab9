"""Learn how much a contour looks like an object: the weights of `imtorque.detection.things`.

    python -m imtorque_reproduce.counting.weights --data DIR --out src/imtorque/finding/thing_weights.json

From the training images of labelled sets (eight each) and from drawn scenes. A contour whose box overlaps that of a
marked object by 0.6 is one, by less than 0.4 is none. Every set counts alike, and in it objects and others. The first
look's odds, which the second takes up, come from rules that did not see the image. There are rules for sizes that are
given, for unknown ones, and for those that the latter found in the image; these learn from given sizes as well,
without which they do worse on sets they have not seen. Sets whose licence is not stated are not used: pass --sets to
change that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque.core.types import FloatArray
from imtorque.datasets.counting import counting_sets
from imtorque.detection.blobs import SPARED, Search, find_contours, size_range, standing, usual_sizes
from imtorque.detection.contours import Contours
from imtorque.detection.things import BESIDE, FARTHEST, MEASURES, Look, SizesKnown, first_measures, second_measures
from imtorque.evaluation.counting import box_iou
from imtorque.io.atomic import write_text
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import marked_sizes

SETS = "blood_cells,nuclei-fluorescence,nuclei-grey,nuclei-stained"
RIGHT, WRONG, IGNORED = 0.6, 0.4, 0.3  # overlaps of boxes from which a contour is an object, is none, is set aside
KNOWN: tuple[SizesKnown, ...] = ("given", "unknown", "found")  # sizes are found by the rules for unknown ones
FOLDS = 4
PENALTY = 1.0  # of the weights' squares, for one case in all
DRAWN = 48  # scenes
DRAWN_SHARE = 1.0  # of what a set of photographs counts


@dataclass(frozen=True)
class Case:
    """One image: its candidates, what is measured of them first, and whether each is an object (NaN: who knows)."""

    group: str
    contours: Contours
    shape: tuple[int, int]
    measures: FloatArray
    thing: FloatArray


@dataclass(frozen=True)
class Scene:
    """An image with the boxes of its objects and of what is to be ignored, and the range of sizes to look in."""

    group: str
    image: NDArray[Any]
    boxes: FloatArray
    ignored: FloatArray
    sizes: tuple[float, float]


def scenes_of(data: Path, names: Sequence[str]) -> Iterator[Scene]:
    """Yield the training images of the sets, then drawn scenes."""
    for part in counting_sets(data):
        if part.name in names:
            sizes = marked_sizes(part.training)
            for record in part.training:
                yield Scene(part.name, record.image(), record.boxes, record.ignored, sizes)
    for seed in range(DRAWN):
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


def make_case(scene: Scene, known: SizesKnown, rules: tuple[Look, Look] | None = None) -> Case:
    """Find and measure the candidates of a scene.

    Sizes to be found are those of the objects that stand by the rules for unknown sizes.
    """
    shape: tuple[int, int] = scene.image.shape[:2]
    search = Search(scene.sizes if known == "given" else size_range(shape, None), known="unknown")
    contours, _, grey = find_contours(scene.image, search)
    if known == "found":
        found = standing(contours, search=search, shape=shape, grey=grey, rules=rules)
        search = replace(search, range=usual_sizes(found)) if len(found) else search
    diameter = contours.diameter
    contours = contours[(diameter >= SPARED * search.range[0]) & (diameter <= search.range[1] / SPARED)]
    sizes = None if known == "unknown" else search.range
    measures = first_measures(contours, shape, sizes, grey, False) if len(contours) else np.zeros((0, len(MEASURES)))
    return Case(scene.group, contours, shape, measures, _things(contours, scene, sizes if known == "given" else None))


def _things(contours: Contours, scene: Scene, sizes: tuple[float, float] | None) -> FloatArray:
    """Return 1 for contours of objects of the sizes wanted, 0 for others, NaN where it cannot be said."""
    boxes = scene.boxes
    if sizes is not None:
        side = np.sqrt((boxes[:, 2:] - boxes[:, :2]).prod(axis=1))
        boxes = boxes[(side >= SPARED * sizes[0]) & (side <= sizes[1] / SPARED)]
    y, x = contours.y, contours.x
    own = np.stack([y.min(axis=1), x.min(axis=1), y.max(axis=1) + 1, x.max(axis=1) + 1], axis=1)
    overlap = box_iou(own, boxes).max(axis=1, initial=0)
    unknown = box_iou(own, scene.ignored).max(axis=1, initial=0) > IGNORED
    return np.where(unknown, np.nan, np.select([overlap >= RIGHT, overlap < WRONG], [1.0, 0.0], np.nan))


def learn_look(cases: Sequence[Case], measures: Sequence[FloatArray]) -> Look:
    """Return the logistic rule that tells objects from other contours."""
    from sklearn.linear_model import LogisticRegression

    values, things = np.concatenate(measures), np.concatenate([case.thing for case in cases])
    weight = np.concatenate([np.full(len(case.thing), i) for i, case in enumerate(cases)])
    weight = _case_weights([case.group for case in cases], weight.astype(int), things)
    known = np.isfinite(things)
    measured = ~np.isnan(values).all(axis=0)
    mean, spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
    mean[measured] = np.nanmean(values[known][:, measured], axis=0)
    spread[measured] = np.maximum(np.nanstd(values[known][:, measured], axis=0), 1e-9)
    standard = np.nan_to_num(np.clip((values - mean) / spread, -FARTHEST, FARTHEST))
    rule = LogisticRegression(C=PENALTY, max_iter=3000)
    rule.fit(standard[known], things[known], sample_weight=weight[known] * known.sum() / weight[known].sum())
    return Look(mean, spread, rule.coef_[0], float(rule.intercept_[0]))


def _case_weights(groups: Sequence[str], case: NDArray[np.int64], things: FloatArray) -> FloatArray:
    """Return weights by which every set counts alike, and in it objects as much as others."""
    group = np.array(groups)[case]
    weight = np.zeros(len(things))
    for name in sorted(set(groups)):
        for kind in (0, 1):
            members = (group == name) & (things == kind)
            weight[members] = (DRAWN_SHARE if name == "drawn" else 1.0) / max(members.sum(), 1)
    return weight


def learn_looks(cases: Sequence[Case], of_one_image: int = 1) -> tuple[Look, Look]:
    """Return both rules; the second learns from first looks at images that the first rule did not see.

    Cases of one image, so many of them, follow each other.
    """
    folds = np.arange(len(cases)) // of_one_image % FOLDS
    beside = []
    rules = [_first_rule([c for c, f in zip(cases, folds, strict=True) if f != fold]) for fold in range(FOLDS)]
    for case, fold in zip(cases, folds, strict=True):
        odds = rules[fold](case.measures)
        beside.append(
            second_measures(case.contours, odds, case.shape, False) if len(odds) else np.zeros((0, len(BESIDE)))
        )
    return _first_rule(cases), learn_look(cases, beside)


def in_turn(*lists: Sequence[Case]) -> list[Case]:
    """Return the cases of lists over the same images, those of one image side by side."""
    return [case for of_image in zip(*lists, strict=True) for case in of_image]


def _first_rule(cases: Sequence[Case]) -> Look:
    return learn_look(cases, [case.measures for case in cases])


def described(look: Look, names: Sequence[str]) -> Mapping[str, Any]:
    """Return a rule as `Look.from_dict` reads it."""
    columns = zip(look.mean, look.spread, look.weight, strict=True)
    rows = {name: [float(f"{v:.4g}") for v in column] for name, column in zip(names, columns, strict=True)}
    return {"bias": round(look.bias, 4), "measures": rows}


def main(
    data: Annotated[Path, typer.Option(help="Folder of the labelled sets.")],
    out: Annotated[Path, typer.Option(help="JSON file to write.")],
    sets: Annotated[str, typer.Option(help="Sets to learn from.")] = SETS,
    jobs: Annotated[int, typer.Option(help="Images worked on at a time.")] = 1,
) -> None:
    """Learn the weights from training images and drawn scenes, and write them."""
    scenes = list(scenes_of(data, sets.split(",")))
    rules: dict[SizesKnown, tuple[Look, Look]] = {}
    cases: dict[SizesKnown, list[Case]] = {}
    for known in KNOWN:
        task = partial(make_case, known=known, rules=rules.get("unknown"))
        cases[known] = list(each(task, scenes, jobs, known))
        learned_from = [cases["given"], cases["found"]] if known == "found" else [cases[known]]
        rules[known] = learn_looks(in_turn(*learned_from), len(learned_from))
    learned = {
        known: {"first": described(first, MEASURES), "second": described(second, BESIDE)}
        for known, (first, second) in rules.items()
    }
    write_text(out, json.dumps(learned, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
