"""A small network as a detector of boundaries, with torque inside: its weights, and its answers without torch.

`imtorque.torch.network` describes the same layers to train them.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from imtorque import _native
from imtorque.core.caching import cached_property
from imtorque.core.logistic import sigmoid
from imtorque.core.resizing import resize
from imtorque.core.types import Float32Array, Image
from imtorque.edges.oriented import OrientedMap
from imtorque.images import CheckedImage
from imtorque.io.arrays import Layout, Planes, read_arrays
from imtorque.io.atomic import write_bytes
from imtorque.io.caches import cache_folder, load_trained
from imtorque.io.errors import reading_file

FORMAT = 1  # of the file and the layers; other formats are refused; format: version
COMMAND = "imtorque data train network --data BSDS"
SIZES = (3, 5, 7, 9, 13, 17, 21, 27, 33, 41, 51, 61)  # of patches, in pixels at a quarter of the resolution; untuned
FIELDS = 2  # fields of forces whose torque is taken; untuned
LEVEL = 2  # of the decoder, at which it is; untuned
STEP = 16  # pixels: heights and widths are multiples of the coarsest level's; derived: 2 to the LEVELS less 1
MIDDLE, SPREAD = 0.5, 0.25  # of colours, about those of photographs; untuned: round
SCALES = (0.5, 1.0)  # of the image, whose logits are averaged; chosen on halves of Berkeley's training images
LEAST_LIKELY = 1e-4  # so that no scale decides alone; untuned
RIDGE_SIGMA = 2.0  # pixels, at which the ridges of the answer are followed; convention: that of Sketch Tokens
LEVELS = 5  # untuned
MOST_CHANNELS, MOST_BLOCKS = 512, 16  # bound: of a level, in a file
MOST_WEIGHT_BYTES = 2**28  # bound: of a file; the default network has 1.8 MB
LAYOUT: Layout = {"about": ("U", ()), "weights": ("f4", ("numbers",))}

Layers = dict[str, tuple[Float32Array, Float32Array]]


@dataclass(frozen=True, eq=False)
class BoundaryNetwork:
    """A trained network: makes the oriented boundary map of an image.

    Parameters
    ----------
    weights
        (numbers,): of each of `layer_shapes`, the weights and then the biases.
    about
        What it was trained from; under "settings" the widths, depths and decoder of its layers.
    """

    weights: Float32Array
    about: dict[str, Any] = field(default_factory=dict)

    def __call__(self, image: Image | CheckedImage) -> OrientedMap:
        """Return how likely a contour passes through each pixel, by its orientation."""
        return ridges(self.likely(CheckedImage(image).rgb()))

    def likely(self, colours: Planes, scales: Sequence[float] = SCALES) -> Float32Array:
        """Return how likely a contour passes through each pixel of RGB (3, H, W), by several scales."""
        height, width = colours.shape[1:]
        total = np.zeros((height, width))
        for scale in scales:
            shape = (max(1, round(scale * height)), max(1, round(scale * width)))
            seen = np.stack([resize(plane, shape) for plane in colours])
            found = np.clip(
                resize(self.answer(seen).astype(np.float64), (height, width)), LEAST_LIKELY, 1 - LEAST_LIKELY
            )
            total += np.log(found / (1 - found))
        return sigmoid(total / len(scales)).astype(np.float32)

    def answer(self, colours: Planes) -> Float32Array:
        """Return what one pass over RGB (3, H, W) says, (H, W)."""
        height, width = colours.shape[1:]
        room = ((0, 0), (0, -height % STEP), (0, -width % STEP))
        x = np.pad(((colours - MIDDLE) / SPREAD).astype(np.float32), room, mode="edge")
        skips = []
        for level, depth in enumerate(self.about["settings"]["depths"]):
            x = self._layer(f"down.{level}", pooled(x) if level else x)
            for block in range(depth):
                x = self._residual(f"blocks.{level}.{block}", x)
            skips.append(x)
        for level in range(LEVELS - 2, -1, -1):
            wide = self._layer(f"up.{level}", x, rectified=False).repeat(2, axis=1).repeat(2, axis=2)
            x = self._layer(f"skip.{level}", skips.pop(level), wide)
            if level == LEVEL:
                forces = self._layer("context.field", x, rectified=False)
                x = self._layer("context.mix", turning(forces), x)
            x = self._residual(f"merge.{level}", x)
        logits = self._layer("head.0", x, rectified=False)[0, :height, :width]
        found: Float32Array = 0.5 * (1 + np.tanh(0.5 * logits))
        return found

    def _layer(
        self, name: str, planes: Float32Array, added: Float32Array | None = None, *, rectified: bool = True
    ) -> Float32Array:
        return _native.convolve_planes(planes, *self._layers[name], added, rectified)

    def _residual(self, name: str, planes: Float32Array) -> Float32Array:
        return self._layer(f"{name}.second", self._layer(f"{name}.first", planes), planes)

    @cached_property
    def _layers(self) -> Layers:
        """Weights and biases by name."""
        found, at, shapes = {}, 0, layer_shapes(self.about["settings"])
        total = sum(math.prod(shape) + shape[0] for shape in shapes.values())
        if total != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights, not {total}")
        for name, shape in shapes.items():
            middle, end = at + math.prod(shape), at + math.prod(shape) + shape[0]
            found[name] = self.weights[at:middle].reshape(shape), self.weights[middle:end]
            at = end
        return found

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the network to one file of arrays and plain text, complete or not at all."""
        buffer = io.BytesIO()
        about = np.array(json.dumps({"format": FORMAT, **self.about}))
        np.savez_compressed(buffer, about=about, weights=self.weights, allow_pickle=False)
        return write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BoundaryNetwork:
        """Read a network that `save` wrote."""
        with reading_file(path, "a network of this version; train it again"):
            arrays = read_arrays(path, LAYOUT, MOST_WEIGHT_BYTES)
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']}, not {FORMAT}")
            found = cls(arrays["weights"], about)
            if not np.isfinite(found.weights).all():
                raise ValueError("weights that are no numbers")
            found(np.zeros((1, 1)))  # which needs all layers
        return found


