"""Blocks one image at a time: describe, learn the words from a sample, encode. For sets that do not fit in memory."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from imtorque.core.types import Float32Array, Image
from imtorque.recognition.coding import Codebook, LLCEncoder, SpatialPyramid
from imtorque.recognition.local import Descriptors
from imtorque.recognition.sift import DenseSIFT
from imtorque.recognition.torque_patches import MultiscaleTorque, TorquePatches
from imtorque.recognition.working_image import WorkingImage

LAST_STEPS = 2  # of a block: encode, pool; derived


def describe(block: Pipeline, image: Image | WorkingImage) -> Descriptors:
    """Return the descriptors of one image under a block; a `WorkingImage` serves several blocks."""
    result: Any = [image]
    for _, step in block.steps[:-LAST_STEPS]:
        result = step.transform(result)
    described: Descriptors = result[0]
    return described


def drawn(descriptors: Descriptors, count: int, seed: int) -> Float32Array:
    """Return at most `count` of an image's descriptors, drawn at random."""
    if len(descriptors) <= count:
        return descriptors.vectors
    chosen = np.random.default_rng(seed).choice(len(descriptors), count, replace=False)
    return descriptors.vectors[np.sort(chosen)]


def samples_per_image(block: Pipeline, images: int) -> int:
    """Return how many descriptors of each image the codebook of a block learns from."""
    return -(-int(_codebook(block).samples) // max(1, images))


def learn_words(block: Pipeline, samples: Sequence[Float32Array]) -> Float32Array:
    """Return the words of a block, learned from what `drawn` returned for each image.

    There are as many as the block asks for, but at most one for every four descriptors. A block that sees nothing in
    any image, such as colour in grey ones, has words of zeros, and adds nothing.
    """
    pooled, neighbours = np.concatenate(samples), int(block["encode"].neighbours)
    if len(pooled) == 0:
        return np.zeros((neighbours, pooled.shape[1]), np.float32)
    if len(pooled) < neighbours:
        raise ValueError(f"images must have at least {neighbours} patches that are not flat, got {len(pooled)} in all")
    codebook = clone(_codebook(block))
    codebook.set_params(words=min(codebook.words, max(neighbours, len(pooled) // 4)))
    words: Float32Array = codebook.fit(pooled).words_
    return words


def with_words(block: Pipeline, words: Float32Array) -> Pipeline:
    """Return a block that has learned these words."""
    fitted: Pipeline = clone(block)
    encoder: LLCEncoder = fitted["encode"]
    encoder.codebook_ = clone(_codebook(block))
    encoder.codebook_.words_ = np.ascontiguousarray(words, dtype=np.float32)
    encoder.codebook_.n_features_in_ = words.shape[1]
    return fitted


def bag(block: Pipeline, descriptors: Descriptors) -> Float32Array:
    """Return the vector of one image, of length 1, under a block that has learned its words."""
    pooled: Float32Array = block["pool"].pool(block["encode"].encode(descriptors))
    return pooled


def parameters(block: Pipeline) -> dict[str, Any]:
    """Return the parameters of a block's steps, as JSON holds them."""
    steps = {name: _plain(step.get_params(deep=False)) for name, step in block.steps}
    steps["codebook"] = _plain(_codebook(block).get_params(deep=False))
    del steps["encode"]["codebook"]
    return steps


def block_of(steps: Mapping[str, Mapping[str, Any]]) -> Pipeline:
    """Return the block whose parameters are these, as `parameters` gives them: patches of torque, or else SIFT."""
    if "patches" in steps:
        patches = TorquePatches(**steps["patches"])
        first = [("patches", patches), ("describe", MultiscaleTorque(**steps["describe"]))]
    else:
        first = [("describe", DenseSIFT(**steps["describe"]))]
    encoder = LLCEncoder(Codebook(**steps["codebook"]), **steps["encode"])
    return Pipeline([*first, ("encode", encoder), ("pool", SpatialPyramid(**steps["pool"]))])


def fingerprint(*parts: Any) -> str:
    """Return a checksum of parameters and arrays."""
    total = hashlib.sha256()
    for part in parts:
        plain = part if isinstance(part, np.ndarray) else json.dumps(part, sort_keys=True).encode()
        total.update(np.ascontiguousarray(plain).tobytes() if isinstance(plain, np.ndarray) else plain)
    return total.hexdigest()[:32]


def _codebook(block: Pipeline) -> Any:
    return block["encode"].codebook


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
