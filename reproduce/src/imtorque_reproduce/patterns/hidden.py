"""Objects that paint hides: are they among the first maxima of torque of the photograph, of depth, of motion?"""

import hashlib
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.types import Edges
from imtorque.edges import detect_edges, edges_from_depth, edges_from_motion, optical_flow
from imtorque.synthetic import DepthScene, MotionScene, depth_scene, motion_scene
from imtorque_reproduce.report import Report, Request
from imtorque_reproduce.scoring import compare, mean_rows, score_images

HIDDEN_SCENES = 100  # of each kind; bound: time
# Convention: how far from an object's middle, and of which sizes, in parts of its size, an extremum may be.
CENTRE_DISTANCE, FITTING = 0.35, (0.6, 1.7)
NOISES = (0.0015, 0.006, 0.024)  # of inverse depth, in 1/metres; derived: 1, 4 and 16 times the sensor's
COMPARED = (
    ("depth@depth", "photograph@depth"),
    ("depth@depth", "canny-of-depth@depth"),
    ("flow@motion", "photograph@motion"),
    ("flow@motion", "canny-of-speed@motion"),
)
NOTES = (
    "found: of the objects of a scene, the share that is hit by one of as many of the strongest extrema (after "
    "suppress_overlaps) as there are objects: within 0.35 of its size from its middle, 0.6 to 1.7 times its size.",
    "Depth scenes: spheres and turned boxes before a slanted wall, all in one paint; noise of inverse depth 0.0015 per "
    "metre (depth:noise-N: another), shadows beside the rims and lost pixels. Motion scenes: discs over a ground that "
    "moves, turns and comes nearer; flow by OpenCV's DIS from the two frames; flow-known: the true one.",
    "photograph: Canny's edges of the image, extrema of both signs. canny-of-depth, canny-of-speed: Canny's edges of "
    "inverse depth (holes filled along rows) and of the length of the flow, as if they were images.",
)
Scene = DepthScene | MotionScene


def run(request: Request) -> Report:
    """Score all rows on scenes that are the same every time."""
    request.require_options()
    seeds = list(range(min(HIDDEN_SCENES, request.limit or HIDDEN_SCENES)))
    scored = score_images(score, seeds, request, "scenes", "scenes")
    return Report(
        data="rendered scenes (imtorque.synthetic)",
        data_sha256=_checksum(seeds),
        split="all",
        images=2 * len(seeds),
        settings={"near": CENTRE_DISTANCE, "fitting": FITTING, "noises": NOISES},
        rows=mean_rows({row: {"found": values} for row, values in scored.items()}),
        differences=compare(scored, COMPARED, "found"),
        notes=NOTES,
    )


def score(seed: int) -> dict[str, float]:
    """Return the share of objects found in the depth scene and the motion scene of one seed, for every row."""
    depth, motion = depth_scene(seed), motion_scene(seed)
    found: dict[str, float] = {}
    ways: dict[str, Callable[[], Edges]] = {
        "photograph@depth": partial(detect_edges, depth.image),
        "canny-of-depth@depth": partial(detect_edges, _nearness(depth)),
        "depth@depth": partial(edges_from_depth, depth.depth),
        "photograph@motion": partial(detect_edges, motion.first),
    }
    flow = optical_flow(motion.first, motion.second)
    ways |= {
        "canny-of-speed@motion": partial(detect_edges, np.hypot(flow[..., 0], flow[..., 1])),
        "flow@motion": partial(edges_from_motion, flow),
        "flow-known@motion": partial(edges_from_motion, motion.flow),
    }
    for row, edges in ways.items():
        found[row] = share_found(depth if row.endswith("@depth") else motion, edges(), row.startswith("photograph"))
    for noise in NOISES[1:]:
        noisy = depth_scene(seed, noise=noise)
        found[f"canny-of-depth:noise-{noise}@depth"] = share_found(noisy, detect_edges(_nearness(noisy)), False)
        found[f"depth:noise-{noise}@depth"] = share_found(noisy, edges_from_depth(noisy.depth), False)
    return found


def share_found(scene: Scene, edges: Edges, both_signs: bool) -> float:
    """Return the share of the objects that the first extrema hit."""
    extrema = find_extrema(edges, sign=None if both_signs else 1)
    first = suppress_overlaps(extrema)[: len(scene.y)]
    near = np.hypot(first.y[:, None] - scene.y, first.x[:, None] - scene.x) <= CENTRE_DISTANCE * scene.size
    ratio = first.size[:, None] / scene.size
    return float((near & (ratio >= FITTING[0]) & (ratio <= FITTING[1])).any(axis=0).mean())


def _nearness(scene: DepthScene) -> NDArray[np.float64]:
    """Return inverse depth as an image, each hole filled by the pixel before it."""
    known = scene.depth > 0
    last = np.maximum.accumulate(np.where(known, np.arange(known.shape[1]), 0), axis=1)
    depth = np.take_along_axis(scene.depth, last, axis=1)
    nearness: NDArray[np.float64] = 1 / np.where(depth > 0, depth, np.median(scene.depth[known]))
    return nearness


def _checksum(seeds: list[int]) -> str:
    """Return a checksum of what the scenes are made of: their first images."""
    total = hashlib.sha256()
    for scene in (depth_scene(seeds[0]).image, motion_scene(seeds[0]).first):
        total.update(np.rint(255 * scene).astype(np.uint8).tobytes())
    total.update(str(len(seeds)).encode())
    return total.hexdigest()
