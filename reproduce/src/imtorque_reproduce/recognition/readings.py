"""The paper's recognition by torque alone (Sec. 4.4), read in ways that its words leave open, and in one they do not.

What the paper states: extrema of the torque, maxima and minima apart, regions of several sizes along eight directions,
patches turned towards the centroid of their edges, twice the weight for SIFT. What it leaves open: how many extrema,
where and how large the regions are, and how many words. Turned patches keep every reading far below the paper's
numbers, so that the row `torque-paper` does not turn them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque import evaluation
from imtorque.recognition.presets import SIGNED_BLOCKS, joined, paper_block
from imtorque_reproduce.report import Kind

SHOWN_SIZE = 15  # training images that the ladder is shown for, or the nearest to it
FORMER_REGIONS = {"regions": (1 / 4, 1 / 2, 1), "distances": (1 / 8, 1 / 4, 3 / 8, 1 / 2), "words": 1024}
FORMER = {"align": True, "count": 1000, **FORMER_REGIONS}


@dataclass(frozen=True)
class Step:
    """A step of the ladder: which choice is made, whether the paper states it, and how its patches are made."""

    choice: str
    kind: Kind
    options: Mapping[str, Any]

    def blocks(self) -> dict[str, Pipeline]:
        """Return the blocks of maxima and of minima."""
        return {f"{self.choice}, {name}": paper_block(sign, **self.options) for name, sign in SIGNED_BLOCKS.items()}

    def methods(self) -> dict[str, dict[str, float]]:
        """Return the weights of the blocks alone, and with SIFT 1 : 2."""
        own = dict.fromkeys(self.blocks(), 1.0)
        return {self.choice: joined((1, own)), f"{self.choice}, with SIFT": joined((2, {"sift": 1}), (1, own))}


STEPS = (
    Step("all extrema, not turned; regions from 1/8 to 1 of the patch, up to 3/4 away; 2048 words", "changed", {}),
    Step("patches are turned, as the paper says", "stated", {"align": True}),
    Step("turned, 1000 extrema, regions from 1/4 to 1, up to 1/2 away, 1024 words: version 0.1", "open", FORMER),
    Step("not turned, regions from 1/4 to 1, up to 1/2 away, 1024 words", "open", FORMER_REGIONS),
    Step("not turned, 1024 words", "open", {"words": 1024}),
    Step("not turned, 1000 extrema", "open", {"count": 1000}),
    Step("not turned, forces of the gradient instead of 1", "changed", {"force": "gradient"}),
)


def ladder_blocks(steps: Sequence[Step]) -> dict[str, Pipeline]:
    """Return the blocks of these steps."""
    return {name: block for step in steps for name, block in step.blocks().items()}


def ladder_methods(steps: Sequence[Step]) -> dict[str, dict[str, float]]:
    """Return the methods of these steps."""
    return {name: weights for step in steps for name, weights in step.methods().items()}


def ladder_rows(
    steps: Sequence[Step], order: Sequence[str], train: Sequence[int], accuracies: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """Return the ladder as results.json holds it, from accuracies (methods, sizes, splits, classes)."""
    at = min(range(len(train)), key=lambda k: abs(train[k] - SHOWN_SIZE))
    found = {name: accuracies[k, at] for k, name in enumerate(order)}
    rows = []
    for step in steps:
        alone, both = (found[name] for name in step.methods())
        gain = evaluation.bootstrap_difference(both.mean(axis=0), found["sift"].mean(axis=0))
        row: dict[str, Any] = {
            "choice": step.choice,
            "kind": step.kind,
            "train": train[at],
            "accuracy": float(alone.mean()),
        }
        bounds = {"gain": gain.value, "low": gain.low, "high": gain.high}
        rows.append({**row, "base": float(found["sift"].mean()), "with_sift": float(both.mean()), **bounds})
    return rows