def layer_shapes(settings: dict[str, Any]) -> dict[str, tuple[int, int, int, int]]:
    """Return (outputs, inputs, side, side) of all convolutions by name, in the order of a file's numbers."""
    widths, depths, decoder = (settings[name] for name in ("widths", "depths", "decoder"))
    for counts, length, most in ((widths, 5, MOST_CHANNELS), (depths, 5, MOST_BLOCKS), (decoder, 4, MOST_CHANNELS)):
        if len(counts) != length or not all(type(n) is int and 1 <= n <= most for n in counts):
            raise ValueError(f"widths, depths or a decoder that are not {length} counts from 1 to {most}")
    if settings["context"] != "torque":
        raise ValueError(f"a context of {settings['context']}, not torque")
    sides: dict[str, tuple[int, int, int]] = {}
    for level, (inputs, outputs, depth) in enumerate(zip((3, *widths), widths, depths, strict=False)):
        sides[f"down.{level}"] = outputs, inputs, 3
        for block in range(depth):
            for part in ("first", "second"):
                sides[f"blocks.{level}.{block}.{part}"] = outputs, outputs, 3
    for level, (skip, below, own) in enumerate(zip(widths, (*decoder[1:], widths[-1]), decoder, strict=False)):
        sides[f"skip.{level}"], sides[f"up.{level}"] = (own, skip, 1), (own, below, 1)
        sides[f"merge.{level}.first"] = sides[f"merge.{level}.second"] = own, own, 3
    sides["context.field"] = 2 * FIELDS, decoder[LEVEL], 1
    sides["context.mix"] = decoder[LEVEL], 2 * FIELDS * len(SIZES), 1
    sides["head.0"] = 1, decoder[0], 1
    return {name: (outputs, inputs, side, side) for name, (outputs, inputs, side) in sides.items()}


def pooled(planes: Float32Array) -> Float32Array:
    """Return the largest of each two by two pixels of (C, H, W)."""
    rows = np.maximum(planes[:, ::2], planes[:, 1::2])
    return np.maximum(rows[:, :, ::2], rows[:, :, 1::2])


def turning(forces: Float32Array) -> Float32Array:
    """Return torque and divergence of fields (2 F, H, W) over squares: for each size F of one and of the other.

    Both are as `torque_volume` defines torque: the divergence is the torque of the field turned by a quarter.
    """
    height, width = forces.shape[1:]
    v, u = np.arange(height)[:, None] - height // 2, np.arange(width) - width // 2
    x, y = forces[0::2].astype(np.float64), forces[1::2].astype(np.float64)
    far = max(SIZES) // 2
    planes = np.concatenate([u * y - v * x, u * x + v * y, x, y])
    table = np.pad(planes, ((0, 0), (far + 1, far), (far + 1, far))).cumsum(axis=1).cumsum(axis=2)
    found = []
    for size in SIZES:
        low, high = far - size // 2, far + size // 2 + 1
        rows = table[:, high : high + height] - table[:, low : low + height]
        turn, spread, sx, sy = np.split(rows[:, :, high : high + width] - rows[:, :, low : low + width], 4)
        found += [(turn - u * sy + v * sx) / (2 * size**2), (spread - u * sx - v * sy) / (2 * size**2)]
    return np.concatenate(found).astype(np.float32)


def ridges(likely: Float32Array) -> OrientedMap:
    """Return the oriented map of a plane of likelihoods, whose contours run along its ridges."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    if min(likely.shape) < 2:  # no ridge has room
        return OrientedMap.from_map(likely, np.zeros_like(likely))
    gy, gx = np.gradient(ndimage.gaussian_filter(likely, RIDGE_SIGMA))
    (gyy, gyx), gxx = np.gradient(gy), np.gradient(gx, axis=1)
    return OrientedMap.from_map(likely, 0.5 * np.arctan2(2 * gyx, gxx - gyy))


def kept_network() -> Path:
    """Return the file in the user's folder of caches where the trained network is kept."""
    return cache_folder() / "network.npz"


def trained_network() -> BoundaryNetwork:
    """Return the network that was trained on this computer."""
    model: BoundaryNetwork = load_trained(kept_network(), BoundaryNetwork.load, "network", COMMAND)
    return model
