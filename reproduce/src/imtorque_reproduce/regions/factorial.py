"""Readings of the paper's regions (Sec. 4.3.1) by design, as `imtorque_reproduce.factorial` has it.

Chosen on training images by the covering, with how many models; the experiment regions reports the frozen one.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from imtorque import datasets, evaluation
from imtorque.paper import Reading
from imtorque_reproduce.factorial import RULES, TRAIN, Levels, combinations, frozen_file, up_to
from imtorque_reproduce.regions.rows import MODEL_COUNTS, PAPER, RegionImage, paper_form
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, berkeley_files, score_images, stride

CHOOSING_IMAGES = 10  # of the training images, evenly spread; bound: time
CHOSEN_SMOOTHNESS = 20.0  # what a border costs: of `PAPER_SMOOTHNESS` chosen before, on 25 training images
FACTORS: Sequence[Levels] = (up_to(45, 91, 0.46), RULES)


def run(request: Request) -> Report:
    """Score every combination on training images, and write the best."""
    request.require_options()
    request.parts(TRAIN)
    root = request.berkeley()
    records = stride(datasets.bsds500(root, TRAIN), CHOOSING_IMAGES)[: request.limit]
    readings = combinations(PAPER, "colour", FACTORS)
    found = score_images(partial(_score, readings=readings), records, request, TRAIN)
    means = {
        (name, count): float(mean)
        for name, values in found.items()
        for count, mean in zip(MODEL_COUNTS, values.mean(axis=0), strict=True)
    }
    name, models = max(means, key=means.__getitem__)
    return Report(
        data=root.name,
        data_sha256=checksum(berkeley_files(records), root),
        split=TRAIN,
        images=len(records),
        settings={"chosen": {"reading": name, "models": models}, "smoothness": CHOSEN_SMOOTHNESS},
        rows=[{"reading": n, "models": k, "covering": mean} for (n, k), mean in means.items()],
        notes=["Chosen: the largest covering. These rows are no results."],
        plots=frozen_file({"colour": readings[name]}, request, root.name, smoothness=CHOSEN_SMOOTHNESS, models=models),
    )


def _score(record: datasets.BerkeleyImage, readings: Mapping[str, Reading]) -> dict[str, Floats]:
    """Return the covering of one image by every reading, for every number of models."""
    image, truths = RegionImage(record.image()), [person.segmentation for person in record.annotations()]
    found = {}
    for name, reading in readings.items():
        labels = paper_form(image, smoothness=CHOSEN_SMOOTHNESS, reading=reading)
        score = evaluation.region_scores(labels, truths, thresholds=MODEL_COUNTS)
        found[name] = score.covered / score.area
    return found
