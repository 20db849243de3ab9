"""Cutting pictures up: graph cuts on pixel grids."""

from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.graph_cut import grid_max_flow

__all__ = ["alpha_expansion", "grid_max_flow"]
