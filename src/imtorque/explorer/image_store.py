"""The images the server keeps in memory, one or a few for each open tab, and their eviction."""

from __future__ import annotations

import contextlib
import ctypes
import io
import math
import secrets
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

import numpy as np

from imtorque.core.resizing import shrink_image
from imtorque.core.types import Edges, Extrema, Image
from imtorque.datasets import PHOTOGRAPHS, sample
from imtorque.detection import Blobs
from imtorque.detection.clicks import Found
from imtorque.files import decode_image, pixel_size, read_image
from imtorque.images import CheckedImage
from imtorque.io.atomic import open_regular
from imtorque.io.decoding import decode_channels, decode_pages, reading
from imtorque.io.fits import is_fits
from imtorque.io.microscopy import is_microscopy
from imtorque.io.pixel_size import tiff_pixel_size
from imtorque.io.tiff_opening import is_tiff

MAX_PIXELS = 50_000_000  # bound: of an uploaded image
MAX_DECODED_BYTES = 8 * MAX_PIXELS  # bound: of an uploaded image, decoded
# Larger images are shrunk by an integer factor, so that answers come at interactive speed; bound: time.
WORKING_PIXELS = 400_000
MAX_SIDE = 4000  # bound: of a shrunk image, below settings.MAX_SIZE
MAX_RESULTS = 32  # bound: cached results for each image, which a chain of clicks has one each of
IDLE_TIMEOUT = 15 * 60  # seconds until an unused image is evicted, to be uploaded again; bound: memory
CLOSE_GRACE = 20  # seconds from a tab's closing to its image's eviction: a reload closes it too; bound: memory
MAX_BYTES = 2**29  # bound: all images and their results together

Result = TypeVar("Result")


@dataclass(frozen=True)
class Plane:
    """Which page of a stack an image is and which channel, from 0, None where there is one; and of how many."""

    page: int | None = None
    channel: int | None = None
    pages: int = 1
    channels: int = 1

    @classmethod
    def of(cls, file: BinaryIO, page: int | None, channel: int | None) -> Plane:
        """Return the plane of a file that is meant, the first where none is given; to be called within `reading`."""
        pages, channels = decode_pages(file), decode_channels(file)
        return cls((page or 0) if pages > 1 else page, (channel or 0) if channels > 1 else channel, pages, channels)

    @property
    def numbers(self) -> dict[str, int]:
        """The arguments by which it is read."""
        return {name: number for name in ("page", "channel") if (number := getattr(self, name)) is not None}


