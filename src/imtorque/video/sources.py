"""Where frames come from: videos, cameras, folders of images, stacks. Each source cuts itself into segments.

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

CHUNK = 16  # images of a folder or a stack that make a segment
RATE = 25.0  # frames a second, where a source does not say


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
    """What frames are read from."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    @property
    def count(self) -> int | None:
        """How many frames there are; None where nobody knows."""
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
        return [range(first, min(first + CHUNK, self.count)) for first in range(0, self.count, CHUNK)]

    def frames(self, segment: range | None = None, *, every: int = 1, colour: bool = False) -> Iterator[Frame]:
        """Yield every so many-th image, as it is: all functions take grey and colour."""
        for number in segment if segment is not None else range(self.count):
            if number % every == 0:
                pixels = self._read(number)
                yield Frame(number, number / self.rate, pixels, CheckedImage(pixels).as_bytes() if colour else None)

    def _read(self, number: int) -> Image:
        return read_image(self.paths[number]) if self.pages is None else read_image(self.paths[0], page=number)


def open_video(source: str | os.PathLike[str] | int, *, rate: float = RATE) -> Source:
    """Open what frames come from; `for frame in open_video(source).frames()` reads them.

    Parameters
    ----------
    source
        A video; a folder of images of one size, in the order of their names; a TIFF stack of several pages; or a
        camera: its number, or its device such as /dev/video0. Videos and cameras need PyAV (`imtorque[video]`).
    rate
        Frames a second, of folders and stacks.
    """
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"rate must be above 0, got {rate}")
    from imtorque.video.decoding import Camera, open_video_file  # here, because it needs PyAV only when it is used

    if isinstance(source, int) or os.fspath(source).isdecimal():
        return Camera.numbered(operator.index(source) if isinstance(source, int) else int(os.fspath(source)))
    path = Path(source)
    if path.is_char_device():
        return Camera(str(path))
    if str(source).startswith("/dev/"):
        raise FileNotFoundError(f"{path}: no such camera")
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
