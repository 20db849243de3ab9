"""Readings of the paper's patches (Sec. 4.4) by design, chosen on images that have no part in the results.

All combinations of rule of extrema and descriptor for squares; rectangles, which take three times as long, with the
first. Chosen on the images of each class after its first `REPORTED_EACH`, with fewer words; results that are
compared with the paper are of the first ones (``--limit 30``).
"""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from imtorque_reproduce.ablation import Step
from imtorque_reproduce.factorial import FROZEN, TRAIN
from imtorque_reproduce.report import Request, provenance

REPORTED_EACH = 30  # images of each class: 15 to train, 15 to test; convention
CHOOSING_EACH = 20  # images of each class that chooses: as many as most classes have besides, of 50; derived
CLASS_STEP = 4  # of the classes, every so many-th; bound: time
FEWER_WORDS = 512  # words; bound: time
CHOSEN = Path(__file__).with_name(FROZEN)
FACTORS: Sequence[Mapping[str, dict[str, Any]]] = (
    {"extrema in boxes": {"neighbourhood": "box"}, "extrema along axes": {"neighbourhood": "cross"}},
    {"torque": {"signs": True}, "magnitudes": {"signs": False}},
)
SQUARES: Mapping[str, Any] = {"aspects": (1.0,)}
RECTANGLES: Mapping[str, Any] = {"aspects": (1.0, 0.5, 2.0)}


def combinations() -> list[Step[Mapping[str, Any]]]:
    """Return the combinations as steps."""
    steps: list[Step[Mapping[str, Any]]] = []
    for levels in product(*(factor.items() for factor in FACTORS)):
        reading: dict[str, Any] = {name: value for _, changes in levels for name, value in changes.items()}
        steps.append(Step(", ".join(["squares", *(level for level, _ in levels)]), "open", {**SQUARES, **reading}))
    rectangles: Step[Mapping[str, Any]] = Step(
        f"{steps[0].choice}, and rectangles", "stated", {**steps[0].reading, **RECTANGLES}
    )
    return [*steps, rectangles]


def choosing_images(classes: Mapping[str, Sequence[Path]]) -> dict[str, list[Path]]:
    """Return the images that choose, of the classes that have enough."""
    enough = {name: paths[REPORTED_EACH:][:CHOOSING_EACH] for name, paths in classes.items()}
    full = [name for name, paths in enough.items() if len(paths) == CHOOSING_EACH]
    if len(full) < 2:
        raise ValueError(f"at least 2 classes must have {REPORTED_EACH + CHOOSING_EACH} images, got {len(full)}")
    return {name: list(enough[name]) for name in full[:: CLASS_STEP if len(full) >= 2 * CLASS_STEP else 1]}


def frozen_file(readings: Sequence[Mapping[str, Any]], request: Request, data: str) -> dict[str, bytes]:
    """Return the file of the reading of the largest accuracy, by its name."""
    best = max(readings, key=lambda row: row["accuracy"])["choice"]
    (step,) = [step for step in combinations() if step.choice == best]
    content = {**provenance(data=data, split=TRAIN, command=request.command), "choice": best, "reading": step.reading}
    return {FROZEN: (json.dumps(content, indent=1) + "\n").encode()}
