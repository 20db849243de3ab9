"""The paper's recognition by torque alone (Sec. 4.4), read in ways that its words leave open, and in one they do not.

What the paper states: extrema of the torque, maxima and minima apart, rectangles beside squares, regions of several
sizes along eight directions, whose centres lie in the patch, patches turned towards the centroid of their edges, twice
the weight for SIFT. What it leaves open: which extrema and how many, how large the regions are, whether their torque
counts or its magnitude (Fig. 19), and how many words. Turned patches keep every reading far below the paper's numbers,
so that the row `torque-paper` does not turn them; rectangles beside squares lose, and it has none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque import evaluation
from imtorque.recognition.presets import SIGNED_BLOCKS, joined, paper_block
from imtorque_reproduce.ablation import Step

SHOWN_SIZE = 15  # training images of the ablation, or the nearest number to it; convention
Options = Mapping[str, Any]  # of `paper_block`
# Version 0.1's, and the distances of 0.2, of which the last lies outside the patch.
FORMER_REGIONS = {"regions": (1 / 4, 1 / 2, 1), "distances": (1 / 8, 1 / 4, 3 / 8, 1 / 2), "words": 1024}
BOXES = {"neighbourhood": "box"}
FORMER = {"align": True, "count": 1000, **BOXES, **FORMER_REGIONS}
BEYOND = {"distances": (1 / 8, 1 / 4, 1 / 2, 3 / 4), **BOXES}


STEPS: tuple[Step[Options], ...] = (
    Step("all extrema, not turned; regions from 1/8 to 1 of the patch, centres in it; 2048 words", "changed", {}),
    Step("patches are turned, as the paper says", "stated", {"align": True}),
    Step("not turned, magnitudes of the torque, without its sign", "open", {"signs": False}),
    Step("not turned, extrema above all 26 neighbours", "open", BOXES),
    Step("not turned, rectangles of 1 : 2 and 2 : 1 besides", "stated", {"aspects": (1, 1 / 2, 2)}),
    Step("not turned, all 26 neighbours, centres up to 3/4 of the side away: version 0.2", "changed", BEYOND),
    Step("not turned, 1024 words", "open", {"words": 1024}),
    Step("not turned, 1000 extrema", "open", {"count": 1000}),
    Step("not turned, forces of the gradient instead of 1", "changed", {"force": "gradient"}),
    Step("turned, 1000 extrema, regions from 1/4 to 1, up to 1/2 away, 1024 words: version 0.1", "open", FORMER),
)


def blocks_of(step: Step[Options], **changes: Any) -> dict[str, Pipeline]:
    """Return the blocks of maxima and of minima of a step, with changes that all steps have."""
    options = {**step.reading, **changes}
    return {f"{step.choice}, {name}": paper_block(sign, **options) for name, sign in SIGNED_BLOCKS.items()}


def methods_of(step: Step[Options]) -> dict[str, dict[str, float]]:
    """Return the weights of a step's blocks alone, and with SIFT 1 : 2."""
    own = dict.fromkeys(blocks_of(step), 1.0)
    return {step.choice: joined((1, own)), f"{step.choice}, with SIFT": joined((2, {"sift": 1}), (1, own))}


def ablation_rows(
    steps: Sequence[Step[Options]], order: Sequence[str], train: Sequence[int], accuracies: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """Return the ablation as results.json holds it, from accuracies (methods, sizes, splits, classes)."""
    at = min(range(len(train)), key=lambda k: abs(train[k] - SHOWN_SIZE))
    found = {name: accuracies[k, at] for k, name in enumerate(order)}
    rows = []
    for step in steps:
        alone, both = (found[name] for name in methods_of(step))
        gain = evaluation.bootstrap_difference(both.mean(axis=0), found["sift"].mean(axis=0))
        numbers = {"train": train[at], "accuracy": float(alone.mean())}
        numbers |= {"base": float(found["sift"].mean()), "with_sift": float(both.mean())}
        rows.append(step.row(numbers, gain))
    return rows
