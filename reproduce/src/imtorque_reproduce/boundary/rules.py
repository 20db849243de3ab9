"""The learned rows of the boundary experiment: which cues each has beside the strength, and what was learned before."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np

from imtorque.boundaries.strength import BoundaryModel
from imtorque.core.types import FloatArray
from imtorque.edges.token_forest import kept_forest
from imtorque_reproduce.boundary.rows import second_powers

UCM = "gpb-ucm"
STRONG = ("pb", "gpb")  # the paper's other bases, as they are built here
TOKENS = "sketch-tokens"  # a forest that has seen the training images: nothing is learned from its edges there
MULTI, MULTI_OF = "canny-multi", "canny-sqrt2"  # the edges of smaller images besides, and the base they are added to


@dataclass(frozen=True)
class Rule:
    """How a row is learned: the cues beside the strength, and the form of the regression.

    `quadratic` is that of `BoundaryModel`; `powers` are those of `rows.second_powers`.
    """

    method: str
    cues: tuple[str, ...]
    quadratic: bool = False
    logarithm: bool = True
    powers: bool = False

    def stack(self, strength: FloatArray, cues: Mapping[str, FloatArray]) -> FloatArray:
        """Select the rule's cues, (K, H, W), with their second powers where it has them."""
        own = {name: cues[name] for name in self.cues}
        return np.concatenate([*own.values(), *([second_powers(strength, own)] if self.powers else [])])

    def model(self) -> BoundaryModel:
        """Return the regression, not fitted yet."""
        return BoundaryModel(quadratic=self.quadratic, logarithm=self.logarithm)


def learned_bases() -> tuple[str, ...]:
    """Return the learned detectors that there are on this computer."""
    return (*STRONG, *([TOKENS] if kept_forest().is_file() else []))


def rules(base: str) -> list[Rule]:
    """Return the learned rows of a base."""
    main = Rule(f"{base}+torque", ("sizes",), quadratic=True)
    if base == TOKENS:
        return []
    if base in (UCM, *STRONG):
        return [main]
    control = f"control:{base}+gradient+density"
    shared = [
        main,
        Rule(f"{base}+torque-paper", ("extrema",), logarithm=False),
        Rule(control, ("gradient", "density")),
        Rule(f"{control}+torque", ("gradient", "density", "sizes")),
    ]
    return shared if base != MULTI_OF else [*shared, *_further(base)]


def _further(base: str) -> list[Rule]:
    """Return rows that one base alone has: the contribution as one number, single controls, and smaller images."""
    single = [Rule(f"control:{base}+{cue}", (cue,)) for cue in ("density", "gradient", "position")]
    control = f"control:{MULTI}+gradient+density"
    return [
        Rule(f"{base}+torque-logistic", ("contribution",)),
        *single,
        Rule(MULTI, ("multi",), powers=True),
        Rule(f"{MULTI}+torque", ("multi", "sizes", "small-sizes"), powers=True),
        Rule(control, ("multi", "gradient", "density"), powers=True),
        Rule(f"{control}+torque", ("multi", "gradient", "density", "sizes", "small-sizes"), powers=True),
    ]


def learned_before() -> dict[str, list[float]]:
    """Return what was learned from Berkeley's 200 training images, for data without a part to learn from."""
    text = resources.files("imtorque_reproduce.boundary").joinpath("coefficients.json").read_text("utf-8")
    learned: dict[str, list[float]] = json.loads(text)
    return learned
