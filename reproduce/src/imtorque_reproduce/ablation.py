"""Ablation of readings: where the paper's words allow several, the effect of changing one choice at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from imtorque_reproduce.report import Interval

Kind = Literal["stated", "open", "changed"]  # the paper says so, leaves it open, or says otherwise
Reading = TypeVar("Reading")
READING = "reading:"  # begins the names of methods that stand in the ablation, not in the table


@dataclass(frozen=True)
class Step(Generic[Reading]):
    """A step of an ablation: which choice is made, whether the paper states it, and the reading that follows."""

    choice: str
    kind: Kind
    reading: Reading

    @property
    def name(self) -> str:
        """What the step is called among methods."""
        return f"{READING}{self.choice}"

    def row(self, numbers: Mapping[str, Any], gain: Interval) -> dict[str, Any]:
        """Return the step as results.json holds it: its numbers, and its gain over the same base without torque."""
        head = {"choice": self.choice, "kind": self.kind}
        return {**head, **numbers, "gain": gain.value, "low": gain.low, "high": gain.high}


def in_table(scores: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the scores of methods that stand in the table; keys are names, or tuples that begin with one."""
    return {
        key: found
        for key, found in scores.items()
        if not str(key if isinstance(key, str) else key[0]).startswith(READING)
    }
