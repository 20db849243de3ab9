"""From the boundary scores of many images to the rows and differences of a table.

A base and its +torque row are matched as the benchmark does, by min_cost, all other rows by cardinality, unless one way
is asked for. Bases and +torque rows are matched both ways, so that every difference is between rows matched alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from imtorque import evaluation
from imtorque.core.types import BoolArray, FloatArray
from imtorque.evaluation.matching import Matching
from imtorque_reproduce.report import Request, difference

OPTIONS = ("matching", "samples")
READING = "reading:"  # begins the names of maps that stand in the ladder of readings, not in the table
Scores = dict[tuple[str, str], evaluation.BoundaryScores]  # by method and matching
AllScores = Mapping[tuple[str, str], Sequence[evaluation.BoundaryScores]]


def chosen_matching(request: Request) -> str:
    """Return the matching asked for, "" where each row is to have its own."""
    return request.option("matching", "", ("", "min_cost", "cardinality"))


def resamplings(request: Request) -> int:
    """Return how often images are drawn for an interval."""
    given = request.option("samples", "2000")
    if not (given.isdecimal() and int(given) > 0):
        raise ValueError(f"samples must be a positive number, got {given}")
    return int(given)


def score_maps(maps: Mapping[str, FloatArray], truths: Sequence[BoolArray], chosen: str) -> Scores:
    """Score the boundary map of every method on one image."""
    return {
        (method, matching): evaluation.boundary_scores(found, truths, matching=matching)
        for method, found in maps.items()
        for matching in matchings(method, chosen)
    }


def gather(images: Sequence[Scores]) -> AllScores:
    """Turn scores per image into images per score."""
    return {key: [image[key] for image in images] for key in images[0]}


def summary_of(scores: AllScores, method: str) -> evaluation.BoundarySummary:
    """Summarise a method over all images, matched its own way."""
    return evaluation.summarise_boundaries(next(found for (name, _), found in scores.items() if name == method))


def rows_of(scores: AllScores, chosen: str) -> list[dict[str, Any]]:
    """Return the rows of the table."""
    rows = []
    for method in dict.fromkeys(method for method, _ in scores):
        summary = summary_of(scores, method)
        numbers = {"f": summary.ods.f, "ois": summary.ois.f, "ap": summary.ap, "threshold": summary.ods.threshold}
        rows.append({"method": method, **numbers, "matching": matchings(method, chosen)[0]})
    return rows


def differences_of(scores: AllScores, pairs: Iterable[tuple[str, str]], samples: int) -> list[dict[str, Any]]:
    """Return the differences in F of pairs of methods, with intervals from so many resamplings."""
    rows = []
    for a, b in pairs:
        matching = next(m for name, m in scores if name == a and (b, m) in scores)
        interval = evaluation.bootstrap_ods_difference(scores[a, matching], scores[b, matching], samples=samples)
        rows.append({**difference(a, b, "f", interval), "matching": matching})
    return rows


def stands_on(method: str, base: str) -> bool:
    """Return whether a method starts from the edges of a base."""
    return method.removeprefix("control:").startswith(f"{base}+")


def matchings(method: str, chosen: str) -> tuple[Matching, ...]:
    """Return how a method is matched: its own way first, then the way of the rows it is compared with."""
    if chosen == "min_cost":
        return ("min_cost",)
    extra = method == "torque" or method.startswith(("control:", READING)) or "+torque-" in method
    if chosen == "cardinality" or extra:
        return ("cardinality",)
    return ("min_cost", "cardinality")
