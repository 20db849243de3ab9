"""Finding things: where they are, how large, and their outlines; without training, or learned from a few examples."""

from imtorque.finding.blobs import find_blobs
from imtorque.finding.candidates import torque_candidates
from imtorque.finding.contours import Contours, fit_contours, refine_contours
from imtorque.finding.finder import ObjectFinder
from imtorque.finding.levels import Level, picture_levels
from imtorque.finding.noise import noise_level
from imtorque.finding.suppress import claim_edges, label_image
from imtorque.finding.table import Blobs

__all__ = [
    "Blobs",
    "Contours",
    "Level",
    "ObjectFinder",
    "claim_edges",
    "find_blobs",
    "fit_contours",
    "label_image",
    "noise_level",
    "picture_levels",
    "refine_contours",
    "torque_candidates",
]
