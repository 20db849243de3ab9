"""Evaluate folders of predictions against folders of ground truth: joins data sets and evaluation for the command line.

Every function returns a result that can be written as JSON, with the scores of each image under "per_image".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.datasets.predictions import Kind
from imtorque.evaluation.matching import Matching
from imtorque.jobs.processes import each

T = TypeVar("T")
MAX_NAMED = 5  # how many files an error names; convention

Result = dict[str, Any]
Tick = Callable[[], None]  # called after each image


@dataclass(frozen=True)
class BoundaryOptions:
    """How boundaries are scored; the defaults are the Berkeley benchmark's."""

    thresholds: int = 99
    max_distance: float = 0.0075
    matching: Matching = "min_cost"
    thinning: bool = True

    @property
    def matched(self) -> dict[str, Any]:
        """How pixels are matched, as both scores take it."""
        return {"max_distance": self.max_distance, "matching": self.matching, "thinning": self.thinning}


def pair_files(predictions: Path, truths: Mapping[str, T], kind: Kind | None = None) -> list[tuple[str, Path, T]]:
    """Pair prediction files with truths by name; a missing or extra file is an error that names it."""
    found = datasets.find_predictions(predictions, kind)
    missing = [name for name in truths if name not in found]
    if missing:
        raise ValueError(f"{predictions} must hold a prediction for every truth, got none for {_some(missing)}")
    extra = [name for name in found if name not in truths]
    if extra:
        raise ValueError(f"{predictions} must hold predictions of the truth's images only, got also {_some(extra)}")
    return [(name, path, truths[name]) for name, path in found.items()]


def for_each(
    items: Sequence[tuple[str, Path, T]], score: Callable[[Path, T], Any], jobs: int | None, tick: Tick
) -> list[Any]:
    """Score every item, `jobs` at a time, in order; the first error ends it, and names the file."""
    return list(each(partial(_scored, score), items, jobs, tick=tick))


def _scored(score: Callable[[Path, T], Any], item: tuple[str, Path, T]) -> Any:
    name, path, truth = item
    try:
        return score(path, truth)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} ({path}): {error}") from error


def score_boundaries(path: Path, truth: datasets.Truth, options: BoundaryOptions) -> evaluation.BoundaryScores:
    """Score one file of boundaries."""
    prediction = datasets.read_prediction(path)
    found = prediction.segmentations
    if found is not None:
        return evaluation.segmentation_boundary_scores(found, truth.boundaries(found[0].shape), **options.matched)
    if prediction.ucm is not None:
        strength: NDArray[Any] = evaluation.contours_from_ucm(prediction.ucm)
    else:
        strength = np.asarray(prediction.map)
    humans = truth.boundaries(strength.shape)
    if _is_double(strength.shape, humans[0].shape):
        strength = evaluation.contours_from_ucm(strength)
    return evaluation.boundary_scores(strength, humans, thresholds=options.thresholds, **options.matched)


def summarise_boundary_files(names: Sequence[str], scores: Sequence[evaluation.BoundaryScores]) -> Result:
    """Return the Berkeley benchmark's numbers."""
    summary = asdict(evaluation.summarise_boundaries(scores))
    points = summary.pop("images")
    curve = {key: summary.pop(key).tolist() for key in ("thresholds", "precision", "recall", "f")}
    per_image = [{"name": name, **point} for name, point in zip(names, points, strict=True)]
    return {**summary, "images": len(names), "curve": curve, "per_image": per_image}


def compare_boundary_files(a: Sequence[evaluation.BoundaryScores], b: Sequence[evaluation.BoundaryScores]) -> Result:
    """Return the difference of ODS F, a minus b, with its 95 % paired bootstrap interval."""
    return asdict(evaluation.bootstrap_ods_difference(a, b))


def score_regions(path: Path, truth: datasets.Truth, thresholds: int) -> evaluation.RegionScores:
    """Score one file of segmentations."""
    prediction = datasets.read_prediction(path)
    humans = truth.segmentations()
    if prediction.segmentations is not None:
        return evaluation.region_scores(prediction.segmentations, humans)
    if prediction.ucm is not None:
        return evaluation.ucm_region_scores(prediction.ucm, humans, thresholds=thresholds)
    labels = np.asarray(prediction.map)
    if _is_double(labels.shape, humans[0].shape):
        return evaluation.ucm_region_scores(labels, humans, thresholds=thresholds)
    return evaluation.region_scores([labels], humans)


def summarise_region_files(names: Sequence[str], scores: Sequence[evaluation.RegionScores]) -> Result:
    """Return the Berkeley region benchmark's numbers."""
    s = evaluation.summarise_regions(scores)
    per_image = [
        {
            "name": name,
            "covering": float(score.covered.max() / score.area),
            "pri": float(score.rand_index.max()),
            "voi": float(score.variation_of_information.min()),
        }
        for name, score in zip(names, scores, strict=True)
    ]
    return {
        "covering": {
            "ods": s.covering_ods,
            "ois": s.covering_ois,
            "best": s.covering_best,
            "threshold": s.covering_threshold,
        },
        "pri": {"ods": s.pri_ods, "ois": s.pri_ois, "threshold": s.pri_threshold},
        "voi": {"ods": s.voi_ods, "ois": s.voi_ois, "threshold": s.voi_threshold},
        "images": len(names),
        "per_image": per_image,
    }


def score_mask(path: Path, truth: datasets.Truth, max_distance: float) -> evaluation.MaskScores:
    """Score one mask file."""
    prediction = read_map(path)
    true = truth.segmentations()
    if len(true) != 1:
        raise ValueError(f"the truth must be one mask, got {len(true)}")
    return evaluation.mask_scores(prediction, true[0], max_distance=max_distance)


def summarise_mask_files(names: Sequence[str], scores: Sequence[evaluation.MaskScores]) -> Result:
    """Return the means over images."""
    per_image = [{"name": name, **asdict(score)} for name, score in zip(names, scores, strict=True)]
    means = {key: float(np.mean([image[key] for image in per_image])) for key in asdict(scores[0])}
    return {**means, "images": len(names), "per_image": per_image}


def read_map(path: Path) -> NDArray[Any]:
    """Read a prediction that must be one map."""
    prediction = datasets.read_prediction(path)
    if prediction.map is None:
        raise ValueError("the file must hold one (height, width) map")
    return prediction.map


def _is_double(shape: tuple[int, ...], truth: tuple[int, ...]) -> bool:
    """Whether a map is a contour map of double size (2H+1, 2W+1), which no image-size map can be."""
    return shape == tuple(2 * side + 1 for side in truth)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
