"""Public names of version 0.2 that have changed: they go on working, with a warning, until 0.4."""

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar, cast

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
    "imtorque.finding.Contours": "imtorque.detection.Proposals",
    "imtorque.finding.claim_edges": "imtorque.detection.suppress_by_edges",
    "imtorque.finding.fit_contours": "imtorque.detection.fit_outlines",
    "imtorque.finding.picture_levels": "imtorque.detection.image_pyramid",
    "imtorque.finding.refine_contours": "imtorque.detection.refine_outlines",
    "imtorque.finding.torque_candidates": "imtorque.detection.torque_seeds",
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
    "imtorque.Survey": "imtorque.ForceStatistics",
    "imtorque.scale.World": "imtorque.tiling.Affine",
}

# Old attribute of a class -> new attribute.
ATTRIBUTES = {
    "Affine.is_plain": "is_axis_aligned",
    "Affine.places": "transform",
    "Edges.survey": "statistics",
    "Exploration.found": "objects",
    "Exploration.marks": "annotations",
    "FrameBlobs.sure": "min_score",
    "Linker.covered": "occluded",
    "Linking.reach": "search_range",
    "ObjectFinder.label_next": "query",
    "ObjectFinder.setting_": "best_params_",
    "Source.world": "affine",
}

# Old keyword of a class or function -> new keyword.
KEYWORDS = {
    "FrameBlobs": {"sure": "min_score"},
    "Linking": {"reach": "search_range"},
    "ObjectFinder.fit": {"objects": "annotations", "pictures": "images", "wrong": "negatives"},
    "ObjectFinder.predict": {"picture": "image"},
    "ObjectFinder.score": {"objects": "annotations", "pictures": "images"},
    "find_blobs": {"picture": "image", "recipe": "method", "sure": "min_score"},
    "process_files": {"patience": "heartbeat_timeout"},
    "run_tasks": {"careful": "on_crash", "patience": "heartbeat_timeout"},
}

# Names that went without a successor -> what to use in their place.
REMOVED = {
    f"imtorque.scale.{name}": f"imtorque.tiling.process_image, which takes dask and xarray arrays ({outputs})"
    for name, outputs in {
        "detect_edges": 'outputs=["edges"]',
        "survey": "Summary.steps",
        "torque_volume": 'one size at a time, outputs=["value"]',
        "value_and_scale_maps": 'outputs=["value", "scale"]',
    }.items()
}

T = TypeVar("T", bound=Callable[..., Any])


def find_old_modules() -> None:
    """Let old modules be imported by their old names."""
    if not any(isinstance(finder, _OldModules) for finder in sys.meta_path):
        sys.meta_path.append(_OldModules())


def deprecated_name(module: str, name: str) -> Any:
    """Return what an old name of a module stands for, with a warning; AttributeError where there is none."""
    old = f"{module}.{name}"
    if old in REMOVED:
        raise AttributeError(f"{old} was removed in version 0.3: use {REMOVED[old]}")
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


def deprecated_attribute(owner: object, name: str) -> Any:
    """Return what an old attribute stands for, with a warning; AttributeError where there is none."""
    old = next((old for kind in type(owner).__mro__ if (old := f"{kind.__name__}.{name}") in ATTRIBUTES), None)
    if old is None:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    new = ATTRIBUTES[old]
    warnings.warn(f"{old} is now {new}; the old name goes with version 0.4", DeprecationWarning, stacklevel=3)
    return getattr(owner, new)


def accept_old_keywords(called: T) -> T:
    """Let a function, or the `__init__` of a class named in the table, take its keywords by their old names."""
    owner = called.__qualname__.removesuffix(".__init__")
    table = KEYWORDS[owner]

    @wraps(called)
    def wrapper(*args: Any, **given: Any) -> Any:
        for old in table.keys() & given.keys():
            warnings.warn(
                f"{owner}({old}=) is now {table[old]}; the old name goes with version 0.4",
                DeprecationWarning,
                stacklevel=2,
            )
            given[table[old]] = given.pop(old)
        return called(*args, **given)

    return cast(T, wrapper)


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
