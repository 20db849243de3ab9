"""Images into parts: graph cuts, and the object under a click."""

from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.figure import segment_figure

__all__ = ["edge_cue", "segment_figure"]
