"""Frames or what was found in them, one after the other, with the track of each place: as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from imtorque.core.types import Extrema, FloatArray, Image, IntArray
from imtorque.video.detection import Finder, FrameExtrema, as_places
from imtorque.video.linking import Linker, Linking
from imtorque.video.sources import RATE, Frame


@dataclass(frozen=True, eq=False)
class TrackedFrame:
    """What was found in a frame, in the order of the tracks.

    Where two objects that were followed for a while are seen as one, both are there: the one that the place fits
    better, and the other where it is expected, with the torque of that place.

    Parameters
    ----------
    number, time
        Of the frame: counted from 0, and in seconds after the first.
    track
        Which object each place belongs to, numbered from 1 in the order in which they were first seen; 0 where places
        are not linked. Shape (n,), as the others.
    y, x
        Places in pixels.
    size
        Patch sizes.
    torque
        Positive for bright objects.
    """

    number: int
    time: float
    track: IntArray
    y: FloatArray | IntArray
    x: FloatArray | IntArray
    size: FloatArray | IntArray
    torque: FloatArray

    def __len__(self) -> int:
        """Return how many places there are."""
        return len(self.track)


def track_extrema(
    frames: Iterable[Image | Frame | Extrema],
    *,
    find: Finder | None = None,
    linking: Linking | None = None,
    rate: float = RATE,
) -> Iterator[TrackedFrame]:
    """Follow objects through frames: yields each frame's places with their tracks as soon as it has come.

    Parameters
    ----------
    frames
        Images, in order; or frames of `open_video(...).frames()`; or what was found in each frame,
        `Extrema` or `Blobs`. Any iterable: it is asked for one at a time.
    find
        What is looked for in images: `FrameExtrema(...)`, `FrameBlobs(...)` or a function of your own that returns
        `Extrema`.
    linking
        How far and how long an object is looked for.
    rate
        Frames a second, where frames do not say their time.

    Examples
    --------
    >>> from imtorque import synthetic
    >>> images = (synthetic.disc((60, 80), (30, 20 + 4 * k), 9) for k in range(5))
    >>> [(frame.track.tolist(), frame.x.tolist()) for frame in track_extrema(images)]
    [([1], [20]), ([1], [24]), ([1], [28]), ([1], [32]), ([1], [36])]
    """
    search = find or FrameExtrema()
    linker = Linker(linking or Linking())
    for k, item in enumerate(frames):
        frame = item if isinstance(item, Frame) else Frame(k, k / rate, np.zeros(0))
        found = item if isinstance(item, Extrema) else search(frame.pixels if isinstance(item, Frame) else item)
        yield tracked(frame.number, frame.time, as_places(found), linker)


def tracked(number: int, time: float, found: Extrema, linker: Linker | None) -> TrackedFrame:
    """Return what was found in a frame with its tracks, or without where there is nobody to link it."""
    track = np.zeros(len(found), np.int64) if linker is None else linker.link(found)
    size = found.size if found.size.ndim == 1 else np.sqrt(found.size.prod(axis=1))
    columns: list[Any] = [track, found.y, found.x, size, found.value]
    if linker is not None and len(linker.occluded.track):
        columns = [np.append(*both) for both in zip(columns, linker.occluded, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return TrackedFrame(number, time, *(column[order] for column in columns))
