"""Features by name: single blocks, such as dense SIFT in one codebook, and methods that weigh and join blocks."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any, Literal

from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Normalizer

from imtorque.recognition.coding import Codebook, LLCEncoder, SpatialPyramid
from imtorque.recognition.sift import DenseSIFT
from imtorque.recognition.torque_patches import MultiscaleTorque, Sign, TorquePatches
from imtorque.recognition.working_image import WorkingImages

Method = Literal[
    "sift",
    "torque",
    "torque-paper",
    "sift+torque",
    "sift+torque-1:2",
    "sift+torque-paper",
    "torque-colour",
    "sift+torque-colour",
    "control:sift+sift",
]

# The paper says neither how large regions are, nor how many words there are. Their centres lie in the patch (Fig. 19),
# so that all overlap it: less than half a side away, along the axes.
PAPER_REGIONS = (1 / 8, 1 / 4, 1 / 2, 1)  # chosen by looking at splits of Caltech-101
PAPER_DISTANCES = (1 / 8, 1 / 4, 3 / 8, 7 / 16)  # derived: inside the patch
PAPER_WORDS = 2048  # chosen as the regions were
SIGNED_BLOCKS: Mapping[str, Sign] = {"maxima": 1, "minima": -1}  # of the paper, in codebooks of their own
MIN_LENGTH = 0.3  # of a descriptor of gradient forces; below, its patch counts as flat; chosen as PAPER_REGIONS were


def sift_block(seed: int = 0) -> Pipeline:
    """Dense SIFT of three sizes."""
    return _block([("describe", DenseSIFT())], words=1024, seed=seed)


def fine_block() -> Pipeline:
    """Many small torque patches of gradient forces, and a grid of such."""
    patches = TorquePatches(count=6000, most_pixels=25, grid=(17, 25), step=8)
    return _block([("patches", patches), ("describe", MultiscaleTorque(least=MIN_LENGTH))], words=1024)


def unsigned_block() -> Pipeline:
    """Torque patches of all sizes and a coarse grid with larger windows, dark and bright alike."""
    patches = TorquePatches(count=1500, grid=(25, 49, 97), step=12)
    return _block([("patches", patches), ("describe", MultiscaleTorque(signs=False, least=MIN_LENGTH))], words=1024)


def colour_block() -> Pipeline:
    """Torque patches of gradient forces, described by the gradients of two colour contrasts."""
    patches = TorquePatches(count=1500, grid=(25, 49, 97), step=12, colour=True)
    return _block([("patches", patches), ("describe", MultiscaleTorque(least=MIN_LENGTH))], words=1024)


def paper_block(sign: Sign, *, words: int = PAPER_WORDS, **changes: Any) -> Pipeline:
    """Torque patches of one sign, all extrema and nothing else, unit forces: the nearest to the paper's numbers.

    The rule of extrema is that of the authors' program, chosen by `imtorque reproduce recognition --split train`. The
    paper also turns each patch (``align=True``), with which its numbers are out of reach. `changes` are of parameters
    of `TorquePatches` and of `MultiscaleTorque`.
    """
    patches = TorquePatches(force="unit", sigma=sqrt(2), count=None, threshold=0.05, sign=sign, neighbourhood="cross")
    descriptor = MultiscaleTorque(regions=PAPER_REGIONS, distances=PAPER_DISTANCES)
    own = {name: changes.pop(name) for name in patches.get_params() if name in changes}
    steps = [("patches", patches.set_params(**own)), ("describe", descriptor.set_params(**changes))]
    return _block(steps, words=words)


# By the name of a block, how to make it.
BLOCKS: Mapping[str, Callable[[], Pipeline]] = {
    "sift": sift_block,
    "fine": fine_block,
    "unsigned": unsigned_block,
    "paper-maxima": lambda: paper_block(SIGNED_BLOCKS["maxima"]),
    "paper-minima": lambda: paper_block(SIGNED_BLOCKS["minima"]),
    "colour": colour_block,
    "sift-again": lambda: sift_block(seed=1),  # other words: what a second codebook alone gains
}

# Weights of the blocks that a preset joins; convention: all alike.
TORQUE: Mapping[str, float] = {"fine": 1.0, "unsigned": 1.0}
TORQUE_COLOUR: Mapping[str, float] = {**TORQUE, "colour": 1.0}
TORQUE_PAPER: Mapping[str, float] = {"paper-maxima": 1.0, "paper-minima": 1.0}


def joined(*parts: tuple[float, Mapping[str, float]]) -> dict[str, float]:
    """Return the weights of blocks when methods are joined, each of length 1, with these weights."""
    total = sqrt(sum(weight**2 for weight, _ in parts))
    weights = {}
    for weight, blocks in parts:
        length = sqrt(sum(w**2 for w in blocks.values()))
        weights.update({name: weight * w / (length * total) for name, w in blocks.items()})
    return weights


# By the name of a method, its blocks and their weights; the squares of the weights add up to 1.
METHODS: Mapping[str, Mapping[str, float]] = {
    "sift": joined((1, {"sift": 1})),
    "torque": joined((1, TORQUE)),
    "torque-paper": joined((1, TORQUE_PAPER)),
    "sift+torque": joined((1, {"sift": 1}), (1, TORQUE)),
    "sift+torque-1:2": joined((2, {"sift": 1}), (1, TORQUE)),
    "sift+torque-paper": joined((2, {"sift": 1}), (1, TORQUE_PAPER)),
    "torque-colour": joined((1, TORQUE_COLOUR)),
    "sift+torque-colour": joined((1, {"sift": 1}), (1, TORQUE_COLOUR)),
    "control:sift+sift": joined((1, {"sift": 1}), (1, {"sift-again": 1})),
}


def features(method: Method = "sift+torque") -> Pipeline:
    """Return the transformer of a method: a list of images in, one row of length 1 for each out.

    Parameters
    ----------
    method
        "sift", "torque" (what works best), "torque-paper" (one reading of the paper: all extrema, unit forces, patches
        not turned), or joined: "sift+torque" (1 : 1), "sift+torque-1:2" (twice as much SIFT, the paper's share) or
        "sift+torque-paper" (also 1 : 2).
        "torque-colour" and "sift+torque-colour" see colour too; "control:sift+sift" has two codebooks of SIFT.

    Examples
    --------
    >>> [name for name, _ in features("sift").steps]
    ['describe', 'encode', 'pool']
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    weights = METHODS[method]
    if len(weights) == 1:
        return BLOCKS[next(iter(weights))]()
    union = FeatureUnion([(name, BLOCKS[name]()) for name in weights], transformer_weights=dict(weights))
    return Pipeline([("images", WorkingImages()), ("blocks", union), ("normalise", Normalizer())])


def _block(steps: list[tuple[str, object]], words: int, seed: int = 0) -> Pipeline:
    return Pipeline([*steps, ("encode", LLCEncoder(Codebook(words, seed=seed))), ("pool", SpatialPyramid())])
