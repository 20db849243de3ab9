"""What a finder learns from; and which kinds of candidates and threshold serve best, by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array, FloatArray, IntArray
from imtorque.detection.choice import choose_set
from imtorque.detection.features import Measured, measure
from imtorque.detection.forest import grow_forest
from imtorque.detection.planes import Planes, Sizes
from imtorque.detection.pool import SOURCES, Pool
from imtorque.detection.targets import Judged, judge
from imtorque.detection.truth import Marks

FOLDS = 8
TRIAL_TREES, TRIAL_ROWS = 40, 8000  # of a forest that is grown to choose settings
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
COSTS = (0.4, 1.0)  # of a further object, as parts of the threshold
BIAS_COST = 0.25  # in F1, of counts that are wrong by their whole
OVERLAP = 0.3  # of the smaller candidate that two may share
SURE = 0.5  # part of the value of marked objects from which on unmarked ones are taken
WRONG_WEIGHT = 4.0  # of a candidate that was marked as wrong, beside one that was not marked
KIND_SETS = (  # the plainest first: among kinds that are level the earlier ones are taken
    ("threshold",),
    ("torque",),
    ("torque", "threshold"),
    ("torque", "threshold", "log", "radial"),
)


@dataclass(frozen=True)
class Lesson:
    """A training image at its working size, with the marks on it and the candidates of all sources found in it."""

    planes: Planes
    marks: Marks
    pool: Pool

    def of_kinds(self, kinds: Iterable[str], sizes: Sizes) -> Example:
        """Return the candidates of these kinds, measured and judged; torque is measured only where it is a kind."""
        names = set(kinds)
        wanted = [number for number, source in enumerate(SOURCES) if source.kind in names]
        chosen = self.pool[np.isin(self.pool.source, wanted)]
        measured = measure(self.planes, sizes, chosen, torque="torque" in names)
        return Example(measured, judge(measured, self.marks, self.planes.shape, self.planes.diameter))


@dataclass(frozen=True)
class Example:
    """The candidates of one training image, and what each is worth."""

    measured: Measured
    judged: Judged


@dataclass(frozen=True)
class Setting:
    """What cross-validation chose, and how well it did.

    Parameters
    ----------
    kinds, threshold, cost
        The kinds of candidates, the worth from which on they are taken, and what a further object costs.
    f1, f1_iou
        F1 by place, and by overlap of at least one half. With a few clicks, the part of them that was found.
    count_error, count_bias, mean_count
        Means over the images of |found - marked|, of found - marked, and of marked.
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


@dataclass(frozen=True)
class Trial:
    """What some kinds of candidates reach at their best threshold and cost.

    `counts` has a row for each image, as `Judged.counts` gives it.
    """

    setting: Setting
    counts: FloatArray
    examples: list[Example]


def choose_setting(
    lessons: Sequence[Lesson], sizes: Sizes, kind_sets: Sequence[tuple[str, ...]]
) -> tuple[Setting, list[Example]]:
    """Return the kinds, threshold and cost that serve best on images not learned from; and those examples."""
    trials = []
    for kinds in kind_sets:
        examples = [lesson.of_kinds(kinds, sizes) for lesson in lessons]
        setting, counts = _best_setting(examples, out_of_fold(examples), kinds)
        trials.append(Trial(setting, counts, examples))
    if not trials:
        raise ValueError("kinds must name at least one kind of candidates, got none")
    chosen = plainest(trials)
    return chosen.setting, chosen.examples


def plainest(trials: Sequence[Trial]) -> Trial:
    """Return the first trial that is not worse than the best one by more than a standard error of their difference.

    A few images do not say which of two kinds is better by a hundredth; then the plainer ones, which come first, are
    less likely to be better by chance (the rule of one standard error, Breiman et al. 1984).
    """
    best = max(trials, key=lambda trial: trial.setting.smooth_score)
    return next(trial for trial in trials if trial is best or not _clearly_better(best.counts, trial.counts))


def _clearly_better(best: FloatArray, other: FloatArray) -> bool:
    """Return whether the first of two trials on the same images is better by more than one standard error.

    The error is the jackknife's: each image is left out in turn. One image says nothing about it, and the score
    alone decides.
    """
    n = len(best)
    if n == 1:
        return True
    left = np.array([_score(np.delete(best, i, axis=0)) - _score(np.delete(other, i, axis=0)) for i in range(n)])
    error = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    return bool(_score(best) - _score(other) > error)


def setting_from_clicks(
    lessons: Sequence[Lesson], sizes: Sizes, kinds: tuple[str, ...]
) -> tuple[Setting, list[Example]]:
    """Return a setting where only some of the objects were marked: then what was not may be an object as well.

    A forest that takes the unmarked for wrong gives every object a value in proportion to its chance to be one (Elkan
    and Noto 2008); the proportion is what the marked ones get from forests that did not see them. Unmarked candidates
    that get as much may be objects: they are set aside, unless they were marked as wrong, and everything is done once
    more.
    """
    examples = [lesson.of_kinds(kinds, sizes) for lesson in lessons]
    values = out_of_fold(examples)
    likely = SURE * float(np.median(_best_of_marked(examples, values)))
    examples = [_without_likely(e, value >= likely) for e, value in zip(examples, values, strict=True)]
    best = _best_of_marked(examples, out_of_fold(examples))
    threshold = SURE * float(np.median(best))
    found = float(np.mean(best >= threshold))
    marked = float(np.mean([example.judged.marked for example in examples]))
    return Setting(kinds, threshold, COSTS[0] * threshold, found, found, marked * (1 - found), 0.0, marked), examples


