"""Names of version 0.1 that go on working, with a warning, until 0.3."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MODULES = {
    "imtorque.boundary": "imtorque.contribution",
    "imtorque.strengthen": "imtorque.boundaries",
    "imtorque.colour": "imtorque.images",
    "imtorque.objects": "imtorque.segmentation.objects",
    "imtorque.pictures": "imtorque.render.torque",
    "imtorque.heat_pictures": "imtorque.render.saliency",
    "imtorque.mask_pictures": "imtorque.render.figures",
    "imtorque.region_pictures": "imtorque.render.regions",
    "imtorque.evaluate_folders": "imtorque.scoring.folders",
    "imtorque.evaluate_saliency": "imtorque.scoring.saliency",
}


def renamed_argument(old: str, new: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a keyword argument be given by its old name too."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{new} must be given once, got also its old name {old}")
                _warn(f"the argument {old} of {function.__name__}", new, level=3)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def warn_renamed(old: str, new: str) -> None:
    """Say that something has a new name; to be called where it is looked up."""
    _warn(old, new)


def find_old_modules() -> None:
    """Let the old modules be imported by their old names."""
    if not any(isinstance(finder, _OldModules) for finder in sys.meta_path):
        sys.meta_path.append(_OldModules())


class _OldModules(MetaPathFinder, Loader):
    """Finds modules by their old names, after all other finders have failed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _warn(f"the module {spec.name}", MODULES[spec.name], level=3)
        return import_module(MODULES[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module it stands for has run."""


def _warn(old: str, new: str, level: int = 4) -> None:
    warnings.warn(
        f"{old} is now called {new}; the old name goes with version 0.3", DeprecationWarning, stacklevel=level
    )
