"""Networks of random weights, small enough for tests."""

import math

import numpy as np

from imtorque.edges.network import BoundaryNetwork, layer_shapes

SETTINGS = {"widths": [3, 4, 4, 5, 5], "depths": [1, 1, 1, 2, 1], "decoder": [3, 4, 4, 4], "context": "torque"}


def random_network(seed, **settings):
    """Return a network whose layers keep values at about their size."""
    rng, about, parts = np.random.default_rng(seed), {"settings": SETTINGS | settings}, []
    for shape in layer_shapes(about["settings"]).values():
        parts += [rng.normal(0, math.prod(shape[1:]) ** -0.5, math.prod(shape)), rng.normal(0, 0.3, shape[0])]
    return BoundaryNetwork(np.concatenate(parts).astype(np.float32), about)
