"""The pictures the server holds in memory, one or a few for each open tab, and when it lets them go."""

from __future__ import annotations

import ctypes
import math
import secrets
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from imtorque.core.resizing import shrink_image
from imtorque.core.types import Edges, Extrema, Image
from imtorque.datasets import PHOTOGRAPHS, sample
from imtorque.files import decode_image
from imtorque.images import Picture

MOST_PIXELS = 50_000_000  # of a picture that is sent
MOST_DECODED_BYTES = 8 * MOST_PIXELS
WORKING_PIXELS = 400_000  # larger ones are shrunk by a whole factor until an answer takes no longer than a blink
LONGEST_SIDE = 4000  # of a picture that is worked on
RESULTS_KEPT = 8  # for each picture
IDLE_SECONDS = 15 * 60  # then a picture goes; the page sends it again where it is still open
CLOSING_SECONDS = 20  # between a tab's farewell and the end of its picture: a reload says farewell too
MOST_BYTES = 2**29  # of all pictures and their results together

Result = TypeVar("Result")


@dataclass(eq=False)
class HeldPicture:
    """A picture, how Python makes it, and the latest results computed from it.

    `whole` is the size it had before it was shrunk, `original` the file it was sent as.
    """

    name: str
    image: Image
    recipe: tuple[str, ...]
    whole: tuple[int, int] = (0, 0)
    original: bytes | None = None
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    last_use: float = 0.0
    closing_since: float | None = None
    _results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.image.shape[0], self.image.shape[1]

    @property
    def factor(self) -> int:
        """By how much it was shrunk."""
        return max(1, self.whole[0] // self.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the picture and its results."""
        with self._lock:
            given = int(self.image.nbytes) + len(self.original or b"")
            return given + sum(_bytes(result) for result in self._results.values())

    def recall(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return a result, from before where it is still kept."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                kept: Result = self._results[key]
                return kept
        result = compute()
        with self._lock:
            self._results[key] = result
            while len(self._results) > RESULTS_KEPT:
                self._results.popitem(last=False)
        return result


@dataclass(frozen=True)
class Given:
    """A picture that the server is started with: its name, and how it is read whenever a page asks for it."""

    name: str
    read: Callable[[], HeldPicture]


def given_picture(picture: HeldPicture) -> Given:
    """Return a picture that has been read, to start with; every page has one of its own."""
    return Given(
        picture.name, lambda: HeldPicture(picture.name, picture.image, picture.recipe, picture.whole, picture.original)
    )


def picture_of_sample(name: str) -> HeldPicture:
    """Return a sample picture by its name; photographs are halved, as the paper's are."""
    return _worked_on(name, sample(name), f"imtorque.datasets.sample({name!r})", 2 if name in PHOTOGRAPHS else 1)


def picture_of_file(data: bytes, name: str) -> HeldPicture:
    """Return the picture in the bytes of a file. Nothing is written, and the name is no more than a name."""
    image = decode_image(data, name=name, most_pixels=MOST_PIXELS, most_bytes=MOST_DECODED_BYTES)
    picture = _worked_on(name, image, read_as(name))
    picture.original = data
    return picture


def picture_of_array(image: Image, name: str, source: str) -> HeldPicture:
    """Return a picture read before; `source` is the Python expression that reads it."""
    return _worked_on(name, image, source)


def read_as(path: str) -> str:
    """Return the Python expression that reads a file."""
    return f"imtorque.files.read_image({path!r})"


def _worked_on(name: str, image: Image, source: str, factor: int = 1) -> HeldPicture:
    """Shrink a large picture, and note how."""
    recipe = [f"image = {source}"]
    height, width = image.shape[:2]
    factor = max(
        factor, math.ceil(math.sqrt(height * width / WORKING_PIXELS)), math.ceil(max(height, width) / LONGEST_SIDE)
    )
    if factor > min(height, width):
        raise ValueError(f"{name}: must be less narrow to be shown, got {height} x {width} pixels")
    if factor > 1:
        image = shrink_image(image, factor)
        recipe.append(f"image = imtorque.core.resizing.shrink_image(image, {factor})")
    Picture(image)  # refuses what no function takes
    return HeldPicture(name, image, tuple(recipe), whole=(height, width))


class PictureStore:
    """Pictures by their keys, bounded in bytes; those of closed and idle tabs go."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Hold nothing yet."""
        self._clock = clock
        self._pictures: OrderedDict[str, HeldPicture] = OrderedDict()
        self._lock = threading.Lock()
        self._some_went = False

    def __len__(self) -> int:
        """Return how many pictures are held."""
        with self._lock:
            return len(self._pictures)

    def add(self, picture: HeldPicture) -> HeldPicture:
        """Hold a picture."""
        with self._lock:
            picture.last_use = self._clock()
            self._pictures[picture.key] = picture
        self.sweep()
        return picture

    def get(self, key: str) -> HeldPicture:
        """Return a picture, or raise a KeyError where it has gone."""
        with self._lock:
            picture = self._pictures[key]
            picture.last_use = self._clock()
            picture.closing_since = None
            self._pictures.move_to_end(key)
            return picture

    def close(self, key: str) -> None:
        """Take a tab's farewell: its picture goes unless it is asked for again soon."""
        with self._lock:
            picture = self._pictures.get(key)
            if picture is not None:
                picture.closing_since = self._clock()

    def remove(self, key: str) -> None:
        """Let a picture go now."""
        with self._lock:
            self._some_went |= self._pictures.pop(key, None) is not None

    def sweep(self) -> None:
        """Let go what is idle, closed, or too much, the least recently used first."""
        now = self._clock()
        with self._lock:
            before = len(self._pictures)
            for key, picture in list(self._pictures.items()):
                closed = picture.closing_since is not None and now - picture.closing_since > CLOSING_SECONDS
                if closed or now - picture.last_use > IDLE_SECONDS:
                    del self._pictures[key]
            total = sum(picture.nbytes for picture in self._pictures.values())
            while total > MOST_BYTES and len(self._pictures) > 1:
                _, oldest = self._pictures.popitem(last=False)
                total -= oldest.nbytes
            self._some_went |= len(self._pictures) < before

    def some_went(self) -> bool:
        """Return whether pictures have gone since this was last asked."""
        with self._lock:
            went, self._some_went = self._some_went, False
            return went


def return_memory() -> None:
    """Give the system back what pictures held that have gone; the C library of Linux would keep it for others."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _bytes(result: Any) -> int:
    """Return about how many bytes a result holds."""
    if isinstance(result, np.ndarray):
        return int(result.nbytes)
    if isinstance(result, tuple):
        return sum(_bytes(part) for part in result)
    if isinstance(result, Edges):
        return 2 * int(result.fx.nbytes)
    if isinstance(result, Extrema):
        return int(result.y.nbytes + result.x.nbytes + result.size.nbytes + result.value.nbytes)
    return 0
