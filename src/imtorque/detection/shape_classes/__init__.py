"""Torque tuned to a class of shapes."""

from imtorque.detection.shape_classes.examples import shape_edges
from imtorque.detection.shape_classes.tuned import ShapeTorque

__all__ = ["ShapeTorque", "shape_edges"]
