"""Evaluate a folder of saliency maps against an eye-tracking set, always beside the centre prior."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.evaluation.folders import Result, read_map

METRICS = ("auc_judd", "auc_borji", "auc_shuffled", "nss", "cc", "sim", "kl_divergence", "information_gain")


@dataclass(frozen=True)
class SaliencyScores:
    """One image's metrics, and its precision and recall at each threshold."""

    curve: evaluation.FixationScores
    metrics: dict[str, float]


@dataclass(frozen=True)
class Observed:
    """One image, number `index` of its set, and all fixations of the set in relative coordinates.

    `owner`, `y` and `x` are shared by all images of the set.
    """

    image: datasets.EyeTrackingImage
    index: int
    owner: NDArray[np.int64]
    y: NDArray[np.float64]
    x: NDArray[np.float64]

    def other_places(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return everybody's fixations on the other images, scaled to this one."""
        height, width = self.image.shape
        others = self.owner != self.index
        return self.y[others] * height - 0.5, self.x[others] * width - 0.5


def read_observations(root: Path) -> dict[str, Observed]:
    """Read an eye-tracking folder, or MIT1003 as published, by image name."""
    images = datasets.mit1003(root) if (root / "ALLSTIMULI").is_dir() else datasets.eye_tracking(root)
    if len(images) < 2:
        raise ValueError(f"{root} must hold at least 2 images, for the shuffled AUC, got {len(images)}")
    fixations = [image.fixations() for image in images]
    for image, places in zip(images, fixations, strict=True):
        if len(places) == 0:
            raise ValueError(f"{root} must hold fixations of every image, got none of {image.name}")
    owner = np.repeat(np.arange(len(images)), [len(places) for places in fixations])
    pairs = list(zip(images, fixations, strict=True))
    y = np.concatenate([(places.y + 0.5) / image.shape[0] for image, places in pairs])
    x = np.concatenate([(places.x + 0.5) / image.shape[1] for image, places in pairs])
    return {image.name: Observed(image, k, owner, y, x) for k, image in enumerate(images)}


def score_saliency(path: Path, observed: Observed, sigma: float) -> tuple[SaliencyScores, SaliencyScores]:
    """Score one saliency map, and the centre prior on the same image."""
    saliency, shape = read_map(path), observed.image.shape
    if saliency.shape != shape:
        raise ValueError(f"the map must have the image's shape {shape}, got {saliency.shape}")
    return score_map(saliency, observed, sigma), score_map(evaluation.centre_prior(shape), observed, sigma)


def summarise_saliency_files(names: Sequence[str], scores: Sequence[tuple[SaliencyScores, SaliencyScores]]) -> Result:
    """Return the means of all metrics, F in both aggregations, and the same of the centre prior."""
    maps, priors = ([pair[k] for pair in scores] for k in (0, 1))
    per_image = [
        {"name": name, "f": float(score.curve.f.max()), **score.metrics}
        for name, score in zip(names, maps, strict=True)
    ]
    difference = evaluation.bootstrap_f_difference([s.curve for s in maps], [s.curve for s in priors])
    return {
        **_means(maps),
        "centre_prior": _means(priors),
        "f_beyond_centre_prior": asdict(difference),
        "images": len(names),
        "per_image": per_image,
    }


def score_map(saliency: NDArray[Any], observed: Observed, sigma: float) -> SaliencyScores:
    """Score one saliency map, of its image's shape, on one image."""
    shape = observed.image.shape
    fixations, (other_y, other_x) = observed.image.fixations(), observed.other_places()
    y, x = fixations.y, fixations.x
    density = evaluation.fixation_density(y, x, shape, sigma=sigma)
    values = (
        evaluation.auc_judd(saliency, y, x),
        evaluation.auc_borji(saliency, y, x),
        evaluation.auc_shuffled(saliency, y, x, other_y=other_y, other_x=other_x),
        evaluation.nss(saliency, y, x),
        evaluation.cc(saliency, density),
        evaluation.sim(saliency, density),
        evaluation.kl_divergence(saliency, density),
        evaluation.information_gain(saliency, y, x, baseline=evaluation.centre_prior(shape)),
    )
    region = evaluation.fixated_region(y, x, shape, sigma=sigma)
    return SaliencyScores(evaluation.fixation_scores(saliency, region), dict(zip(METRICS, values, strict=True)))


def _means(scores: Sequence[SaliencyScores]) -> Mapping[str, float]:
    summary = evaluation.summarise_fixations([score.curve for score in scores])
    means = {metric: float(np.mean([score.metrics[metric] for score in scores])) for metric in METRICS}
    return {"f": summary.f, "f_per_image": summary.f_per_image, "threshold": summary.threshold, **means}
