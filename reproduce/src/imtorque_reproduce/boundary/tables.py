"""From the boundary scores of many images to the rows, differences and ablation of a table.

A base and its +torque row are matched as the benchmark does, by min_cost, all other rows by cardinality, unless one way
is asked for. Bases and +torque rows are matched both ways, so that every difference is between rows matched alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imtorque import evaluation
from imtorque.core.types import BoolArray, FloatArray
from imtorque.evaluation.matching import Matching
from imtorque_reproduce.ablation import READING, Step, in_table
from imtorque_reproduce.boundary.ablation import base_name
from imtorque_reproduce.plots import curves_image
from imtorque_reproduce.report import Request, difference
from imtorque_reproduce.scoring import gather

OPTIONS = ("matching", "samples")
MAX_DISTANCE, THRESHOLDS = 0.0075, 99  # the benchmark's, which `evaluation.boundary_scores` has as defaults; convention
Scores = dict[tuple[str, str], evaluation.BoundaryScores]  # by method and matching


@dataclass(frozen=True)
class Table:
    """The scores of every method on all images, by method and matching."""

    scores: Mapping[tuple[str, str], Sequence[evaluation.BoundaryScores]]
    samples: int  # resamplings of an interval
    matching: str = ""  # of all rows; "": each has its own

    @classmethod
    def of(cls, images: Sequence[Scores], request: Request, matching: str = "") -> Table:
        """Return the table of images, matched as they were scored."""
        return cls(gather(images), request.number("samples", 2000), matching)

    @property
    def methods(self) -> list[str]:
        """Those that stand in the table, not in the ablation."""
        return list(dict.fromkeys(method for method, _ in in_table(self.scores)))

    def summary(self, method: str) -> evaluation.BoundarySummary:
        """Summarise a method over all images, matched its own way."""
        return evaluation.summarise_boundaries(
            next(found for (name, _), found in self.scores.items() if name == method)
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table."""
        rows = []
        for method in self.methods:
            summary = self.summary(method)
            numbers = {"f": summary.ods.f, "ois": summary.ois.f, "ap": summary.ap, "threshold": summary.ods.threshold}
            rows.append({"method": method, **numbers, "matching": matchings(method, self.matching)[0]})
        return rows

    def differences(self, pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
        """Return the differences in F of those pairs of methods that were scored, with intervals."""
        return [
            {**difference(a, b, "f", self._interval(a, b, shared[0])), "matching": shared[0]}
            for a, b in pairs
            if (shared := self._shared_matchings(a, b))
        ]

    def ablation(self, steps: Sequence[Step[Any]]) -> list[dict[str, Any]]:
        """Return the ablation as results.json holds it: F of each step, of its base, and what torque adds."""
        rows = []
        for step in steps:
            base = f"{READING}{base_name(step.reading)}"
            numbers = {"base": self.summary(base).ods.f, "f": self.summary(step.name).ods.f}
            matching = self._shared_matchings(step.name, base)[0]
            rows.append(step.row(numbers, self._interval(step.name, base, matching)))
        return rows

    def curves(self, methods: Iterable[str]) -> bytes:
        """Draw precision and recall of these methods."""
        return curves_image({method: self.summary(method) for method in methods})

    def _shared_matchings(self, a: str, b: str) -> list[str]:
        return [matching for name, matching in self.scores if name == a and (b, matching) in self.scores]

    def _interval(self, a: str, b: str, matching: str) -> evaluation.Difference:
        pair = self.scores[a, matching], self.scores[b, matching]
        return evaluation.bootstrap_ods_difference(*pair, samples=self.samples)


def chosen_matching(request: Request) -> str:
    """Return the matching asked for, "" where each row is to have its own."""
    return request.option("matching", "", ("", "min_cost", "cardinality"))


def score_maps(maps: Mapping[str, FloatArray], truths: Sequence[BoolArray], chosen: str) -> Scores:
    """Score the boundary map of every method on one image."""
    return {
        (method, matching): evaluation.boundary_scores(found, truths, matching=matching)
        for method, found in maps.items()
        for matching in matchings(method, chosen)
    }


def matchings(method: str, chosen: str) -> tuple[Matching, ...]:
    """Return how a method is matched: its own way first, then the way of the rows it is compared with."""
    if chosen == "min_cost":
        return ("min_cost",)
    extra = method == "torque" or method.startswith(("control:", READING)) or "+torque-" in method
    if chosen == "cardinality" or extra:
        return ("cardinality",)
    return ("min_cost", "cardinality")


def stands_on(method: str, base: str) -> bool:
    """Return whether a method starts from the edges of a base."""
    return method.removeprefix("control:").startswith(f"{base}+")
