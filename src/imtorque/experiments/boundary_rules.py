"""The learned rows of the boundary experiment: which cues each has beside the strength, and what was learned before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from imtorque.boundaries import EdgeStrengthener

UCM = "gpb-ucm"


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
    return [
        main,
        Rule(f"{base}+torque-logistic", ("contribution",)),
        Rule(f"{base}+torque-paper", ("extrema",), logarithm=False),
        Rule(f"control:{base}+density", ("density",)),
        Rule(f"control:{base}+gradient", ("gradient",)),
        Rule(f"control:{base}+position", ("position",)),
        Rule(f"control:{base}+gradient+density", ("gradient", "density")),
        Rule(f"control:{base}+gradient+density+torque", ("gradient", "density", "sizes")),
        Rule(f"control:{base}+multi", ("multi",)),
        Rule(f"{base}+multi+torque", ("multi", "sizes")),
        Rule(f"control:{base}+multi+gradient+density", ("multi", "gradient", "density")),
        Rule(f"control:{base}+multi+gradient+density+torque", ("multi", "gradient", "density", "sizes")),
    ]


def learned_before() -> dict[str, list[float]]:
    """Return what was learned from Berkeley's 200 training images, for data without a part to learn from."""
    text = resources.files("imtorque.experiments").joinpath("boundary_coefficients.json").read_text("utf-8")
    learned: dict[str, list[float]] = json.loads(text)
    return learned
