"""A plugin of pytest that keeps, of every kernel, calls drawn at random from all that the tests make.

PYTHONPATH=wheels CALLS=calls.pickle python -m pytest -p record tests/native ...
"""

from __future__ import annotations

import os
import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from calls import FIELD, KERNELS, METHODS, Call, plain, same

from imtorque import _native

KEPT = 40  # calls of a kernel
LARGEST = 2**18  # bytes of arrays in a call


class Recorder:
    """Stands between the tests and the kernels, and keeps a random choice of the calls of each."""

    def __init__(self) -> None:
        """Begin with none."""
        self.calls: dict[str, list[Call]] = {}
        self.seen: Counter[str] = Counter()
        self.random = random.Random(0)

    def keep(self, call: Call) -> None:
        """Keep a call, or not: each has the same chance."""
        arrays = [value for value in (*call.given.values(), call.result) if isinstance(value, np.ndarray)]
        if sum(array.nbytes for array in arrays) > LARGEST:
            return
        kept = self.calls.setdefault(call.name, [])
        self.seen[call.name] += 1
        if len(kept) < KEPT:
            kept.append(call)
        elif (at := self.random.randrange(self.seen[call.name])) < KEPT:
            kept[at] = call

    def recorded(self, name: str, kernel: Any) -> Any:
        """Return a kernel whose calls are kept; one that raises is not."""

        def call(*places: Any, **named: Any) -> Any:
            arguments = {**dict(enumerate(places)), **named}
            given = {key: plain(value) for key, value in arguments.items()}
            result = kernel(*places, **named)
            arrays = {key: value.copy() for key, value in arguments.items() if isinstance(value, np.ndarray)}
            after = {key: array for key, array in arrays.items() if not same(array, given[key])}
            self.keep(Call(name, given, after, plain(result)))
            # A field that kernels make is to know what it is rounded to, too.
            return _native.EdgeField(result.fx, result.fy) if type(result) is FIELD else result

        return call

    def install(self) -> None:
        """Put the recorded kernels in the place of the kernels."""
        for name in KERNELS:
            setattr(_native, name, self.recorded(name, getattr(_native, name)))
        _native.EdgeField = self.field_class(_native.EdgeField)

    def field_class(self, base: Any) -> Any:
        """Return a class of fields that know what they are rounded to, and whose methods' calls are kept."""

        class Field(base):
            def round_to(self, steps: float) -> None:
                self.steps = steps
                super().round_to(steps)

            def turned(self, *factors: float) -> Any:
                turned = super().turned(*factors)
                return type(self)(turned.fx, turned.fy)

        for name in METHODS:
            setattr(Field, name, self.recorded(name, vars(Field).get(name, getattr(base, name))))
        return Field


RECORDER = Recorder()


def pytest_configure() -> None:
    """Record from here on."""
    RECORDER.install()


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Write what was kept; a kernel that the tests never called is an error."""
    missing = sorted(KERNELS.union(METHODS) - RECORDER.calls.keys())
    if missing and not exitstatus:
        session.exitstatus = 1
        print(f"\nthe tests must call every kernel, got no call of {', '.join(missing)}")
    calls = [call for name in sorted(RECORDER.calls) for call in RECORDER.calls[name]]
    with Path(os.environ["CALLS"]).open("wb") as file:
        pickle.dump(calls, file)