def _best_of_marked(examples: Sequence[Example], values: Sequence[FloatArray]) -> FloatArray:
    """Return for each marked object that has candidates the highest value among them."""
    best = []
    for example, value in zip(examples, values, strict=True):
        place = example.judged.overlap
        best += [value[place == number].max() for number in np.unique(place[place >= 0])]
    if not best:
        raise ValueError("candidates must be found at the clicks, got none at any")
    return np.asarray(best)


def _without_likely(example: Example, likely: NDArray[np.bool_]) -> Example:
    """Return an example in which likely candidates without a mark count neither way."""
    judged = example.judged
    value = np.where(likely & (judged.overlap < 0) & ~judged.wrong, np.nan, judged.value)
    return replace(example, judged=replace(judged, value=value))


def learned_from(examples: Sequence[Example]) -> tuple[Float32Array, FloatArray, FloatArray | None]:
    """Return features and values of all candidates, and weights where some are more than unmarked: marked as wrong."""
    features = np.concatenate([example.measured.features for example in examples])
    values = np.concatenate([example.judged.value for example in examples])
    wrong = np.concatenate([example.judged.wrong for example in examples])
    return features, values, np.where(wrong, WRONG_WEIGHT, 1.0) if wrong.any() else None


def out_of_fold(examples: Sequence[Example]) -> list[FloatArray]:
    """Return every candidate's value by a forest that was not grown on its image (its strip, of a lone image)."""
    groups, parts = _groups(examples)
    features, values, weights = learned_from(examples)
    known, predicted = np.isfinite(values), np.zeros(len(values))
    for fold in np.unique(groups):
        others = known & (groups != fold)
        if others.any():
            some = None if weights is None else weights[others]
            grown = grow_forest(features[others], values[others], some, trees=TRIAL_TREES, most_rows=TRIAL_ROWS)
            predicted[groups == fold] = grown(features[groups == fold])
    return np.split(predicted, np.cumsum(parts)[:-1])


def _groups(examples: Sequence[Example]) -> tuple[IntArray, list[int]]:
    parts = [len(example.measured.pool) for example in examples]
    if len(examples) > 1:
        folds = np.arange(len(examples)) % min(FOLDS, len(examples))
        return np.repeat(folds, parts), parts
    x = examples[0].measured.pool.x
    return np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x), parts


def _best_setting(
    examples: Sequence[Example], values: Sequence[FloatArray], kinds: tuple[str, ...]
) -> tuple[Setting, FloatArray]:
    """Return the setting with the best score, where a threshold's score is taken together with its neighbours'.

    A few images make scores jump from one threshold to the next; what is good nearby as well is good elsewhere. Its
    counts on each image are returned too.
    """
    table = [[_counts(examples, values, t, part * t) for t in THRESHOLDS] for part in COSTS]
    scores = np.array([[_score(counts) for counts in row] for row in table])
    padded = np.pad(scores, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]) / 4
    row, column = np.unravel_index(smooth.argmax(), smooth.shape)
    threshold, counts = THRESHOLDS[column], table[row][column]
    f1, f1_iou = _f1s(counts)
    error, bias, marked = _count_errors(counts)
    best = float(smooth.max())
    return Setting(kinds, threshold, COSTS[row] * threshold, f1, f1_iou, error, bias, marked, best), counts


def _counts(examples: Sequence[Example], values: Sequence[FloatArray], threshold: float, cost: float) -> FloatArray:
    """Return for each image how many objects were met by place and by overlap, and how many found and marked."""
    chosen = [chosen_of(e.measured, v, threshold, cost) for e, v in zip(examples, values, strict=True)]
    return np.array([e.judged.counts(c) for e, c in zip(examples, chosen, strict=True)], dtype=np.float64)


def _f1s(counts: FloatArray) -> tuple[float, float]:
    """Return F1 by place and by overlap, over the objects of all images together."""
    placed, overlapping, found, marked = counts.sum(axis=0)
    total = max(found + marked, 1)
    return float(2 * placed / total), float(2 * overlapping / total)


def _count_errors(counts: FloatArray) -> tuple[float, float, float]:
    """Return the means of |found - marked|, of found - marked, and of marked."""
    errors = counts[:, 2] - counts[:, 3]
    return float(np.abs(errors).mean()), float(errors.mean()), float(counts[:, 3].mean())


def _score(counts: FloatArray) -> float:
    """Return what is made largest: the mean of both F1, less what too many or too few objects cost."""
    _, bias, mean = _count_errors(counts)
    return sum(_f1s(counts)) / 2 - BIAS_COST * abs(bias) / max(mean, 1)


def chosen_of(measured: Measured, value: FloatArray, threshold: float, cost: float) -> NDArray[np.bool_]:
    """Return the best set of the candidates that reach the threshold, where each adds its value less the cost.

    With values that are chances to be right, a cost of half the F1 reached makes this the set with the largest expected
    F1; a smaller one prefers two halves to a doubtful whole.
    """
    weight = np.where(value >= threshold, value.astype(np.float64) - cost, 0.0)
    return choose_set(weight, measured.area, measured.first, measured.second, measured.common, overlap=OVERLAP)
