"""Rendered scenes with known truth, by plain NumPy: depth, motion, overlaps. For tests, docs and experiments."""

from imtorque.scenes.depth import DepthScene, depth_scene
from imtorque.scenes.motion import MotionScene, motion_scene
from imtorque.scenes.overlaps import OverlapScene, overlap_scene

__all__ = ["DepthScene", "MotionScene", "OverlapScene", "depth_scene", "motion_scene", "overlap_scene"]
