"""Learn which figures are objects: the two models of `imtorque.segmentation.object_selection`.

    python -m imtorque_reproduce.objects.weights --data DIR --out src/imtorque/io/weights/object.json

From a part of what `imtorque_reproduce.figure_ground.weights` learns from: Caltech's outlined objects, the dev part of
the small objects, and drawn shapes. None of these images or objects is in a set that experiments report on, and of the
horses and of Berkeley's regions there is none at all. A figure is an object where it overlaps the true one by
`OBJECT_OVERLAP`; every image counts the same, whatever the number of its figures. The second rule is learned from the
images where the first figure of the first rule is no object; its measures count by the figure's area.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from imtorque.core.logistic import LogisticModel, standardised
from imtorque.core.types import FloatArray
from imtorque.images import CheckedImage
from imtorque.io.atomic import write_text
from imtorque.io.weights import weights_text
from imtorque.jobs.processes import each
from imtorque.segmentation.figure_cuts import at_half_size, at_working_size
from imtorque.segmentation.object_candidates import object_candidates
from imtorque.segmentation.object_selection import MODELS, object_features
from imtorque.segmentation.working_size import enlarge
from imtorque_reproduce.figure_ground.weights import (
    CUT_FEATURE_LIMIT,
    WEIGHTS,
    Case,
    Example,
    read_example,
    training_examples,
)
from imtorque_reproduce.report import provenance

OBJECT_OVERLAP = 0.6  # overlap from which a figure is an object; unrecorded
PENALTIES = (0.01, 0.002)  # of the weights' squares, a figure: of the first rule and of the second; unrecorded
FIT_STEPS = 15  # of Newton's method; bound: time
EXAMPLE_STEP = 4  # every so many-th example is learned from; bound: memory


def examples(data: Path) -> list[Example]:
    """Return every fourth scene of those that figures are learned from, each once."""
    found = training_examples(data)
    once = [example for example in found if example[0] is None or example[1] is None]
    return once[::EXAMPLE_STEP]


def measured(example: Example, torque: bool) -> Case | None:
    """Return the measures of one scene's figures, and their overlaps with its object; None where there are none."""
    scene = read_example(example)
    view, cuts = object_candidates(CheckedImage(scene.image), torque=torque)
    if not cuts:
        return None
    names, measures = object_features(view, [at_half_size(view, cut) for cut in cuts])
    overlaps = [scene.iou(enlarge(at_working_size(view, cut), scene.figure.shape)) for cut in cuts]
    return names, measures, np.array(overlaps)


def fit(cases: Sequence[Case]) -> dict[str, LogisticModel]:
    """Return the first rule, and the second, from the scenes where the first is wrong."""
    first = _fitted(cases, PENALTIES[0], by_area=False)
    wrong = [case for case in cases if case[2][int(first.logit(case[1]).argmax())] < OBJECT_OVERLAP]
    return dict(zip(MODELS, (first, _fitted(wrong or cases, PENALTIES[1], by_area=True)), strict=True))


def _fitted(cases: Sequence[Case], penalty: float, *, by_area: bool) -> LogisticModel:
    """Fit the logistic rule that tells which figures are objects."""
    every = np.concatenate([case[1] for case in cases])
    means, scales = every.mean(axis=0), every.std(axis=0) + 1e-9
    z = standardised(every, means, scales, CUT_FEATURE_LIMIT)
    terms = np.concatenate([z, *([z[:, :1] * z] if by_area else []), np.ones((len(z), 1))], axis=1)
    target = np.concatenate([case[2] for case in cases]) >= OBJECT_OVERLAP
    share = np.concatenate([np.full(len(case[2]), 1 / len(case[2])) for case in cases])
    found = _logistic(terms, target.astype(np.float64), share / share.mean(), penalty)
    count = every.shape[1]
    interaction = found[count:-1] if by_area else None
    return LogisticModel(means, scales, found[:count], float(found[-1]), cases[0][0], CUT_FEATURE_LIMIT, interaction)


def _logistic(terms: FloatArray, target: FloatArray, share: FloatArray, penalty: float) -> FloatArray:
    """Return the weights by penalised maximum likelihood; the last, the bias, has no penalty."""
    squares = penalty * len(terms) * np.diag([*np.ones(terms.shape[1] - 1), 0.0])
    found = np.zeros(terms.shape[1])
    for _ in range(FIT_STEPS):
        chance = 1 / (1 + np.exp(-terms @ found))
        slope = terms.T @ (share * (target - chance)) - squares @ found
        bend = (terms * (share * chance * (1 - chance))[:, None]).T @ terms + squares
        found = found + np.linalg.solve(bend, slope)
    return found


def main(
    data: Annotated[Path, typer.Option(help="Folder of data sets.")],
    out: Annotated[Path, typer.Option(help="Where to write the weights.")],
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Learn the rules with torque and without, and write all."""
    learned: dict[str, dict[str, dict[str, Any]]] = {}
    for name, torque in (("torque", True), ("no-torque", False)):
        cases = each(partial(measured, torque=torque), examples(data), jobs, name)
        rules = fit([case for case in cases if case is not None])
        learned[name] = {which: rule.to_dict() for which, rule in rules.items()}
    command = f"python -m imtorque_reproduce.objects.weights --data DIR --out {WEIGHTS}/object.json"
    source = provenance(
        data=f"one in {EXAMPLE_STEP} of the scenes that figure.json is learned from",
        split="as figure.json",
        command=command,
    )
    write_text(out, weights_text(learned, source))


if __name__ == "__main__":
    typer.run(main)
