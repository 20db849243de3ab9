"""Training images as examples; proposal kinds and threshold chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array, FloatArray, IntArray
from imtorque.detection.annotations import Annotations
from imtorque.detection.assignment import Assignment, assign
from imtorque.detection.feature_maps import FeatureMaps, ObjectSizes
from imtorque.detection.features import FeatureTable, measure_features
from imtorque.detection.forest import grow_forest
from imtorque.detection.proposal_kinds import PROPOSAL_KINDS, Source, propose
from imtorque.detection.selection import select_set

CV_FOLDS = 4  # bound: of the time to train; convention
CV_TREES, CV_ROWS = 40, 8000  # of a forest that is grown to choose settings; bound: time
SCORE_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)  # that cross-validation chooses from; convention: a grid
USUAL_THRESHOLD = 0.33  # tuned on halves of the counting sets' training images, with what follows
# Where one image alone is learned from, this threshold counts as so many of its objects: what is unlike them is scored
# lower. Tuned on blood cells and nuclei, learned from one training image each and counted on the seven others.
LONE_THRESHOLD, LONE_OBJECTS = 0.2, 25
# That the usual threshold counts as: few objects do not tell thresholds apart; tuned with USUAL_THRESHOLD.
PRIOR_OBJECTS = 800
OBJECT_COSTS = (0.4, 1.0)  # of a further object, as parts of the threshold; convention: a grid
COUNT_PENALTY = 0.25  # in F1, of counts that are wrong by their whole; unrecorded
MAX_SHARED = 0.3  # of the smaller proposal that two may share; unrecorded
CLICKED_SHARE = 0.5  # of the score of clicked objects, from which on others are taken; unrecorded
NEGATIVE_WEIGHT = 4.0  # of a proposal that was annotated as no object, beside one that was not annotated; unrecorded
LEVEL_GAP = 0.01  # of scores; tuned on halves of the counting sets' training images, as a gap or standard errors
KIND_SETS = (  # the simplest first: among kinds that are level the earlier ones are taken
    ("threshold",),
    ("torque",),
    ("torque", "threshold"),
    ("torque", "threshold", "log", "radial"),
)


@dataclass(frozen=True)
class Examples:
    """The proposals of one form of a training image, with features, and what each is worth.

    `number` is that of the image; of its forms the first is the image as it is, others are augmented copies. `room` is
    how many objects it has room for.
    """

    table: FeatureTable
    assignment: Assignment
    number: int
    room: float


ExamplesByKinds = Mapping[tuple[str, ...], Examples]


def examples_of(
    maps: FeatureMaps,
    annotations: Annotations,
    number: int,
    sizes: ObjectSizes,
    sources: Sequence[Source],
    kind_sets: Iterable[tuple[str, ...]],
) -> ExamplesByKinds:
    """Return the proposals of each set of kinds in one form of a training image, at its working size.

    Torque is a feature only where it is a kind.
    """
    proposals = propose(maps, sizes, sources)
    found = {}
    for kinds in kind_sets:
        wanted = [place for place, source in enumerate(sources) if source.kind in kinds]
        chosen = proposals[np.isin(proposals.source, wanted)]
        table = measure_features(maps, sizes, chosen, sources, torque="torque" in kinds)
        assigned = assign(table, annotations, maps.shape, maps.diameter)
        found[kinds] = Examples(table, assigned, number, maps.room)
    return found


@dataclass(frozen=True)
class BestParams:
    """What cross-validation chose, and how well it did.

    Parameters
    ----------
    kinds, threshold, cost
        The proposal kinds, the score from which on proposals are taken, and what a further object costs.
    f1, f1_iou
        F1 by place, and by overlap of at least one half. With a few clicks, the part of them that was found.
    count_error, count_bias, mean_count
        Means over the images of |found - annotated|, of found - annotated, and of annotated.
    smooth_score
        What settings were compared by.
    """

    kinds: tuple[str, ...]
    threshold: float
    cost: float
    f1: float
    f1_iou: float
    count_error: float
    count_bias: float
    mean_count: float
    smooth_score: float = 0.0

    def checked(self) -> BestParams:
        """Return parameters that cross-validation can choose, else raise: files can hold anything."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "kinds"}
        for name, number in numbers.items():
            if not isinstance(number, int | float) or not math.isfinite(number):
                raise ValueError(f"{name} of {number!r:.80}")
        if not self.kinds or not set(self.kinds) <= set(PROPOSAL_KINDS):
            raise ValueError(f"kinds of {self.kinds!r:.80}")
        return self


