"""The learned rows of the boundary experiment: which cues each has beside the strength, and what was learned before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from imtorque.boundaries import EdgeStrengthener

UCM = "gpb-ucm"
MULTI, MULTI_OF = "canny-multi", "canny-sqrt2"  # the edges of smaller pictures besides, and the base they are added to


@dataclass(frozen=True)
class Rule:
    """How a row is learned: the cues beside the strength, and the form of the regression."""

    method: str
    cues: tuple[str, ...]
    quadratic: bool = False
    logarithm: bool = True

    def strengthener(self) -> EdgeStrengthener:
        """Return the regression, not fitted yet."""
        return EdgeStrengthener(quadratic=self.quadratic, logarithm=self.logarithm)


def rules(base: str) -> list[Rule]:
    """Return the learned rows of a base."""
    main = Rule(f"{base}+torque", ("sizes",), quadratic=True)
    if base == UCM:
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
    """Return rows that one base alone has: the contribution as one number, single controls, and smaller pictures."""
    single = [Rule(f"control:{base}+{cue}", (cue,)) for cue in ("density", "gradient", "position")]
    control = f"control:{MULTI}+gradient+density"
    return [
        Rule(f"{base}+torque-logistic", ("contribution",)),
        *single,
        Rule(MULTI, ("multi",)),
        Rule(f"{MULTI}+torque", ("multi", "sizes", "small-sizes")),
        Rule(control, ("multi", "gradient", "density")),
        Rule(f"{control}+torque", ("multi", "gradient", "density", "sizes", "small-sizes")),
    ]


def learned_before() -> dict[str, list[float]]:
    """Return what was learned from Berkeley's 200 training images, for data without a part to learn from."""
    text = resources.files("imtorque.experiments").joinpath("boundary_coefficients.json").read_text("utf-8")
    learned: dict[str, list[float]] = json.loads(text)
    return learned
