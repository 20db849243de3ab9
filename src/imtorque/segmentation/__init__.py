"""Cutting pictures up: graph cuts on pixel grids, and regions around torque extrema."""

from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.graph_cut import grid_max_flow
from imtorque.segmentation.region_graph import RegionTree
from imtorque.segmentation.regions import region_tree, segment_regions

__all__ = ["RegionTree", "alpha_expansion", "grid_max_flow", "region_tree", "segment_regions"]
