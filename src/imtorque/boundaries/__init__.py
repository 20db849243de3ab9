"""Boundary strength of edges, against texture, and border ownership: which side of each edge is the figure."""

from imtorque.boundaries.ownership import OwnershipModel, border_ownership
from imtorque.boundaries.strength import BoundaryModel, boundary_strength, strengthen_edges

__all__ = ["BoundaryModel", "OwnershipModel", "border_ownership", "boundary_strength", "strengthen_edges"]
