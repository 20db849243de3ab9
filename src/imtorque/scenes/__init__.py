"""Rendered scenes with known truth, by plain NumPy: depth, motion. For tests, docs and experiments."""

from imtorque.scenes.depth import DepthScene, depth_scene
from imtorque.scenes.motion import MotionScene, motion_scene

__all__ = ["DepthScene", "MotionScene", "depth_scene", "motion_scene"]
