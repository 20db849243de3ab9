"""The images the server holds in memory, one or a few for each open tab, and when it lets them go."""

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
from imtorque.images import CheckedImage

MOST_PIXELS = 50_000_000  # of an image that is sent
MOST_DECODED_BYTES = 8 * MOST_PIXELS
WORKING_PIXELS = 400_000  # larger ones are shrunk by a whole factor until an answer takes no longer than a blink
LONGEST_SIDE = 4000  # of an image that is worked on
RESULTS_KEPT = 8  # for each image
IDLE_SECONDS = 15 * 60  # then an image goes; the page sends it again where it is still open
CLOSING_SECONDS = 20  # between a tab's farewell and the end of its image: a reload says farewell too
MOST_BYTES = 2**29  # of all images and their results together

Result = TypeVar("Result")


@dataclass(eq=False)
class HeldImage:
    """An image, how Python makes it, and the latest results computed from it.

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
        """Bytes of the image and its results."""
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
    """An image that the server is started with: its name, and how it is read whenever a page asks for it."""

    name: str
    read: Callable[[], HeldImage]


def given_image(image: HeldImage) -> Given:
    """Return an image that has been read, to start with; every page has one of its own."""
    return Given(image.name, lambda: HeldImage(image.name, image.image, image.recipe, image.whole, image.original))


def image_of_sample(name: str) -> HeldImage:
    """Return a sample image by its name; photographs are halved, as the paper's are."""
    return _worked_on(name, sample(name), f"imtorque.datasets.sample({name!r})", 2 if name in PHOTOGRAPHS else 1)


def image_of_file(data: bytes, name: str) -> HeldImage:
    """Return the image in the bytes of a file. Nothing is written, and the name is no more than a name."""
    image = decode_image(data, name=name, most_pixels=MOST_PIXELS, most_bytes=MOST_DECODED_BYTES)
    checked = _worked_on(name, image, read_as(name))
    checked.original = data
    return checked


def image_of_array(image: Image, name: str, source: str) -> HeldImage:
    """Return an image read before; `source` is the Python expression that reads it."""
    return _worked_on(name, image, source)


def read_as(path: str) -> str:
    """Return the Python expression that reads a file."""
    return f"imtorque.files.read_image({path!r})"


def _worked_on(name: str, image: Image, source: str, factor: int = 1) -> HeldImage:
    """Shrink a large image, and note how."""
    recipe = [f"image = {source}"]
    height, width = image.shape[:2]
    factor = max(
        factor, math.ceil(math.sqrt(height * width / WORKING_PIXELS)), math.ceil(max(height, width) / LONGEST_SIDE)
    )
    if factor > min(height, width):
        raise ValueError(f"{name}: must be less narrow to be shown, got {height} x {width} pixels")
    if factor > 1:
        image = shrink_image(image, factor)
        recipe.append(f"image = imtorque.images.shrink_image(image, {factor})")
    CheckedImage(image)  # refuses what no function takes
    return HeldImage(name, image, tuple(recipe), whole=(height, width))


class ImageStore:
    """Images by their keys, bounded in bytes; those of closed and idle tabs go."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Hold nothing yet."""
        self._clock = clock
        self._images: OrderedDict[str, HeldImage] = OrderedDict()
        self._lock = threading.Lock()
        self._some_went = False

    def __len__(self) -> int:
        """Return how many images are held."""
        with self._lock:
            return len(self._images)

    def add(self, image: HeldImage) -> HeldImage:
        """Hold an image."""
        with self._lock:
            image.last_use = self._clock()
            self._images[image.key] = image
        self.sweep()
        return image

    def get(self, key: str) -> HeldImage:
        """Return an image, or raise a KeyError where it has gone."""
        with self._lock:
            image = self._images[key]
            image.last_use = self._clock()
            image.closing_since = None
            self._images.move_to_end(key)
            return image

    def close(self, key: str) -> None:
        """Take a tab's farewell: its image goes unless it is asked for again soon."""
        with self._lock:
            image = self._images.get(key)
            if image is not None:
                image.closing_since = self._clock()

    def remove(self, key: str) -> None:
        """Let an image go now."""
        with self._lock:
            self._some_went |= self._images.pop(key, None) is not None

    def sweep(self) -> None:
        """Let go what is idle, closed, or too much, the least recently used first."""
        now = self._clock()
        with self._lock:
            before = len(self._images)
            for key, image in list(self._images.items()):
                closed = image.closing_since is not None and now - image.closing_since > CLOSING_SECONDS
                if closed or now - image.last_use > IDLE_SECONDS:
                    del self._images[key]
            total = sum(image.nbytes for image in self._images.values())
            while total > MOST_BYTES and len(self._images) > 1:
                _, oldest = self._images.popitem(last=False)
                total -= oldest.nbytes
            self._some_went |= len(self._images) < before

    def some_went(self) -> bool:
        """Return whether images have gone since this was last asked."""
        with self._lock:
            went, self._some_went = self._some_went, False
            return went


def return_memory() -> None:
    """Give the system back what images held that have gone; the C library of Linux would keep it for others."""
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
