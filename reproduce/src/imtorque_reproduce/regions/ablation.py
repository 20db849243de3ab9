"""The paper's regions (Sec. 4.3.1), read with other numbers: the paper names none.

What the paper states: torque extrema with their scales, a colour histogram of each, a cut with many labels whose links
follow colour. What it leaves open: how many extrema, how much a border costs, and everything about the histograms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from imtorque import evaluation
from imtorque.core.types import FloatArray
from imtorque_reproduce.ablation import Step
from imtorque_reproduce.regions.rows import METHODS

PAPER_FORM = "torque-paper"


@dataclass(frozen=True)
class Choice:
    """What training images chose for a method: the variant, and the place of the parameter's value."""

    variant: str
    place: int


def ablation_rows(
    found: Mapping[str, FloatArray], chosen: Choice, normalised: FloatArray, samples: int
) -> list[dict[str, Any]]:
    """Return the ablation as results.json holds it, beside what training images chose.

    From the covering of each image by variant of the paper's form and number of models, (n, K), and that by the
    normalised cut, (n,).
    """
    others = [Choice(chosen.variant, place) for place in range(found[chosen.variant].shape[1])]
    others += [Choice(variant, chosen.place) for variant in found]
    rows = []
    for choice in dict.fromkeys([chosen, *others]):
        step = Step(_describe(choice, chosen), "stated" if choice == chosen else "open", choice)
        own = found[choice.variant][:, choice.place]
        numbers = {"base": float(normalised.mean()), "covering": float(own.mean())}
        rows.append(step.row(numbers, evaluation.bootstrap_difference(own, normalised, samples=samples)))
    return rows


def _describe(choice: Choice, chosen: Choice) -> str:
    count = METHODS[PAPER_FORM][choice.variant].values[choice.place]
    if choice == chosen:
        numbers = f"{count:g} extrema, {choice.variant}"
        return f"extrema, their colours, one cut; open, chosen on training images: {numbers}"
    return choice.variant if choice.variant != chosen.variant else f"{count:g} extrema"
