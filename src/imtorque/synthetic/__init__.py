"""Drawn scenes with known answers, for tests, docs, the demo, benchmarks and experiments."""

from imtorque.synthetic.depth import DepthScene, depth_scene
from imtorque.synthetic.drawings import (
    SCENES,
    curves,
    disc,
    paint,
    polygon,
    scene,
    square,
    texture,
    triangle,
)
from imtorque.synthetic.motion import MotionScene, motion_scene
from imtorque.synthetic.nuclei import NucleiVolume, nuclei_volume
from imtorque.synthetic.overlaps import OverlapScene, overlap_scene
from imtorque.synthetic.silhouettes import SilhouetteScene, silhouette, silhouette_scene
from imtorque.synthetic.spots import SpotScene, spot_scene
from imtorque.synthetic.videos import VideoScene, video_scene

__all__ = [
    "SCENES",
    "DepthScene",
    "MotionScene",
    "NucleiVolume",
    "OverlapScene",
    "SilhouetteScene",
    "SpotScene",
    "VideoScene",
    "curves",
    "depth_scene",
    "disc",
    "motion_scene",
    "nuclei_volume",
    "overlap_scene",
    "paint",
    "polygon",
    "scene",
    "silhouette",
    "silhouette_scene",
    "spot_scene",
    "square",
    "texture",
    "triangle",
    "video_scene",
]
