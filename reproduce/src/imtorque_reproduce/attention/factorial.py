"""Readings of the paper's torque saliency (Sec. 4.1) by design, as `imtorque_reproduce.factorial` has it.

Chosen on SUN scenes by F of the map alone; the experiment attention reports the frozen one, on OSIE.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from imtorque import evaluation, paper
from imtorque.edges import SQRT2
from imtorque.evaluation import FixationScores
from imtorque.evaluation.saliency_folders import Observed
from imtorque_reproduce.attention.experiment import data_folder, eye_tracking_files, read_observed
from imtorque_reproduce.factorial import RULES, TRAIN, Levels, best_of, combinations, frozen_file, up_to
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import evenly, score_images

CHOOSING = "sun_scenes"
CHOOSING_SCENES = 100  # of them, evenly spread; bound: time
SMOOTHING: Levels = {f"sigma {sigma:.3g}": {"sigma": sigma} for sigma in (1.0, SQRT2, 2.0)}
COUNTS: Levels = {
    **{f"{count} of each": {"count": count, "each_sign": True} for count in (25, 250, 750)},
    "all": {"count": None, "each_sign": False},
}
FACTORS: Sequence[Levels] = (SMOOTHING, up_to(45, 0.46), RULES, COUNTS)  # the second size is 21 % of the area
START = paper.Reading(direction_sigma=None, directions=None)


def run(request: Request) -> Report:
    """Score every combination on scenes, and write the best."""
    request.require_options()
    request.parts(TRAIN)
    folder = data_folder(request.data, CHOOSING)
    observed = evenly(read_observed(folder, request.limit), CHOOSING_SCENES)
    readings = combinations(START, "saliency", FACTORS)
    curves = score_images(partial(score_one, readings=readings), observed, request, CHOOSING)
    f = {name: evaluation.summarise_fixations(list(found)).f for name, found in curves.items()}
    best = best_of(f, list(readings))
    return Report(
        data=folder.name,
        data_sha256=checksum(eye_tracking_files(folder, observed), folder),
        split=TRAIN,
        images=len(observed),
        settings={"chosen": best},
        rows=[{"method": name, "f": value} for name, value in f.items()],
        notes=["Chosen: the largest F. These rows are no results."],
        plots=frozen_file({"saliency": readings[best]}, request, folder.name),
    )


def score_one(observed: Observed, readings: Mapping[str, paper.Reading]) -> dict[str, FixationScores]:
    """Score the map of every reading on one image."""
    image, fixations = observed.image.image(), observed.image.fixations()
    region = evaluation.fixated_region(fixations.y, fixations.x, observed.image.shape)
    return {
        name: evaluation.fixation_scores(paper.saliency(image, reading), region) for name, reading in readings.items()
    }
