"""The paper's other base for figure-ground (Sec. 4.3.2): pb, and the torque of its edges.

The paper: pb 0.40, torque(pb) 0.48, where the second is the contribution of eq. 21 alone. What is open is read as
for Canny; forces are in proportion to how likely an edge is.
"""

import numpy as np

from imtorque.core.contribution import dense_contribution
from imtorque.core.types import FloatArray, Image
from imtorque.edges import RECIPES
from imtorque.images import CheckedImage
from imtorque.paper import contribution, extrema, in_unit_range
from imtorque_reproduce.figure_ground.ablation import AUTHORS, NEAREST, PUBLISHED

BASE = "pb"
# With eta and k of the authors' program, which were chosen for all of Canny's rows, and as published.
ROWS = {
    "pb": (f"base:{BASE}", AUTHORS),
    "pb+torque": (f"base:{BASE}+product", AUTHORS),
    "pb-published": (f"base:{BASE}", PUBLISHED),
    "pb+torque-paper": (f"base:{BASE}+votes", PUBLISHED),
}
COMPARED = (
    ("pb+torque", "pb"),
    ("pb+torque-paper", "pb-published"),
    ("pb", "canny-magnitude"),
    ("pb+torque", "canny-magnitude+torque"),
)
NOTE = (
    "pb: strengths as likely as the detector says, over their 99 % quantile, with eta/k 20/50; pb+torque is strength "
    "times dense contribution on the same edges. pb+torque-paper is the reading of canny-binary+torque-paper on pb's "
    "edges; its base is pb-published. The paper: 0.40 and 0.48. Radii of pb are those for images of about 500 pixels."
)


def base_cue(image: Image, cue: str) -> FloatArray:
    """Return the edge map of a row on pb's edges, in [0, 1]: "pb", "pb+product" or "pb+votes"."""
    edges = RECIPES[BASE].edges(CheckedImage(image))
    if cue == f"{BASE}+votes":
        return contribution(edges, extrema(edges, NEAREST), NEAREST)
    strength = edges.strength.astype(np.float64)
    if cue == f"{BASE}+product":
        strength *= np.maximum(dense_contribution(edges), 0)
    return in_unit_range(strength, NEAREST.full)
