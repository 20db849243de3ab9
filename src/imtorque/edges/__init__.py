"""From image to edge vectors (Sec. 3.1 of the paper): Canny, pb, gPb, a network, any map, depth, motion."""

from imtorque.edges.canny import SQRT2, detect_edges
from imtorque.edges.depth import edges_from_depth
from imtorque.edges.detectors import DEFAULT_DETECTOR, DETECTORS, CannyOptions, Detector, MapOptions, boundary_map
from imtorque.edges.gradient import gradient_edges, gradient_torque
from imtorque.edges.maps import edges_from_map
from imtorque.edges.motion import edges_from_motion, optical_flow
from imtorque.edges.network import BoundaryNetwork
from imtorque.edges.oriented import OrientedMap
from imtorque.edges.recipes import RECIPES, EdgeRecipe, canny_recipe, find_recipe
from imtorque.edges.token_forest import SketchTokens
from imtorque.edges.ultrametric import ContourTree, ultrametric_contours

__all__ = [
    "DEFAULT_DETECTOR",
    "DETECTORS",
    "RECIPES",
    "SQRT2",
    "BoundaryNetwork",
    "CannyOptions",
    "ContourTree",
    "Detector",
    "EdgeRecipe",
    "MapOptions",
    "OrientedMap",
    "SketchTokens",
    "boundary_map",
    "canny_recipe",
    "detect_edges",
    "edges_from_depth",
    "edges_from_map",
    "edges_from_motion",
    "find_recipe",
    "gradient_edges",
    "gradient_torque",
    "optical_flow",
    "ultrametric_contours",
]
