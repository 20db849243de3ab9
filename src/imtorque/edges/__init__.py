"""From picture to edge vectors (Sec. 3.1 of the paper): Canny, the whole gradient, any edge map given."""

from imtorque.edges.canny import SQRT2, detect_edges
from imtorque.edges.gradient import gradient_edges
from imtorque.edges.maps import edges_from_map

__all__ = ["SQRT2", "detect_edges", "edges_from_map", "gradient_edges"]
