"""Readings of the paper by design: all combinations of what it leaves open, chosen on images kept apart, and frozen.

An experiment of readings scores every combination with `--split train` and writes the best as `frozen.json`. Otherwise
it scores only those of the committed `frozen.json`, on images that had no part in that.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

from imtorque.paper import Reading
from imtorque_reproduce.report import Request, provenance

TRAIN = "train"
FROZEN = "frozen.json"
Levels = Mapping[str, Mapping[str, Any]]  # of one choice: the fields of a reading that each level changes, by its name

SIGNS: Levels = {"joined": {"votes": "supporting"}, "apart": {"votes": "separate"}}
RULES: Levels = {
    "box": {"neighbourhood": "box", "end_scales": True, "inside": False},
    "cross": {"neighbourhood": "cross", "end_scales": False, "inside": True},
}
COUNTS: Levels = {
    "750 of each": {"count": 750, "each_sign": True},
    "5000": {"count": 5000, "each_sign": False},
    "all": {"count": None, "each_sign": False},
}
VOTES: Levels = {"sums": {"weight": "one"}, "over 2 s^2": {"weight": "area"}}


def up_to(*sizes: float) -> Levels:
    """Return the levels of the largest patch; below 1, in parts of the root of the image's area."""
    return {f"to {size}": {"sizes": size} for size in sizes}


def combinations(start: Reading, name: str, factors: Sequence[Levels]) -> dict[str, Reading]:
    """Return every combination of levels, by the name of the base and of each level."""
    found = {}
    for levels in product(*(factor.items() for factor in factors)):
        reading = start
        for _, changes in levels:
            reading = replace(reading, **changes)
        found[f"{name}+torque: {', '.join(level for level, _ in levels)}"] = reading
    return found


def best_of(scores: Mapping[str, float], names: Sequence[str]) -> str:
    """Return the name of the highest score; of equal ones the first."""
    return max(names, key=scores.__getitem__)


def read_frozen(path: Path) -> dict[str, Reading]:
    """Return the readings that a file holds, by base."""
    content = json.loads(path.read_text())
    return {base: Reading(**fields) for base, fields in content["readings"].items()}


def read_more(path: Path, name: str) -> Any:
    """Return what else a file of frozen readings holds, by its name."""
    return json.loads(path.read_text())[name]


def frozen_file(chosen: Mapping[str, Reading], request: Request, data: str, **more: Any) -> dict[str, bytes]:
    """Return the file of what was chosen, by its name: the reading of each base, and what else."""
    content = {
        **provenance(data=data, split=TRAIN, command=request.command),
        "readings": {base: asdict(reading) for base, reading in chosen.items()},
        **more,
    }
    return {FROZEN: (json.dumps(content, indent=1) + "\n").encode()}
