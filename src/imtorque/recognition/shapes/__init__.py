"""Torque tuned to a class of shapes."""

from imtorque.recognition.shapes.examples import shape_edges
from imtorque.recognition.shapes.tuned import ShapeTorque

__all__ = ["ShapeTorque", "shape_edges"]
