"""How far an image is like those that a finder learned from: a guard against counts that are silently wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imtorque.core.types import BoolArray, Float32Array, FloatArray

# What is measured on an image, and what it means to exceed the training images in it.
REASONS: Mapping[str, str] = {
    "density": "more objects per area",
    "doubt": "lower scores",
    "halves": "more objects of half the score",
}
# How far beyond them halves the trust. Tuned on held-out training images of fluorescence and blood cells, as they are,
# in noise, texture, blur, other light and magnification, and on images of other sets.
TOLERANCES: Mapping[str, float] = {"density": 1.0, "doubt": 0.1, "halves": 0.5}
MIN_TRUST = 0.5  # derived: one tolerance beyond the training images


def unlikeness(room: float, score: FloatArray | Float32Array, chosen: BoolArray, wide: BoolArray) -> dict[str, float]:
    """Return what an image is judged by, each the larger the less clear its objects are.

    That is their number per area, as a logarithm to base 2; the mean of their scores below 1; and how many more there
    are with half the threshold, as a logarithm again. Where there are none, no score is low.

    Parameters
    ----------
    room
        How many objects the image has room for.
    score
        Of its proposals.
    chosen
        The proposals that were selected.
    wide
        Those that are with half the threshold.
    """
    found = int(chosen.sum())
    return {
        "density": math.log2((1 + found) / room),
        "doubt": 1 - float(score[chosen].mean()) if found else 0.0,
        "halves": math.log2((1 + int(wide.sum())) / (1 + found)),
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
        if not isinstance(self.largest, dict) or set(self.largest) != set(REASONS):
            raise ValueError(f"measures of training images that this version does not have, {self.largest!r:.80}")
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
