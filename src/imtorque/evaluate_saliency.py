"""Evaluate a folder of saliency maps against an eye-tracking set, always beside the centre prior."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.evaluate_folders import Result, read_map

METRICS = ("auc_judd", "auc_borji", "auc_shuffled", "nss", "cc", "sim", "kl_divergence", "information_gain")


@dataclass(frozen=True)
class SaliencyScores:
    """One image's metrics, and its precision and recall at each threshold."""

    curve: evaluation.FixationScores
    metrics: dict[str, float]


@dataclass(frozen=True)
class Observed:
    """One image's fixations, and everybody's on the other images, scaled to its size."""

    image: datasets.EyeTrackingImage
    other_y: NDArray[np.float64]
    other_x: NDArray[np.float64]


def read_observations(root: Path) -> dict[str, Observed]:
    """Read an eye-tracking folder, or MIT1003 as published, by image name."""
    images = datasets.mit1003(root) if (root / "ALLSTIMULI").is_dir() else datasets.eye_tracking(root)
    if len(images) < 2:
        raise ValueError(f"{root} must hold at least 2 images, for the shuffled AUC, got {len(images)}")
    for image in images:
        if len(image.fixations) == 0:
            raise ValueError(f"{root} must hold fixations of every image, got none of {image.name}")
    # Relative places are computed once; each image leaves its own out.
    owner = np.concatenate([np.full(len(image.fixations), k) for k, image in enumerate(images)])
    y = np.concatenate([(image.fixations.y + 0.5) / image.shape[0] for image in images])
    x = np.concatenate([(image.fixations.x + 0.5) / image.shape[1] for image in images])
    return {
        image.name: Observed(image, y[owner != k] * image.shape[0] - 0.5, x[owner != k] * image.shape[1] - 0.5)
        for k, image in enumerate(images)
    }


def score_saliency(path: Path, observed: Observed, sigma: float) -> tuple[SaliencyScores, SaliencyScores]:
    """Score one saliency map, and the centre prior on the same image."""
    saliency, shape = read_map(path), observed.image.shape
    if saliency.shape != shape:
        raise ValueError(f"the map must have the image's shape {shape}, got {saliency.shape}")
    return _score(saliency, observed, sigma), _score(evaluation.centre_prior(shape), observed, sigma)


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


def _score(saliency: NDArray[Any], observed: Observed, sigma: float) -> SaliencyScores:
    image = observed.image
    y, x = image.fixations.y, image.fixations.x
    density = evaluation.fixation_density(y, x, image.shape, sigma=sigma)
    others = {"other_y": observed.other_y, "other_x": observed.other_x}
    values = (
        evaluation.auc_judd(saliency, y, x),
        evaluation.auc_borji(saliency, y, x),
        evaluation.auc_shuffled(saliency, y, x, **others),
        evaluation.nss(saliency, y, x),
        evaluation.cc(saliency, density),
        evaluation.sim(saliency, density),
        evaluation.kl_divergence(saliency, density),
        evaluation.information_gain(saliency, y, x, baseline=evaluation.centre_prior(image.shape)),
    )
    region = evaluation.fixated_region(y, x, image.shape, sigma=sigma)
    return SaliencyScores(evaluation.fixation_scores(saliency, region), dict(zip(METRICS, values, strict=True)))


def _means(scores: Sequence[SaliencyScores]) -> Mapping[str, float]:
    summary = evaluation.summarise_fixations([score.curve for score in scores])
    means = {metric: float(np.mean([score.metrics[metric] for score in scores])) for metric in METRICS}
    return {"f": summary.f, "f_per_image": summary.f_per_image, "threshold": summary.threshold, **means}
