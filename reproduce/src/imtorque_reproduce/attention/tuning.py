"""Choosing the settings of torque saliency on one data set, to report on another."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from imtorque import evaluation
from imtorque.evaluation import FixationScores
from imtorque.evaluation.saliency_folders import Observed
from imtorque.jobs.processes import each
from imtorque.saliency import blend_saliency, gbvs_saliency
from imtorque_reproduce.attention.rows import Tuned, edge_channels, torque_map

TUNING_IMAGES = 150  # spread over the set; bound: time
GRID = [Tuned(*setting) for setting in product((2.0, 1.5), (1000, 2000, 4000), (0.3, 0.4, 0.5, 0.6))]  # that are tried


def tune(observed: Sequence[Observed], jobs: int) -> tuple[Tuned, list[dict[str, Any]]]:
    """Return the settings under which the blend with GBVS has the largest F, and the F of all that were tried."""
    chosen = observed[:: max(1, len(observed) // TUNING_IMAGES)]
    scored = zip(*each(score_grid, chosen, jobs, "tuning"), strict=True)
    f = [evaluation.summarise_fixations(curves).f for curves in scored]
    table = [{**asdict(one), "f": value} for one, value in zip(GRID, f, strict=True)]
    return GRID[f.index(max(f))], table


def score_grid(observed: Observed) -> list[FixationScores]:
    """Score the blend under each setting on one image."""
    image, fixations = observed.image.image(), observed.image.fixations()
    region = evaluation.fixated_region(fixations.y, fixations.x, observed.image.shape)
    gbvs, channels = gbvs_saliency(image), edge_channels(image)[1]
    torque = {
        (alpha, count): torque_map(channels, count, alpha=alpha)
        for alpha, count in dict.fromkeys((one.alpha, one.count) for one in GRID)
    }
    return [
        evaluation.fixation_scores(
            blend_saliency([gbvs, torque[one.alpha, one.count]], [1 - one.share, one.share]), region
        )
        for one in GRID
    ]
