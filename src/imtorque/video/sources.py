"""Sources of frames: videos, folders of images, stacks. Each source cuts itself into segments.

A source can be sent to another process, and opens its files there. Frames of a segment are the same whoever reads them:
numbers, times and pixels do not depend on how the video is cut.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from imtorque.core.types import Image
from imtorque.files import SUFFIXES, find_images, image_shape, page_count, read_image
from imtorque.images import CheckedImage

SEGMENT_IMAGES = 16  # convention: of a folder or a stack
RATE = 25.0  # convention: frames a second, where a source does not say


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame.

    Parameters
    ----------
    number, time
        Counted from 0, and in seconds after the first.
    pixels
        What is looked at: of videos the brightness as it is stored, shape (H, W); of images what the file holds.
    colour
        What is shown, shape (H, W, 3), where it was asked for.
    """

    number: int
    time: float
    pixels: Image
    colour: Image | None = None


class Source(Protocol):
    """A video, a folder of images or a stack."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    @property
    def count(self) -> int:
        """How many frames there are."""
        ...

    @property
    def rate(self) -> float:
        """Frames a second."""
        ...

    def segments(self) -> Sequence[Any]:
        """Return the parts that can be read by themselves, in order."""
        ...

    def frames(self, segment: Any = None, *, every: int = 1, colour: bool = False) -> Iterator[Frame]:
        """Yield every so many-th frame of a segment, or of all; in colour too where that is asked for."""
        ...


@dataclass(frozen=True)
class Images:
    """Images of a folder in the order of their names, or the pages of one stack, as frames.

    Parameters
    ----------
    name
        What errors call it.
    paths
        The images; or the stack alone.
    pages
        How many pages a stack has; None for images.
    rate
        Frames a second.
    """

    name: str
    paths: tuple[Path, ...]
    pages: int | None = None
    rate: float = RATE

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.paths) if self.pages is None else self.pages

    def segments(self) -> Sequence[range]:
        """Return runs of images."""
        return [range(first, min(first + SEGMENT_IMAGES, self.count)) for first in range(0, self.count, SEGMENT_IMAGES)]

    def frames(self, segment: range | None = None, *, every: int = 1, colour: bool = False) -> Iterator[Frame]:
        """Yield every so many-th image, as it is: all functions take grey and colour."""
        for number in segment if segment is not None else range(self.count):
            if number % every == 0:
                pixels = self._read(number)
                yield Frame(number, number / self.rate, pixels, CheckedImage(pixels).as_bytes() if colour else None)

    def _read(self, number: int) -> Image:
        return read_image(self.paths[number]) if self.pages is None else read_image(self.paths[0], page=number)


def open_video(source: str | os.PathLike[str], *, rate: float = RATE) -> Source:
    """Open what frames come from; `for frame in open_video(source).frames()` reads them.

    Parameters
    ----------
    source
        A video, which needs PyAV (`imtorque[video]`); a folder of images of one size, in the order of their names; or
        a TIFF stack of several pages.
    rate
        Frames a second, of folders and stacks.
    """
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"rate must be above 0, got {rate}")
    from imtorque.video.decoding import open_video_file  # here, because it needs PyAV only when it is used

    path = Path(str(source))
    if path.is_char_device() or (str(path).isdecimal() and not path.exists()):
        raise ValueError(
            f"cameras were removed in version 0.3: give frames of OpenCV's VideoCapture to track_extrema, got {source}"
        )
    if path.is_dir():
        return _folder(path, rate)
    if path.suffix.lower() in SUFFIXES and path.suffix.lower() not in (".gif", ".webp"):
        pages = page_count(path)
        if pages < 2:
            raise ValueError(f"{path}: must be a video, a folder or a stack of several pages, got one image")
        return Images(str(path), (path,), pages, rate)
    return open_video_file(path)


def _folder(path: Path, rate: float) -> Images:
    """Open a folder, whose images must be of one size."""
    paths = find_images([path])
    first = image_shape(paths[0])
    for other in paths[1:]:
        shape = image_shape(other)
        if shape != first:
            raise ValueError(
                f"{other}: frames must be of one size, {first[1]} x {first[0]} as {paths[0].name}, "
                f"got {shape[1]} x {shape[0]}"
            )
    return Images(str(path), tuple(paths), None, rate)


def check_every(every: int) -> int:
    """Return which frames are looked at: every so many-th."""
    if operator.index(every) < 1:
        raise ValueError(f"every must be at least 1, got {every}")
    return operator.index(every)
