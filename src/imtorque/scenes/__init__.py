"""Rendered scenes with known truth, for tests, docs and experiments: depth, motion, overlaps, nuclei, silhouettes."""

from imtorque.scenes.depth import DepthScene, depth_scene
from imtorque.scenes.motion import MotionScene, motion_scene
from imtorque.scenes.nuclei import NucleiVolume, nuclei_volume
from imtorque.scenes.overlaps import OverlapScene, overlap_scene
from imtorque.scenes.silhouettes import SilhouetteScene, silhouette, silhouette_scene

__all__ = [
    "DepthScene",
    "MotionScene",
    "NucleiVolume",
    "OverlapScene",
    "SilhouetteScene",
    "depth_scene",
    "motion_scene",
    "nuclei_volume",
    "overlap_scene",
    "silhouette",
    "silhouette_scene",
]
