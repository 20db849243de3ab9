"""Where people look: torque saliency, GBVS, Itti's map, their blends, baselines, and the order of fixations."""

from imtorque.saliency.baselines import centre_saliency, edge_density_saliency
from imtorque.saliency.from_torque import torque_saliency
from imtorque.saliency.gbvs import gbvs_saliency
from imtorque.saliency.itti import itti_saliency
from imtorque.saliency.maps import blend_saliency
from imtorque.saliency.path import scan_path

__all__ = [
    "blend_saliency",
    "centre_saliency",
    "edge_density_saliency",
    "gbvs_saliency",
    "itti_saliency",
    "scan_path",
    "torque_saliency",
]
