"""Cutting pictures up: graph cuts on pixel grids, and the object under a click."""

from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.figure import segment_figure
from imtorque.segmentation.graph_cut import grid_max_flow

__all__ = ["alpha_expansion", "edge_cue", "grid_max_flow", "segment_figure"]
