"""Sketch Tokens as a detector: a forest that knows short pieces of hand-drawn contours by the patch around them.

J. J. Lim, C. L. Zitnick, P. Dollar: Sketch Tokens: a learned mid-level representation for contour and object detection.
CVPR 2013.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.resizing import resize, shrunk
from imtorque.core.types import Float32Array, Image
from imtorque.edges.cues import filled_in
from imtorque.edges.oriented import OrientedMap
from imtorque.edges.token_channels import CELL, CELLS, CHANNELS, SIDE, channel_planes, token_colours
from imtorque.images import CheckedImage
from imtorque.io.arrays import Layout, read_arrays
from imtorque.io.atomic import write_bytes
from imtorque.io.caches import cache_folder, load_trained
from imtorque.io.errors import reading_file

FORMAT = 2  # of the file and the features of the trees; other formats are refused; format: version
MOST_FOREST_BYTES = 2**30  # bound: of a file, unpacked; 25 trees of the default settings have some 100 MB
# How predictions become strengths: chosen on Berkeley's images (docs/measured/base_detectors.md).
OUTPUT_STEP = 2  # pixels from one prediction to the next
FINE_WEIGHT = 2  # weight of the image at full size against half size; chosen likewise
OUTPUT_SIGMA = 0.7  # pixels, of the smoothing of the output; chosen likewise
RIDGE_SIGMA = 2.0  # pixels, at which the ridges of the output are followed; chosen likewise
COMMAND = "imtorque data train sketch-tokens --data BSDS"
PIXELS = CHANNELS * SIDE * SIDE  # features that are pixels of a channel; after them come differences of cells
PAIRS = np.array(list(combinations(range(CELLS * CELLS), 2)), np.int32)
FEATURES = PIXELS + CHANNELS * len(PAIRS)
ARRAYS: Layout = {
    "feature": ("i4", ("nodes",)),
    "threshold": ("u1", ("nodes",)),
    "child": ("i4", ("nodes",)),
    "value": ("f4", ("nodes", 3)),
    "root": ("i4", ("trees",)),
}
LAYOUT: Layout = {"about": ("U", ()), **ARRAYS}


@dataclass(frozen=True, eq=False)
class SketchTokens:
    """A trained forest: makes the oriented boundary map of an image.

    Parameters
    ----------
    feature, threshold, child
        (nodes,): a node asks for a feature and goes to `child` where it is at most `threshold`, else to the node after
        it; 0 in `child` marks a leaf.
    value
        (nodes, 3): of the training patches in a leaf, the share whose middle is on a contour, and the sums of cos and
        sin of twice its angle over all of them, divided by their number.
    root
        (trees,)
    about
        What it was trained from.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.uint8]
    child: NDArray[np.int32]
    value: Float32Array
    root: NDArray[np.int32]
    about: dict[str, Any] = field(default_factory=dict)

    def __call__(self, image: Image | CheckedImage) -> OrientedMap:
        """Return how likely a contour passes through each pixel, by its orientation."""
        colours = token_colours(CheckedImage(image))
        fine, coarse = self._answers(colours), self._answers(shrunk(colours, 2))
        height, width = 2 * coarse.shape[1], 2 * coarse.shape[2]
        doubled = np.stack([resize(plane, (height, width)) for plane in coarse])[:, : fine.shape[1], : fine.shape[2]]
        return oriented_contours(((FINE_WEIGHT * fine + doubled) / (FINE_WEIGHT + 1)).astype(np.float32))

    def _answers(self, colours: Float32Array) -> Float32Array:
        """Return the means of the leaves' values that every pixel ends in, (3, H, W)."""
        planes = channel_planes(colours)
        first, second = feature_places(self.feature, (planes.shape[1], planes.shape[2]))
        found = _native.token_predictions(
            planes, SIDE, OUTPUT_STEP, first, second, self.threshold, self.child, self.value, self.root
        )
        return filled_in(found, OUTPUT_STEP, (colours.shape[1], colours.shape[2]))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the forest to one file of arrays and plain text, complete or not at all."""
        buffer = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ARRAYS}
        about = np.array(json.dumps({"format": FORMAT, **self.about}))
        np.savez_compressed(buffer, about=about, allow_pickle=False, **arrays)
        return write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SketchTokens:
        """Read a forest that `save` wrote."""
        with reading_file(path, "a forest of Sketch Tokens of this version; train it again"):
            arrays = read_arrays(path, LAYOUT, MOST_FOREST_BYTES)
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']}, not {FORMAT}")
            if not np.isfinite(arrays["value"]).all():
                raise ValueError("values of leaves that are no numbers")
            feature = arrays["feature"]
            if len(arrays["root"]) > len(feature) or not np.all((feature >= 0) & (feature < FEATURES)):
                raise ValueError("trees or features that there are not")
            found = cls(**{name: arrays[name] for name in ARRAYS}, about=about)
            found(np.zeros((1, 1)))  # the kernel refuses trees that lead nowhere
        return found


def oriented_contours(answers: Float32Array) -> OrientedMap:
    """Return the map that follows from the forest's answers, (3, H, W).

    Of a contour both what the forest says of its angle and the ridge that it makes in the map count, one as much as the
    other where the forest is certain: ridges are exact, but bend where contours meet.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    likely = np.clip(ndimage.gaussian_filter(answers[0], OUTPUT_SIGMA), 0, 1)
    if min(likely.shape) < 2:  # no ridge has room
        return OrientedMap.from_map(likely, 0.5 * np.arctan2(answers[2], answers[1]))
    share, cosine, sine = ndimage.gaussian_filter(answers, (0, 1, 1))
    gy, gx = np.gradient(ndimage.gaussian_filter(answers[0], RIDGE_SIGMA))
    (gyy, gyx), gxx = np.gradient(gy), np.gradient(gx, axis=1)
    size, share = np.maximum(np.hypot(gxx - gyy, 2 * gyx), 1e-12), np.maximum(share, 1e-6)
    turn = np.arctan2(sine / share + 2 * gyx / size, cosine / share + (gxx - gyy) / size)
    return OrientedMap.from_map(likely, 0.5 * turn)


def feature_places(feature: NDArray[np.int32], shape: tuple[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where in planes of this shape a patch's features are read, from its corner in the first plane.

    The second place is that of the cell to compare with, or -1 for features that are pixels.
    """
    every = np.arange(FEATURES)
    size, width = shape[0] * shape[1], shape[1]
    channel, at = np.divmod(every, SIDE * SIDE)
    pixel = channel * size + at // SIDE * width + at % SIDE
    channel, pair = np.divmod(np.maximum(every - PIXELS, 0), len(PAIRS))
    cells = PAIRS[pair]
    middles = (cells // CELLS * CELL + CELL // 2) * width + cells % CELLS * CELL + CELL // 2
    places = (channel + CHANNELS)[:, None] * size + middles
    paired = every >= PIXELS
    first, second = np.where(paired, places[:, 0], pixel), np.where(paired, places[:, 1], -1)
    return first.astype(np.int32)[feature], second.astype(np.int32)[feature]


def kept_forest() -> Path:
    """Return the file in the user's folder of caches where the trained forest is kept."""
    return cache_folder() / "sketch-tokens.npz"


def trained_tokens() -> SketchTokens:
    """Return the forest that was trained on this computer."""
    model: SketchTokens = load_trained(kept_forest(), SketchTokens.load, "sketch-tokens", COMMAND)
    return model
