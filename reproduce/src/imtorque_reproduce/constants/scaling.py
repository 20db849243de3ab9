"""The constants of a package, one at a time smaller and larger, and the scores that follow."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from imtorque.jobs.processes import each
from imtorque_reproduce.report import Request
from imtorque_reproduce.scoring import Floats

FACTORS = (0.8, 1.25)  # that constants are multiplied by; convention
AS_IT_IS = "as-it-is"
NOTE = (
    "MODULE.NAME*FACTOR: one constant times this factor, counts rounded; learned rules, and defaults of arguments, as "
    "they are."
)
Constant = tuple[str, str]  # module, name


def score_changes(score: Callable[[], Floats], constants: Sequence[Constant], request: Request) -> dict[str, Floats]:
    """Return the scores with every constant as it is, then with each of them smaller and larger, by name."""
    changes = [(constant, factor) for constant in constants for factor in FACTORS]
    names = [f"{module.rpartition('.')[2]}.{name}*{factor:g}" for (module, name), factor in changes]
    found = each(partial(_score_changed, score=score), changes, request.jobs, "constants", "changes")
    return {AS_IT_IS: score(), **dict(zip(names, found, strict=True))}


def constants_of(package: str, modules: Sequence[str], fixed: Sequence[str] = ()) -> list[Constant]:
    """Return the constants that are numbers, or several, and change when scaled; modules before those that use them."""
    found: dict[str, str] = {}
    for module in (f"{package}.{name}" for name in modules):
        for name, value in vars(import_module(module)).items():
            if name.isupper() and name not in fixed and all(scaled(value, f) != value for f in FACTORS):
                found.setdefault(name, module)
    return [(module, name) for name, module in found.items()]


def scaled(value: Any, factor: float) -> Any:
    """Return a number, or each of several, times a factor, counts rounded; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(scaled(one, factor) for one in value)
    if type(value) is int:
        return round(value * factor)
    return value * factor if type(value) is float else value


@contextmanager
def changed(constant: Constant, factor: float) -> Iterator[None]:
    """Scale a constant wherever its package imports it, for a while."""
    module, name = constant
    value = vars(import_module(module))[name]
    package = module.rpartition(".")[0]
    loaded = [one for key, one in list(sys.modules.items()) if key.startswith(f"{package}.")]
    places = [one for one in loaded if vars(one).get(name) is value]
    try:
        for one in places:
            setattr(one, name, scaled(value, factor))
        yield
    finally:
        for one in places:
            setattr(one, name, value)


def _score_changed(change: tuple[Constant, float], score: Callable[[], Floats]) -> Floats:
    with changed(*change):
        return score()
