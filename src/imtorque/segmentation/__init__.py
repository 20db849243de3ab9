"""Segmentation: graph cuts on pixel grids, regions around torque extrema, and the object under a click."""

from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.figure import segment_figure
from imtorque.segmentation.graph_cut import grid_max_flow
from imtorque.segmentation.region_graph import RegionTree
from imtorque.segmentation.regions import region_tree, segment_regions

__all__ = [
    "RegionTree",
    "alpha_expansion",
    "edge_cue",
    "grid_max_flow",
    "region_tree",
    "segment_figure",
    "segment_regions",
]
