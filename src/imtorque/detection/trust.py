"""How far an image is like those that a finder learned from: a guard against counts that are silently wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from imtorque.core.types import BoolArray, Float32Array, FloatArray
from imtorque.detection.feature_maps import FeatureMaps
from imtorque.detection.features import FeatureTable

# What is measured on an image and what it means to exceed the training images in it; larger is less like them.
# Tolerances, in the measure's own unit, tuned on halves of the training images of blood cells and fluorescence.
REASONS: Mapping[str, str] = {
    "noise": "more noise",
    "density": "more objects per area",
    "doubt": "lower scores",
    "halves": "more objects of half the score",
    "faintness": "fainter objects beside the noise",
}
TOLERANCES: Mapping[str, float] = {"noise": 1.0, "density": 1.0, "doubt": 0.1, "halves": 1.0, "faintness": 1.0}
MIN_TRUST = 0.5  # derived: one tolerance beyond the training images
CONTRAST_OVER_NOISE = "over_noise.area"  # the feature, a logarithm
CLEAREST = 100.0  # bound: doublings of contrast over noise, where nothing was found


def unlikeness(
    maps: FeatureMaps, table: FeatureTable, score: FloatArray | Float32Array, chosen: BoolArray, wide: BoolArray
) -> dict[str, float]:
    """Return what an image is judged by, each larger the less it is like one in which objects are clear.

    Parameters
    ----------
    maps, table, score
        Of the image, its proposals and their scores.
    chosen
        The proposals that were selected.
    wide
        Those that are with half the threshold.
    """
    found, area = int(chosen.sum()), maps.shape[0] * maps.shape[1]
    clear = table.features[chosen, table.names.index(CONTRAST_OVER_NOISE)]
    return {
        "noise": math.log2(maps.noise),
        "density": math.log2((1 + found) * maps.diameter**2 / area),
        "doubt": -float(score[chosen].mean()) if found else -1.0,
        "halves": math.log2((1 + int(wide.sum())) / (1 + found)),
        "faintness": -float(np.median(clear)) / math.log(2) if found else -CLEAREST,
    }


@dataclass(frozen=True)
class TrainingRange:
    """The largest of each measure among the images that a finder learned from."""

    largest: Mapping[str, float]

    @classmethod
    def of(cls, measured: Sequence[Mapping[str, float]]) -> TrainingRange:
        """Return the range of these images."""
        return cls({name: max(image[name] for image in measured) for name in REASONS})

    def checked(self) -> TrainingRange:
        """Return a range that training images can have, else raise: files can hold anything."""
        if set(self.largest) != set(REASONS):
            raise ValueError(f"measures of training images that this version does not have, {set(self.largest)!r:.80}")
        for name, number in self.largest.items():
            if not isinstance(number, int | float) or not math.isfinite(number):
                raise ValueError(f"{name} of {number!r:.80}")
        return self

    def trust(self, measured: Mapping[str, float]) -> tuple[float, str]:
        """Return 1 for an image within the range, one half for each tolerance beyond it, and by what it is beyond."""
        beyond = {name: (measured[name] - self.largest[name]) / TOLERANCES[name] for name in REASONS}
        worst = max(beyond, key=lambda name: beyond[name])
        trust = 2 ** -max(beyond[worst], 0.0)
        return trust, REASONS[worst] if trust < MIN_TRUST else ""
