"""How much each constant of `segment_figure` decides: overlap on training scenes with one of them smaller or larger."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from imtorque.segmentation import segment_figure
from imtorque_reproduce.constants.scaling import AS_IT_IS, NOTE, constants_of, score_changes
from imtorque_reproduce.figure_ground.cases import Scene, source_files
from imtorque_reproduce.figure_ground.weights import read_example, training_examples
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, compare, evenly, mean_rows

PACKAGE = "imtorque.segmentation"
MODULES = ("polar", "appearance", "cues", "fixated_boxes", "colour_cut", "figure_cuts", "figure_features", "figure")
# Shapes of arrays, quantiles, which end at 1, and defaults of arguments.
FIXED = (
    *("COLOUR_BINS", "TEXTURES", "WORDS"),
    *("TEXTURE_RANGE", "TYPICAL_QUANTILE", "TYPICAL_GRADIENT", "POLAR_COSTS", "SQRT2"),
)
SCENES = 48  # of those that the rule of cuts is learned from, evenly spread; bound: time


def run(request: Request) -> Report:
    """Score `segment_figure` with every constant as it is, smaller, and larger."""
    request.require_options()
    examples = evenly(training_examples(request.data), request.limit or SCENES)
    scenes = [read_example(example) for example in examples]
    found = score_changes(partial(_score, scenes), constants_of(PACKAGE, MODULES, FIXED), request)
    sources = [source for source, _ in examples if source is not None]
    return Report(
        data="caltech, small objects, drawn",
        data_sha256=checksum(source_files(sources), request.data),
        split="train",
        images=len(scenes),
        settings={},
        rows=mean_rows({name: {"iou": values} for name, values in found.items()}),
        differences=compare(found, [(name, AS_IT_IS) for name in list(found)[1:]], "iou"),
        notes=["iou: overlap with the object under the click, mean over scenes.", NOTE],
    )


def _score(scenes: Sequence[Scene]) -> Floats:
    return np.array([scene.iou(segment_figure(scene.image, scene.fixation)) for scene in scenes])
