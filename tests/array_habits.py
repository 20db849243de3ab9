"""Public functions of every kind with an array for each: what arrays of other libraries are tried on."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import imtorque as it
from imtorque import evaluation, volumes
from imtorque.saliency import boolean_saliency, signature_saliency

IMAGE = np.round(255 * it.synthetic.scene("shapes", (48, 64))).astype(np.uint8)
EDGES = it.detect_edges(IMAGE)
STRENGTH = np.hypot(EDGES.fx, EDGES.fy).clip(0, 1).astype(float)
FIGURE = it.synthetic.scene("disc", (20, 24)) > 0.5
RANDOM = np.random.default_rng(0).random((3, 12, 14))


class Taker(NamedTuple):
    """A function of one array, and such an array."""

    name: str
    function: Callable[[Any], Any]
    array: np.ndarray


IMAGE_TAKERS = [
    Taker("detect_edges", it.detect_edges, IMAGE),
    Taker("gradient_edges", it.gradient_edges, IMAGE),
    Taker("gradient_torque", lambda a: it.gradient_torque(a, [5, 9]), IMAGE),
    Taker("find_blobs", it.find_blobs, IMAGE),
    Taker("boundary_strength", it.boundary_strength, IMAGE),
    Taker("edge_cue", it.edge_cue, IMAGE),
    Taker("border_ownership", it.border_ownership, IMAGE),
    Taker("optical_flow", lambda a: it.optical_flow(a, IMAGE[::-1]), IMAGE),
    Taker("itti_saliency", it.itti_saliency, IMAGE),
    Taker("gbvs_saliency", it.gbvs_saliency, IMAGE),
    Taker("torque_saliency", it.torque_saliency, IMAGE),
    Taker("boolean_saliency", boolean_saliency, IMAGE),
    Taker("signature_saliency", signature_saliency, IMAGE),
    Taker("segment_figure", lambda a: it.segment_figure(a, (20, 20)), IMAGE),
    Taker("segment_objects", lambda a: it.segment_objects(a, 2), IMAGE),
    Taker("segment_regions", lambda a: it.segment_regions(a, count=3), IMAGE),
    Taker("propose_objects", lambda a: it.propose_objects(a, 5), IMAGE),
    Taker("edges_from_depth", it.edges_from_depth, 1.0 + STRENGTH),  # what is masked is not known, as what is NaN
]
OTHER_TAKERS = [
    Taker("edges_from_map", lambda a: it.edges_from_map(a, image=IMAGE), STRENGTH),
    Taker("edges_from_motion", it.edges_from_motion, np.stack([STRENGTH, -STRENGTH], axis=2)),
    Taker("Edges", lambda a: it.Edges(a, EDGES.fy), EDGES.fx),
    Taker("TorqueVolume", lambda a: it.TorqueVolume(a, [3, 5, 9]), RANDOM),
    Taker("Extrema", lambda a: it.Extrema(a, [1, 2], [3, 3], [1.0, 0.5]), np.array([4, 6])),
    Taker("strengthen_edges of strength", lambda a: it.strengthen_edges(a, STRENGTH), STRENGTH),
    Taker("strengthen_edges by contribution", lambda a: it.strengthen_edges(STRENGTH, a), STRENGTH),
    Taker("blend_saliency", lambda a: it.blend_saliency([a, STRENGTH], [0.5, 0.5]), STRENGTH),
    Taker("scan_path", lambda a: it.scan_path(a, 2), STRENGTH),
    Taker("segment_figure on a map", lambda a: it.segment_figure(IMAGE, (20, 20), edge_map=a), STRENGTH),
    Taker("grid_max_flow", lambda a: it.grid_max_flow(a, RANDOM[1], RANDOM[2, :, 1:], RANDOM[0, 1:]), RANDOM[0]),
    Taker("alpha_expansion", lambda a: it.alpha_expansion(a, RANDOM[0, :, 1:], RANDOM[1, 1:]), RANDOM),
    Taker("volumes.gradient_surfaces", volumes.gradient_surfaces, RANDOM),
    Taker("volumes.gradient_torque", lambda a: volumes.gradient_torque(a, [3]), RANDOM),
    Taker("volumes.find_blobs", lambda a: volumes.find_blobs(a, sizes=[3, 5]), RANDOM),
    Taker("evaluation.boundary_scores", lambda a: evaluation.boundary_scores(a, [STRENGTH > 0]), STRENGTH),
    Taker("evaluation.segmentation_boundary", evaluation.segmentation_boundary, IMAGE),
    Taker("evaluation.mask_scores", lambda a: evaluation.mask_scores(a, FIGURE), FIGURE),
]


def numbers(result: Any) -> Iterator[np.ndarray]:
    """Yield all arrays that a result consists of."""
    if isinstance(result, it.Edges):
        yield from (result.fx, result.fy)
    elif isinstance(result, tuple | list):
        for part in result:
            yield from numbers(part)
    elif hasattr(result, "__dataclass_fields__"):
        for name in result.__dataclass_fields__:
            yield from numbers(getattr(result, name))
    else:
        yield np.asarray(result)
