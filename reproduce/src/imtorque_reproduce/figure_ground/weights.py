"""Learn which cut fits the object under a click: the model of `imtorque.segmentation.figure_scores`.

    python -m imtorque_reproduce.figure_ground.weights --data DIR --out src/imtorque/io/weights/figure.json

From Caltech's outlined objects, clicked at their centroids, half of them once more anywhere on them, from the dev part
of the small objects, and from drawn shapes in plain colours. None of these images or objects is in a set that the
experiments report on, and of the horses there is none at all. The overlap of every cut with the object is a linear
function of its measures, and of those times its area's, fitted by least squares; differences between the cuts of one
scene count more than those between scenes, for only they decide.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from imtorque import datasets
from imtorque.core.logistic import LogisticModel, standardised
from imtorque.core.types import FloatArray
from imtorque.images import CheckedImage
from imtorque.io.atomic import write_text
from imtorque.io.weights import weights_text
from imtorque.jobs.processes import each
from imtorque.segmentation.colour_cut import Hints
from imtorque.segmentation.figure_cuts import (
    at_half_size,
    at_working_size,
    figure_cuts,
    holding_fixation,
    view_image,
    working_shape,
)
from imtorque.segmentation.figure_features import cut_features
from imtorque.segmentation.working_size import enlarge, moved
from imtorque_reproduce.figure_ground.cases import TEST_SCENES, Scene, Source, any_pixel, caltech_cases, read_scene
from imtorque_reproduce.report import provenance
from imtorque_reproduce.scoring import evenly

TRAINING_PER_CATEGORY = 10  # of Caltech's objects; bound: time
TRAINING_SMALL = 240  # small objects; bound: time
DRAWN_FROM = 480  # small objects, less those that Caltech's reported scenes hold; derived
BETWEEN_SCENES = 0.1  # weight of differences between the mean overlaps of scenes; unrecorded
CUT_RIDGE_PENALTY = 0.01  # of the weights' squares, a cut; unrecorded
DRAWN_SHAPES = 120  # scenes of one drawn shape each; untuned
DRAWN_SIZE = (120, 160)  # pixels, of such a scene; untuned
CUT_FEATURE_LIMIT = 3.0  # standard deviations at which features are clipped; untuned
WEIGHTS = "src/imtorque/io/weights"
DATA = (
    f"Caltech-101 outlined objects ({TRAINING_PER_CATEGORY} per category), "
    f"small objects pasted from them ({TRAINING_SMALL}), {DRAWN_SHAPES} drawn shapes"
)
SPLIT = (
    "Caltech-101 objects that no experiment reports on; dev part of the small objects; "
    f"drawn seeds 0 to {DRAWN_SHAPES - 1}"
)
Example = tuple[Source | None, int | None]  # None: drawn; a seed, of where it is clicked and what is drawn, or None
Case = tuple[tuple[str, ...], FloatArray, FloatArray]  # names of measures, measures (cuts, n), overlaps (cuts,)


def training_examples(data: Path) -> list[Example]:
    """Return scenes, and for those clicked anywhere a seed of where."""
    reported = {image.image_path for image in caltech_cases(data)}
    pasted = {scene.source.image_path for scene in datasets.small_objects(data, "test", count=TEST_SCENES)}
    outlined = [image for image in datasets.caltech101(data / "caltech101") if image.outline_path is not None]
    large: list[Source] = []
    for category in sorted({image.category for image in outlined}):
        free = [image for image in outlined if image.category == category and image.image_path not in reported | pasted]
        large += evenly(free, TRAINING_PER_CATEGORY)
    dev = datasets.small_objects(data, "dev", count=DRAWN_FROM)
    small = [scene for scene in dev if scene.source.image_path not in reported][:TRAINING_SMALL]
    given: list[Example] = [*((scene, None) for scene in large), *((scene, None) for scene in small)]
    anywhere: list[Example] = [(scene, seed) for seed, scene in enumerate(large[::2])]
    return [*given, *anywhere, *((None, seed) for seed in range(DRAWN_SHAPES))]


def drawn_scene(seed: int) -> Scene:
    """Return an ellipse, a rectangle or a diamond of any size and place, in two colours or greys with noise."""
    rng = np.random.default_rng(seed)
    root = np.sqrt(DRAWN_SIZE[0] * DRAWN_SIZE[1])
    size, aspect = root * np.exp(rng.uniform(np.log(0.06), np.log(0.4))), np.exp(rng.uniform(-0.5, 0.5))
    middle, angle = rng.uniform(0.25, 0.75, 2) * DRAWN_SIZE, rng.choice([0.0, rng.uniform(0, np.pi)])
    y, x = (grid - at for grid, at in zip(np.mgrid[: DRAWN_SIZE[0], : DRAWN_SIZE[1]], middle, strict=True))
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    power = rng.choice([1, 2, 20])
    figure = np.abs(along / (size * aspect)) ** power + np.abs(across / (size / aspect)) ** power <= 1
    colours = rng.random((2, 3)) if rng.random() < 0.5 else rng.random((2, 1)).repeat(3, axis=1)
    colours[1] += np.where(colours[0] > colours[1], -0.2, 0.2)
    image = np.where(figure[:, :, None], *colours) + rng.choice([0.0, 0.02, 0.06]) * rng.standard_normal((*y.shape, 3))
    return Scene(np.clip(image, 0, 1), figure, np.ones_like(figure), any_pixel(figure, seed))


def read_example(example: Example) -> Scene:
    """Return the scene of an example."""
    source, seed = example
    if source is None:
        return drawn_scene(seed or 0)
    scene = read_scene(source)
    return scene if seed is None else replace(scene, fixation=any_pixel(scene.figure, seed))


def measured(example: Example, torque: bool) -> Case:
    """Return the measures of all cuts of one scene, and their overlaps with its object."""
    known = read_example(example)
    shape = (known.image.shape[0], known.image.shape[1])
    hints = Hints([moved(known.fixation, shape, working_shape(shape))])
    view = view_image(CheckedImage(known.image), hints, torque=torque)
    cuts = list(figure_cuts(view).values())
    names, measures = cut_features(view, [holding_fixation(view, at_half_size(view, cut)) for cut in cuts])
    overlaps = [known.iou(enlarge(at_working_size(view, cut), shape)) for cut in cuts]
    return names, measures, np.array(overlaps)


def fit(cases: Sequence[Case]) -> LogisticModel:
    """Return the linear model of the overlaps, by ridge regression; the first feature must be the area."""
    names = cases[0][0]
    measures, overlaps = (np.stack([case[k] for case in cases]) for k in (1, 2))
    means, scales = measures.mean(axis=(0, 1)), measures.std(axis=(0, 1)) + 1e-9
    z = standardised(measures, means, scales, CUT_FEATURE_LIMIT)
    terms = np.concatenate([z, z[..., :1] * z], axis=2)
    terms -= terms.mean(axis=(0, 1))
    errors = overlaps - overlaps.mean()
    # A scene's mean counts less: cuts are compared with others of their own scene.
    less = 1 - np.sqrt(BETWEEN_SCENES)
    terms -= less * terms.mean(axis=1, keepdims=True)
    errors = errors - less * errors.mean(axis=1, keepdims=True)
    rows, targets = terms.reshape(-1, terms.shape[2]), errors.ravel()
    found = np.linalg.solve(rows.T @ rows + CUT_RIDGE_PENALTY * len(rows) * np.eye(rows.shape[1]), rows.T @ targets)
    weight, interaction = np.split(found, 2)
    return LogisticModel(means, scales, weight, names=names, limit=CUT_FEATURE_LIMIT, interaction=interaction)


def main(
    data: Annotated[Path, typer.Option(help="Folder of data sets.")],
    out: Annotated[Path, typer.Option(help="Where to write the weights.")],
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Learn the weights with torque and without, and write them."""
    examples = training_examples(data)
    learned = {
        name: fit(list(each(partial(measured, torque=torque), examples, jobs, name))).to_dict()
        for name, torque in (("torque", True), ("no-torque", False))
    }
    command = f"python -m imtorque_reproduce.figure_ground.weights --data DIR --out {WEIGHTS}/figure.json"
    write_text(out, weights_text(learned, provenance(data=DATA, split=SPLIT, command=command)))


if __name__ == "__main__":
    typer.run(main)
