"""Torque tuned to a class of shapes."""

from imtorque.shapes.examples import shape_edges
from imtorque.shapes.tuned import ShapeTorque

__all__ = ["ShapeTorque", "shape_edges"]
