"""Cutting pictures up: graph cuts on pixel grids."""

from imtorque.segmentation.graph_cut import grid_max_flow

__all__ = ["grid_max_flow"]
