"""Rendered scenes with known truth, for tests, docs, experiments: depth, motion, films, overlaps, nuclei, shapes."""

from imtorque.scenes.depth import DepthScene, depth_scene
from imtorque.scenes.films import FilmScene, film_scene
from imtorque.scenes.motion import MotionScene, motion_scene
from imtorque.scenes.nuclei import NucleiVolume, nuclei_volume
from imtorque.scenes.overlaps import OverlapScene, overlap_scene
from imtorque.scenes.silhouettes import SilhouetteScene, silhouette, silhouette_scene

__all__ = [
    "DepthScene",
    "FilmScene",
    "MotionScene",
    "NucleiVolume",
    "OverlapScene",
    "SilhouetteScene",
    "depth_scene",
    "film_scene",
    "motion_scene",
    "nuclei_volume",
    "overlap_scene",
    "silhouette",
    "silhouette_scene",
]