@dataclass(eq=False)
class StoredImage:
    """An image, the Python statements that make it, and its latest results.

    `original_shape` is its size before it was shrunk by `factor`, `file` the bytes it was uploaded as, and `read`
    reads it again as it was.
    """

    name: str
    image: Image
    recipe: tuple[str, ...]
    original_shape: tuple[int, int] = (0, 0)
    file: bytes | None = None
    factor: int = 1
    read: Callable[[], Image] | None = None
    pixel_size: float | None = None  # micrometres, of the image as it was opened
    plane: Plane = Plane()
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    last_use: float = 0.0
    closed_at: float | None = None
    _results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.image.shape[0], self.image.shape[1]

    @property
    def whole(self) -> Image:
        """The image before it was shrunk."""
        return self.image if self.read is None else self.read()

    @property
    def nbytes(self) -> int:
        """Bytes of the image and its results."""
        with self._lock:
            own = int(self.image.nbytes) + len(self.file or b"")
            return own + sum(_bytes(result) for result in self._results.values())

    def cached(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return a result, from the cache where it has it."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                known: Result = self._results[key]
                return known
        result = compute()
        with self._lock:
            self._results[key] = result
            while len(self._results) > MAX_RESULTS:
                self._results.popitem(last=False)
        return result


@dataclass(frozen=True)
class StartImage:
    """An image that the server is started with: its name, and a function that reads it, or a plane of it."""

    name: str
    read: Callable[..., StoredImage]


def start_image(image: StoredImage, read: Callable[..., StoredImage] | None = None) -> StartImage:
    """Return a start image from one in memory; every page gets its own copy of the record. `read` reads its planes."""

    def copy(**plane: int) -> StoredImage:
        if plane and read is not None:
            return read(**plane)
        own = image.name, image.image, image.recipe, image.original_shape, image.file, image.factor, image.read
        return StoredImage(*own, image.pixel_size, image.plane)

    return StartImage(image.name, copy)


def image_of_sample(name: str) -> StoredImage:
    """Return a sample image by its name; photographs are halved, as the paper's are."""
    source = f"imtorque.datasets.sample({name!r})"
    return _stored_image(name, lambda: sample(name), source, 2 if name in PHOTOGRAPHS else 1)


def image_of_file(data: bytes, name: str, *, page: int | None = None, channel: int | None = None) -> StoredImage:
    """Return the image in the bytes of a file, of a stack a plane; the name is only shown, never opened."""
    with reading(name), io.BytesIO(data) as file:
        plane = Plane.of(file, page, channel)

    def read() -> Image:
        return decode_image(data, name=name, most_pixels=MAX_PIXELS, most_bytes=MAX_DECODED_BYTES, **plane.numbers)

    stored = _stored_image(name, read, read_expression(name, **plane.numbers))
    stored.file, stored.plane = data, plane
    with io.BytesIO(data) as file, contextlib.suppress(ValueError, ImportError), reading(name):
        stored.pixel_size = _side(tiff_pixel_size(file) if is_tiff(file) else None)
    return stored


def image_of_path(path: str, *, page: int | None = None, channel: int | None = None) -> StoredImage:
    """Return the image in a file, of a stack a plane."""
    plane = Plane(page, channel)
    if not (is_microscopy(path) or is_fits(path)):
        with reading(path), open_regular(path) as file:
            plane = Plane.of(file, page, channel)
    stored = _stored_image(path, lambda: read_image(path, **plane.numbers), read_expression(path, **plane.numbers))
    stored.plane = plane
    stored.pixel_size = _side(pixel_size(path))
    return stored


def _side(sides: tuple[float, float] | None) -> float | None:
    """Return the side of a square as large as a pixel."""
    return None if sides is None else math.sqrt(sides[0] * sides[1])


def image_of_array(image: Image, name: str, source: str) -> StoredImage:
    """Return an image in memory; `source` is the Python expression that reads it."""
    return _stored_image(name, lambda: image, source)


def read_expression(path: str, **numbers: int) -> str:
    """Return the Python expression that reads a file, or a plane of it."""
    return f"imtorque.files.read_image({', '.join([repr(path), *(f'{name}={n}' for name, n in numbers.items())])})"


def _stored_image(name: str, read: Callable[[], Image], source: str, factor: int = 1) -> StoredImage:
    """Read and check an image, and shrink a large one, by at least a factor."""
    image, recipe = read(), [f"image = {source}"]
    height, width = image.shape[:2]
    factor = max(
        factor, math.ceil(math.sqrt(height * width / WORKING_PIXELS)), math.ceil(max(height, width) / MAX_SIDE)
    )
    if factor > min(height, width):
        raise ValueError(f"{name}: must be less narrow to be shown, got {height} x {width} pixels")
    if factor > 1:
        image = shrink_image(image, factor)
        recipe.append(f"image = imtorque.images.shrink_image(image, {factor})")
    CheckedImage(image)  # refuses what the library does not take
    again = read if factor > 1 else None
    return StoredImage(name, image, tuple(recipe), (height, width), factor=factor, read=again)


class ImageStore:
    """Images by key, bounded in bytes; those of closed and idle tabs are evicted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty."""
        self._clock = clock
        self._images: OrderedDict[str, StoredImage] = OrderedDict()
        self._lock = threading.Lock()
        self._evicted = False

    def __len__(self) -> int:
        """Return the number of images."""
        with self._lock:
            return len(self._images)

    def add(self, image: StoredImage) -> StoredImage:
        """Store an image."""
        with self._lock:
            image.last_use = self._clock()
            self._images[image.key] = image
        self.evict()
        return image

    def get(self, key: str) -> StoredImage:
        """Return an image; raise a KeyError where it was evicted."""
        with self._lock:
            image = self._images[key]
            image.last_use = self._clock()
            image.closed_at = None
            self._images.move_to_end(key)
            return image

    def close(self, key: str) -> None:
        """Mark the tab closed; evict its image after a grace period unless it is requested again."""
        with self._lock:
            image = self._images.get(key)
            if image is not None:
                image.closed_at = self._clock()

    def remove(self, key: str) -> None:
        """Remove an image at once."""
        with self._lock:
            self._evicted |= self._images.pop(key, None) is not None

    def evict(self) -> None:
        """Evict idle and closed images, then the least recently used ones beyond the bound."""
        now = self._clock()
        with self._lock:
            before = len(self._images)
            for key, image in list(self._images.items()):
                closed = image.closed_at is not None and now - image.closed_at > CLOSE_GRACE
                if closed or now - image.last_use > IDLE_TIMEOUT:
                    del self._images[key]
            total = sum(image.nbytes for image in self._images.values())
            while total > MAX_BYTES and len(self._images) > 1:
                _, oldest = self._images.popitem(last=False)
                total -= oldest.nbytes
            self._evicted |= len(self._images) < before

    def pop_evicted(self) -> bool:
        """Return whether images were evicted since the last call."""
        with self._lock:
            evicted, self._evicted = self._evicted, False
            return evicted


def return_memory() -> None:
    """Return the memory of evicted images to the system; Linux's C library would keep it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _bytes(result: Any) -> int:
    """Return approximately the bytes of a result."""
    if isinstance(result, np.ndarray):
        return int(result.nbytes)
    if isinstance(result, tuple):
        return sum(_bytes(part) for part in result)
    if isinstance(result, Edges):
        return 2 * int(result.fx.nbytes)
    if isinstance(result, Found):
        return _bytes((result.objects, *result.right, *result.wrong))
    if isinstance(result, Blobs):
        return _bytes((*result.to_dict().values(), result.outline, result.labels))
    if isinstance(result, Extrema):
        return int(result.y.nbytes + result.x.nbytes + result.size.nbytes + result.value.nbytes)
    return 0
