"""The calls of kernels that tests make on one processor (record.py), made again on another (replay.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from imtorque import _native

NOT_KERNELS = {
    "num_threads",
    "set_num_threads",
    "uses_avx2",
    "allow_avx2",
    "uses_avx512",
    "allow_avx512",
    "use_all_threads",
    "watch_nothing",
}
METHODS = ("statistics", "turned")
FIELD = _native.EdgeField  # while calls are recorded a class of its own stands in its place
KERNELS = {name for name in dir(_native) if name[0].islower() and name[0] != "_"} - NOT_KERNELS


@dataclass
class Force:
    """What a field of edges is made of; the kernels' own object cannot be written to a file."""

    fx: np.ndarray
    fy: np.ndarray
    steps: float | None

    def field(self) -> Any:
        """Return the kernels' object."""
        field = _native.EdgeField(self.fx, self.fy)
        if self.steps is not None:
            field.round_to(self.steps)
        return field


@dataclass
class Call:
    """A call of a kernel: its name, what it was given, what its arrays held afterwards, and what it returned."""

    name: str
    given: dict[str | int, Any]
    after: dict[str | int, Any]
    result: Any

    def again(self) -> bool:
        """Make the call, and return whether all bits are the same."""
        given = {key: as_kernels_take_it(value) for key, value in self.given.items()}
        places = [given[key] for key in given if isinstance(key, int)]
        named = {key: value for key, value in given.items() if isinstance(key, str)}
        if self.name in METHODS:
            result = getattr(places[0], self.name)(*places[1:], **named)
        else:
            result = getattr(_native, self.name)(*places, **named)
        compared = (settled(self.name, value) for value in (plain(result), self.result))
        return same(*compared) and same({key: given[key] for key in self.after}, self.after)


def settled(name: str, result: Any) -> Any:
    """Return of a result what does not depend on which thread comes first."""
    if name == "extrema_of_field":
        return result[:-1]  # the last says how many patches were computed
    if name == "unmerged_extrema":
        return result[np.lexsort(result.T)]  # in any order
    return result


def as_kernels_take_it(value: Any) -> Any:
    """Return an argument made from what was written."""
    return value.field() if isinstance(value, Force) else value.copy() if isinstance(value, np.ndarray) else value


def plain(value: Any) -> Any:
    """Return a copy that can be written to a file."""
    if isinstance(value, FIELD):
        return Force(np.array(value.fx), np.array(value.fy), getattr(value, "steps", None))
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(plain, value)) if isinstance(value, tuple | list) else value


def same(one: Any, other: Any) -> bool:
    """Return whether two results have the same types, shapes and bits; of two NaN the bits do not matter."""
    if isinstance(one, Force):
        return same((one.fx, one.fy), (other.fx, other.fy))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "f":
        one, other = (np.where(np.isnan(values), one.dtype.type("nan"), values) for values in (one, other))
    return one.tobytes() == other.tobytes()
