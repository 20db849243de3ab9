"""The image torque operator: how strongly the edges around each pixel circle it.

image -> Edges -> TorqueVolume, value and scale maps -> Extrema -> what made them, where people look.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from imtorque.boundaries import (
    BoundaryModel,
    OwnershipModel,
    border_ownership,
    boundary_strength,
    strengthen_edges,
)
from imtorque.core import deprecation as _deprecation
from imtorque.core.boxes import Boxes
from imtorque.core.contribution import contribution_map, dense_contribution
from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.moments import Moments, patch_moments
from imtorque.core.patterns import pattern_edges
from imtorque.core.quantisation import ForceStatistics
from imtorque.core.threads import get_num_threads, set_num_threads
from imtorque.core.torque import (
    default_sizes,
    smooth_volume,
    torque_coherence,
    torque_map,
    torque_spectrum,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.core.types import Edges, Extrema, TorqueVolume
from imtorque.detection import Blobs, ObjectFinder, find_blobs
from imtorque.detection.shape_classes import ShapeTorque
from imtorque.edges import (
    ContourTree,
    EdgeRecipe,
    OrientedMap,
    boundary_map,
    detect_edges,
    edges_from_depth,
    edges_from_map,
    edges_from_motion,
    gradient_edges,
    gradient_torque,
    optical_flow,
    ultrametric_contours,
)
from imtorque.saliency import blend_saliency, gbvs_saliency, itti_saliency, scan_path, torque_saliency
from imtorque.segmentation import alpha_expansion, edge_cue, grid_max_flow, segment_figure, segment_regions
from imtorque.segmentation.objects import propose_objects, segment_objects

if _TYPE_CHECKING:
    from imtorque.explorer.notebook import explore

__version__ = _version("imtorque")

__all__ = [
    "Blobs",
    "BoundaryModel",
    "Boxes",
    "ContourTree",
    "EdgeRecipe",
    "Edges",
    "Extrema",
    "ForceStatistics",
    "Moments",
    "ObjectFinder",
    "OrientedMap",
    "OwnershipModel",
    "ShapeTorque",
    "TorqueVolume",
    "alpha_expansion",
    "blend_saliency",
    "border_ownership",
    "boundary_map",
    "boundary_strength",
    "contribution_map",
    "default_sizes",
    "dense_contribution",
    "detect_edges",
    "edge_cue",
    "edges_from_depth",
    "edges_from_map",
    "edges_from_motion",
    "explore",
    "find_blobs",
    "find_extrema",
    "gbvs_saliency",
    "get_num_threads",
    "gradient_edges",
    "gradient_torque",
    "grid_max_flow",
    "itti_saliency",
    "optical_flow",
    "patch_moments",
    "pattern_edges",
    "propose_objects",
    "scan_path",
    "segment_figure",
    "segment_objects",
    "segment_regions",
    "set_num_threads",
    "smooth_volume",
    "strengthen_edges",
    "suppress_overlaps",
    "torque_coherence",
    "torque_map",
    "torque_saliency",
    "torque_spectrum",
    "torque_volume",
    "ultrametric_contours",
    "value_and_scale_maps",
]

# Loaded when first used: plotting brings matplotlib, torch PyTorch.
_SUBMODULES = (
    "datasets",
    "detection",
    "edges",
    "evaluation",
    "files",
    "images",
    "jobs",
    "paper",
    "plotting",
    "recognition",
    "render",
    "saliency",
    "segmentation",
    "synthetic",
    "tiling",
    "torch",
    "video",
    "volumes",
)


_deprecation.find_old_modules()


def __getattr__(name: str) -> _Any:
    if name == "explore":
        return _import_module("imtorque.explorer.notebook").explore
    if name in _SUBMODULES or f"imtorque.{name}" in _deprecation.MODULES:
        return _import_module(f"imtorque.{name}")
    return _deprecation.deprecated_name("imtorque", name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