@dataclass(frozen=True)
class CVResult:
    """What some proposal kinds reach at their best threshold and cost.

    `counts` has a row for each image, as `Assignment.counts` gives it; `values` are the scores of the examples'
    proposals by forests that did not see their image.
    """

    params: BestParams
    counts: FloatArray
    examples: list[Examples]
    values: list[FloatArray]


def cross_validate(
    training: Sequence[ExamplesByKinds], kind_sets: Sequence[tuple[str, ...]]
) -> tuple[BestParams, list[Examples], list[FloatArray]]:
    """Return the kinds, threshold and cost that serve best on images not learned from; those examples and scores."""
    results = []
    for kinds in kind_sets:
        examples = [form[kinds] for form in training]
        if any(len(part.table.proposals) for part in examples):
            values = out_of_fold(examples)
            params, counts = _best_params(examples, values, kinds)
            results.append(CVResult(params, counts, examples, values))
    if not results:
        raise ValueError(f"kinds must be of proposals that the images have, got none by {list(kind_sets)}")
    chosen = simplest_level(results)
    return chosen.params, chosen.examples, chosen.values


def simplest_level(results: Sequence[CVResult]) -> CVResult:
    """Return the first result that is level with the best: within `LEVEL_GAP` of its score.

    A few images do not say which of two kinds is better by a hundredth; then the simpler ones, which come first, are
    less likely to be better by chance. (Within one standard error of eight images a kind may lose five hundredths.)
    """
    scores = [_score(result.counts) for result in results]
    return next(result for result, score in zip(results, scores, strict=True) if score >= max(scores) - LEVEL_GAP)


def params_from_clicks(
    training: Sequence[ExamplesByKinds], kinds: tuple[str, ...]
) -> tuple[BestParams, list[Examples], list[FloatArray]]:
    """Return parameters where only some of the objects are annotated: learning from positive and unlabelled examples.

    A forest that takes the unlabelled for negatives gives every object a score in proportion to its probability to be
    one (Elkan and Noto 2008); the proportion is what the annotated ones get from forests that did not see them.
    Unlabelled proposals that get as much may be objects: they are set aside, unless they were annotated as negatives,
    and everything is done once more.
    """
    examples = [form[kinds] for form in training]
    if not any(len(part.table.proposals) for part in examples):
        raise ValueError(f"kinds must be of proposals that the images have, got none by {list(kinds)}")
    values = out_of_fold(examples)
    likely = CLICKED_SHARE * float(np.median(_best_of_annotated(examples, values)))
    examples = [_without_likely(e, value >= likely) for e, value in zip(examples, values, strict=True)]
    values = out_of_fold(examples)
    best = _best_of_annotated(examples, values)
    threshold = CLICKED_SHARE * float(np.median(best))
    found = float(np.mean(best >= threshold))
    mean = float(np.mean([part.assignment.annotated for part in examples]))
    cost = OBJECT_COSTS[0] * threshold
    return BestParams(kinds, threshold, cost, found, found, mean * (1 - found), 0.0, mean), examples, values


def _best_of_annotated(examples: Sequence[Examples], values: Sequence[FloatArray]) -> FloatArray:
    """Return for each annotated object that has proposals the highest score among them."""
    best = []
    for part, value in zip(examples, values, strict=True):
        place = part.assignment.overlap
        best += [value[place == number].max() for number in np.unique(place[place >= 0])]
    if not best:
        raise ValueError("proposals must be found at the clicks, got none at any")
    return np.asarray(best)


def _without_likely(examples: Examples, likely: NDArray[np.bool_]) -> Examples:
    """Return examples in which likely proposals without an annotation count neither way."""
    assigned = examples.assignment
    value = np.where(likely & (assigned.overlap < 0) & ~assigned.negative, np.nan, assigned.value)
    return replace(examples, assignment=replace(assigned, value=value))


def training_set(examples: Sequence[Examples]) -> tuple[Float32Array, FloatArray, FloatArray | None]:
    """Return features and values of all proposals, and weights where some were annotated as negatives."""
    features = np.concatenate([part.table.features for part in examples])
    values = np.concatenate([part.assignment.value for part in examples])
    negative = np.concatenate([part.assignment.negative for part in examples])
    return features, values, np.where(negative, NEGATIVE_WEIGHT, 1.0) if negative.any() else None


def out_of_fold(examples: Sequence[Examples]) -> list[FloatArray]:
    """Return every proposal's score by a forest that was not grown on its image (its strip, of a lone image)."""
    groups, parts = _groups(examples)
    features, values, weights = training_set(examples)
    known, predicted = np.isfinite(values), np.zeros(len(values))
    for fold in np.unique(groups):
        others = known & (groups != fold)
        if others.any():
            some = None if weights is None else weights[others]
            grown = grow_forest(features[others], values[others], some, trees=CV_TREES, max_rows=CV_ROWS)
            predicted[groups == fold] = grown(features[groups == fold])
    return np.split(predicted, np.cumsum(parts)[:-1])


