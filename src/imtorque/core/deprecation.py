"""Public names of version 0.2 that have changed: they go on working, with a warning, until 0.4."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Old module -> where its names are now.
MODULES = {
    "imtorque.films": "imtorque.video",
    "imtorque.finding": "imtorque.detection",
    "imtorque.patterns": "imtorque.core.patterns",
    "imtorque.resizing": "imtorque.core.resizing",
    "imtorque.scale": "imtorque.tiling",
    "imtorque.scenes": "imtorque.synthetic",
    "imtorque.shapes": "imtorque.detection.shape_classes",
}

# Old name -> new name, for names that did not simply move with their module.
NAMES = {
    "imtorque.EdgeStrengthener": "imtorque.BoundaryModel",
    "imtorque.films.FilmSummary": "imtorque.video.VideoSummary",
    "imtorque.films.open_film": "imtorque.video.open_video",
    "imtorque.finding.picture_levels": "imtorque.detection.image_levels",
    "imtorque.images.Picture": "imtorque.images.CheckedImage",
    "imtorque.paper.paper_strength": "imtorque.paper.strengthened_edges",
    "imtorque.paper.strengthened_as_printed": "imtorque.paper.strengthened_edges",
    "imtorque.paper_strength": "imtorque.paper.strengthened_edges",
    "imtorque.recognition.LinearMachines": "imtorque.recognition.LinearSVM",
    "imtorque.resizing.shrink_image": "imtorque.images.shrink_image",
    "imtorque.scale.Failure": "imtorque.jobs.Failure",
    "imtorque.scale.open_picture": "imtorque.tiling.open_image",
    "imtorque.scale.process_files": "imtorque.jobs.process_files",
    "imtorque.scale.process_picture": "imtorque.tiling.process_image",
    "imtorque.scale.run_tasks": "imtorque.jobs.run_tasks",
    "imtorque.scenes.FilmScene": "imtorque.synthetic.VideoScene",
    "imtorque.scenes.film_scene": "imtorque.synthetic.video_scene",
}


def find_old_modules() -> None:
    """Let old modules be imported by their old names."""
    if not any(isinstance(finder, _OldModules) for finder in sys.meta_path):
        sys.meta_path.append(_OldModules())


def deprecated_name(module: str, name: str) -> Any:
    """Return what an old name of a module stands for, with a warning; AttributeError where there is none."""
    old = f"{module}.{name}"
    new = NAMES.get(old) or (f"{MODULES[module]}.{name}" if module in MODULES else None)
    if new is None or name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    target, _, attribute = new.rpartition(".")
    try:
        found = getattr(import_module(target), attribute)
    except AttributeError:
        raise AttributeError(f"module {module!r} has no attribute {name!r}") from None
    warnings.warn(f"{old} is now {new}; the old name goes with version 0.4", DeprecationWarning, stacklevel=3)
    return found


class _OldModules(MetaPathFinder, Loader):
    """Finds modules by their old names, after all other finders have failed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the module look its names up in the table."""
        name = module.__name__
        vars(module)["__getattr__"] = lambda attribute: deprecated_name(name, attribute)
