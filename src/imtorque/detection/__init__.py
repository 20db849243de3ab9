"""Finding objects: where they are, how large, and their outlines; without training, or learned from a few examples."""

from imtorque.detection.blobs import find_blobs
from imtorque.detection.candidates import torque_candidates
from imtorque.detection.contours import Contours, fit_contours, refine_contours
from imtorque.detection.finder import ObjectFinder
from imtorque.detection.levels import Level, image_levels
from imtorque.detection.noise import noise_level
from imtorque.detection.suppress import claim_edges, label_image
from imtorque.detection.table import Blobs

__all__ = [
    "Blobs",
    "Contours",
    "Level",
    "ObjectFinder",
    "claim_edges",
    "find_blobs",
    "fit_contours",
    "image_levels",
    "label_image",
    "noise_level",
    "refine_contours",
    "torque_candidates",
]
