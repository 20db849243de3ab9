"""Learn which figures are objects: the rule of `imtorque.segmentation.object_choice`.

    python -m imtorque.experiments.object_weights --data DIR --out src/imtorque/segmentation/object_weights.json

From a part of what `imtorque.experiments.figure_weights` learns from: Caltech's outlined objects, the dev part of the
small objects, and drawn shapes. None of these pictures or objects is in a set that experiments report on, and of the
horses and of Berkeley's regions there is none at all. A figure is an object where it overlaps the true one by `OBJECT`;
every picture counts the same, whatever the number of its figures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from imtorque._atomic import write_text
from imtorque._parallel import each
from imtorque._types import FloatArray
from imtorque.experiments.figure_weights import Case, Example, read_example, rounded, training_examples
from imtorque.images import Picture
from imtorque.segmentation.best_figure import at_working_size, standardised
from imtorque.segmentation.object_candidates import halved, object_candidates
from imtorque.segmentation.object_choice import Rule, measure_objects
from imtorque.segmentation.working_size import enlarge

OBJECT = 0.6  # overlap from which a figure is an object
PENALTY = 0.01  # of the weights' squares, a figure
STEPS = 15  # of Newton's method
EVERY = 4  # of the examples


def examples(data: Path) -> list[Example]:
    """Return every fourth scene of those that figures are learned from, each once."""
    found = training_examples(data)
    once = [example for example in found if example[0] is None or example[1] is None]
    return once[::EVERY]


def measured(example: Example, torque: bool) -> Case | None:
    """Return the measures of one scene's figures, and their overlaps with its object; None where there are none."""
    scene = read_example(example)
    view, cuts = object_candidates(Picture(scene.image), torque=torque)
    if not cuts:
        return None
    names, measures = measure_objects(view, [halved(view, cut) for cut in cuts])
    overlaps = [scene.iou(enlarge(at_working_size(view, cut), scene.figure.shape)) for cut in cuts]
    return names, measures, np.array(overlaps)


def fit(cases: Sequence[Case]) -> Rule:
    """Return the logistic rule that tells best which figures are objects."""
    every = np.concatenate([case[1] for case in cases])
    means, scales = every.mean(axis=0), every.std(axis=0) + 1e-9
    terms = np.concatenate([standardised(every, means, scales), np.ones((len(every), 1))], axis=1)
    target = np.concatenate([case[2] for case in cases]) >= OBJECT
    share = np.concatenate([np.full(len(case[2]), 1 / len(case[2])) for case in cases])
    found = _logistic(terms, target.astype(np.float64), share / share.mean())
    return Rule(cases[0][0], means, scales, found[:-1], float(found[-1]))


def _logistic(terms: FloatArray, target: FloatArray, share: FloatArray) -> FloatArray:
    """Return the weights of largest likelihood less the penalty, which the last, the bias, has none of."""
    penalty = PENALTY * len(terms) * np.diag([*np.ones(terms.shape[1] - 1), 0.0])
    found = np.zeros(terms.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-terms @ found))
        slope = terms.T @ (share * (target - chance)) - penalty @ found
        bend = (terms * (share * chance * (1 - chance))[:, None]).T @ terms + penalty
        found = found + np.linalg.solve(bend, slope)
    return found


def main(
    data: Annotated[Path, typer.Option(help="Folder of data sets.")],
    out: Annotated[Path, typer.Option(help="Where to write the weights.")],
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Learn the rule with torque and without, and write both."""
    learned: dict[str, dict[str, Any]] = {}
    for name, torque in (("torque", True), ("no-torque", False)):
        cases = each(partial(measured, torque=torque), examples(data), jobs, name)
        rule = fit([case for case in cases if case is not None])
        values = {key: rounded(getattr(rule, key)) for key in ("means", "scales", "weights")}
        learned[name] = {"names": rule.names, **values, "bias": rounded(np.array([rule.bias]))[0]}
    write_text(out, json.dumps(learned, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
