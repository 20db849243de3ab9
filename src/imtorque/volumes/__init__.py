"""Torque in volumes: arrays (Z, Y, X), surfaces in place of edges, boxes in place of squares.

These are functions of their own, and not the ones of images with one more axis: an array of shape (H, W, 3) is a
colour image there, and no rule could tell it from a volume three voxels wide. The words are the same: surfaces have a
bright side, torque is positive around bright objects, sizes are odd sides of boxes.
"""

from imtorque.volumes.blobs import find_blobs
from imtorque.volumes.extrema import VolumeExtrema, find_extrema, suppress_overlaps
from imtorque.volumes.objects import MEASURED, VolumeBlobs
from imtorque.volumes.reading import read_volume, voxel_size
from imtorque.volumes.surfaces import Surfaces, detect_surfaces, gradient_surfaces
from imtorque.volumes.torque import (
    box_sides,
    default_sizes,
    gradient_torque,
    torque_volume_3d,
    value_and_scale_maps,
)

__all__ = [
    "MEASURED",
    "Surfaces",
    "VolumeBlobs",
    "VolumeExtrema",
    "box_sides",
    "default_sizes",
    "detect_surfaces",
    "find_blobs",
    "find_extrema",
    "gradient_surfaces",
    "gradient_torque",
    "read_volume",
    "suppress_overlaps",
    "torque_volume_3d",
    "value_and_scale_maps",
    "voxel_size",
]