def _groups(examples: Sequence[Examples]) -> tuple[IntArray, list[int]]:
    """Return each proposal's fold, all forms of an image in one, and how many proposals each form has."""
    parts = [len(part.table.proposals) for part in examples]
    numbers = np.array([part.number for part in examples])
    if numbers.max() > 0:
        return np.repeat(numbers % CV_FOLDS, parts), parts
    x = np.concatenate([part.table.proposals.outlines.polar[1] for part in examples])
    return np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x), parts


def _best_params(
    examples: Sequence[Examples], values: Sequence[FloatArray], kinds: tuple[str, ...]
) -> tuple[BestParams, FloatArray]:
    """Return the parameters with the best score, where a threshold's score is taken together with its neighbours'.

    A few images make scores jump from one threshold to the next; what is good nearby as well is good elsewhere. F1 and
    errors are those on the images as they are. The counts on each image, over all its forms, are returned too.
    """
    numbers = np.array([part.number for part in examples])
    table = [[_counts(examples, values, t, part * t) for t in SCORE_THRESHOLDS] for part in OBJECT_COSTS]
    scores = np.array([[_score(counts) for counts in row] for row in table])
    padded = np.pad(scores, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]) / 4
    row, column = np.unravel_index(smooth.argmax(), smooth.shape)
    plain = np.unique(numbers, return_index=True)[1]
    objects = sum(examples[form].assignment.annotated for form in plain)
    usual = usual_threshold(len(plain), objects)
    threshold = float(np.average([SCORE_THRESHOLDS[column], usual], weights=[objects, PRIOR_OBJECTS]))
    counts = _counts(examples, values, threshold, OBJECT_COSTS[row] * threshold)
    f1, f1_iou = _f1s(counts[plain])
    error, bias, mean = _count_errors(counts[plain])
    best = float(smooth.max())
    params = BestParams(kinds, threshold, OBJECT_COSTS[row] * threshold, f1, f1_iou, error, bias, mean, best)
    return params, np.array([counts[numbers == number].sum(axis=0) for number in np.unique(numbers)])


def usual_threshold(images: int, objects: int) -> float:
    """Return the threshold to which the best one is drawn, for so many training images with so many objects."""
    if images > 1:
        return USUAL_THRESHOLD
    return float(np.average([USUAL_THRESHOLD, LONE_THRESHOLD], weights=[objects, LONE_OBJECTS]))


def _counts(examples: Sequence[Examples], values: Sequence[FloatArray], threshold: float, cost: float) -> FloatArray:
    """Return for each image how many objects were met by place and by overlap, and how many found and annotated."""
    chosen = [select(e.table, v, threshold, cost) for e, v in zip(examples, values, strict=True)]
    return np.array([e.assignment.counts(c) for e, c in zip(examples, chosen, strict=True)], dtype=np.float64)


def _f1s(counts: FloatArray) -> tuple[float, float]:
    """Return F1 by place and by overlap, over the objects of all images together."""
    placed, overlapping, found, annotated = counts.sum(axis=0)
    total = max(found + annotated, 1)
    return float(2 * placed / total), float(2 * overlapping / total)


def _count_errors(counts: FloatArray) -> tuple[float, float, float]:
    """Return the means of |found - annotated|, of found - annotated, and of annotated."""
    errors = counts[:, 2] - counts[:, 3]
    return float(np.abs(errors).mean()), float(errors.mean()), float(counts[:, 3].mean())


def _score(counts: FloatArray) -> float:
    """Return what is made largest: the mean of both F1, less what too many or too few objects cost."""
    _, bias, mean = _count_errors(counts)
    return sum(_f1s(counts)) / 2 - COUNT_PENALTY * abs(bias) / max(mean, 1)


def select(table: FeatureTable, score: FloatArray, threshold: float, cost: float) -> NDArray[np.bool_]:
    """Return the heaviest set of the proposals that reach the threshold, where each adds its score less the cost.

    With scores that are probabilities to be right, a cost of half the F1 reached makes this the set with the largest
    expected F1; a smaller one prefers two halves to a doubtful whole.
    """
    weight = np.where(score >= threshold, score.astype(np.float64) - cost, 0.0)
    return select_set(weight, table.area, table.first, table.second, table.common, overlap=MAX_SHARED)
