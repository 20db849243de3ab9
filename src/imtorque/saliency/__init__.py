"""Saliency maps: from torque and by other methods, blends, baselines, and the order of fixations."""

from imtorque.saliency.baselines import centre_saliency, edge_density_saliency
from imtorque.saliency.boolean_maps import boolean_saliency
from imtorque.saliency.from_torque import torque_saliency
from imtorque.saliency.gbvs import gbvs_saliency
from imtorque.saliency.itti import itti_saliency
from imtorque.saliency.maps import blend_saliency
from imtorque.saliency.path import scan_path
from imtorque.saliency.registry import METHODS, SaliencyMethod, saliency_map
from imtorque.saliency.signature import signature_saliency

__all__ = [
    "METHODS",
    "SaliencyMethod",
    "blend_saliency",
    "boolean_saliency",
    "centre_saliency",
    "edge_density_saliency",
    "gbvs_saliency",
    "itti_saliency",
    "saliency_map",
    "scan_path",
    "signature_saliency",
    "torque_saliency",
]
