"""TIFF files by tifffile: which pages there are, where one lies, and its values with the meaning its tags give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from imtorque.io.stacks import Chosen, choose
from imtorque.io.tiff_opening import find_pages
from imtorque.io.tiff_segments import JPEG, PLAIN, STREAMS, check_kind, read_values

if TYPE_CHECKING:
    import tifffile

# What tifffile knows the arrangement of pages of; in all other files every page is one.
KINDS = ("shaped", "lsm", "ome", "imagej", "fluoview", "stk", "sis", "svs", "scn", "qpi", "ndpi", "bif", "philips")
MAX_PLANES = 10**6  # bound: that metadata may speak of
# Convention: TIFF's PhotometricInterpretation, then its ExtraSamples.
WHITE_IS_0, BLACK_IS_0, RGB, PALETTE, MASK, YCBCR, LINEAR = 0, 1, 2, 3, 4, 6, 34892
ASSOCIATED_ALPHA, UNASSOCIATED_ALPHA = 1, 2  # format: TIFF's ExtraSamples
# By how the camera was held: whether rows and columns change places, then the direction of each.
_ORIENTATIONS = {2: (False, 1, -1), 3: (False, -1, -1), 4: (False, -1, 1)}
_ORIENTATIONS |= {5: (True, 1, 1), 6: (True, 1, -1), 7: (True, -1, -1), 8: (True, -1, 1)}


class Plane:
    """One page of a TIFF file, or the part of one, that is an image; nothing of it decoded yet."""

    def __init__(self, file: BinaryIO, tiff: tifffile.TiffFile, page: int | None, channel: int | None) -> None:
        """Find the page; refuse where it is not said which."""
        self.file = file
        stack = _stack(file, tiff)
        self.key = stack.key
        inner = self.key.axes.replace("S", "C") if stack.samples_are_channels else self.key.axes
        axes, shape = stack.axes + inner, (*stack.shape, *self.key.shape)
        chosen = choose(axes, shape, page, channel, kind="TIFF", colour=_in_colour(self.key))
        self.long_axes = "".join(axis for axis, n in zip(stack.axes, stack.shape, strict=True) if n > 1 and axis != "C")
        self.order = stack.order(chosen)
        self.page, self.offset, self.number = stack.page(chosen)
        if stack.plain and self.page is not self.key:  # pages of a plain file need not be alike
            self.key = self.page
            axes, shape = stack.axes + self.key.axes, (*stack.shape, *self.key.shape)
            chosen = choose(axes, shape, page, channel, kind="TIFF", colour=_in_colour(self.key))
        self.bits = self.key.bitspersample
        self.pages, self.channels = chosen.pages, chosen.channels
        self.colour, self.numbers = chosen.colour, chosen.numbers[len(stack.axes) :]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, as they are kept."""
        return int(self.key.imagelength), int(self.key.imagewidth)

    @property
    def compression(self) -> str:
        """The name of the compression."""
        return getattr(self.key.compression, "name", str(self.key.compression))

    @property
    def is_read_here(self) -> bool:
        """Whether numbers of this kind and compression can be read without Pillow's own reader of TIFF."""
        import tifffile

        if self.key.compression in JPEG and self.key.photometric == YCBCR:
            return self.key.compression in tifffile.TIFF.DECOMPRESSORS
        if self.key.photometric not in (WHITE_IS_0, BLACK_IS_0, RGB, PALETTE, MASK, LINEAR):
            return False
        return self.key.compression in (PLAIN, *STREAMS) or self.key.compression in tifffile.TIFF.DECOMPRESSORS

    def use(self, page: Any, offset: int = 0) -> None:
        """Take another page of the same kind: the same image at another size."""
        self.key, self.page, self.offset = page.keyframe, page, offset

    def pixels(self) -> NDArray[Any]:
        """Return the pixels, upright: (H, W), or (H, W, 3 or 4) in colour."""
        check_kind(self.key)
        meant = self._image(read_values(self.file, self.page, self.offset).reshape(self.key.shape))
        return _upright(meant, self.orientation)

    def window(self, bounds: tuple[int, int, int, int], read: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        """Return the pixels in (top, left, bottom, right), as they are kept, from values that `read` gives."""
        check_kind(self.key)
        values = read(self.file, self.page, self.offset, bounds)
        sides = {"Y": bounds[2] - bounds[0], "X": bounds[3] - bounds[1]}
        shape = zip(self.key.axes, self.key.shape, strict=True)
        return self._image(values.reshape([sides.get(axis, side) for axis, side in shape]))

    def _image(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the image that values of a page, or of a window of it, make: one channel, or the colours last."""
        index = tuple(slice(None) if number is None else number for number in self.numbers)
        axes = "".join(a for a, number in zip(self.key.axes, self.numbers, strict=True) if number is None)
        pixels = np.moveaxis(values[index], axes.index("S"), -1) if "S" in axes else values[index][:, :, None]
        meant = self._meant(pixels)
        return np.asarray(meant[:, :, 0] if meant.shape[2] == 1 else meant)

    @property
    def orientation(self) -> int:
        """How the camera was held, from 1 (upright) to 8."""
        tag = self.key.tags.get(274)
        return int(tag.value) if tag is not None and isinstance(tag.value, int) else 1

    def _meant(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Return the pixels as the tags mean them: palettes looked up, black as 0, colours not yet dimmed."""
        extra = tuple(self.key.extrasamples)
        if self.key.photometric == PALETTE and self.key.colormap is not None:
            return np.asarray((self.key.colormap >> 8).astype(np.uint8).T[pixels[:, :, 0]])
        if self.key.photometric == WHITE_IS_0:
            pixels = _inverted(pixels, self.bits)
        if self.bits in (2, 4) and pixels.dtype == np.uint8:
            pixels = pixels * np.uint8(255 // (2**self.bits - 1))
        if not self.colour or pixels.shape[2] < 2:
            return pixels
        if pixels.shape[2] == 2:
            pixels = pixels[:, :, [0, 0, 0, 1]]
        if pixels.shape[2] == 4 and extra[:1] not in ((ASSOCIATED_ALPHA,), (UNASSOCIATED_ALPHA,)):
            return pixels[:, :, :3]
        return _undimmed(pixels) if pixels.shape[2] == 4 and extra[0] == ASSOCIATED_ALPHA else pixels


@dataclass
class _Stack:
    """The pages of a file: axes around one page, and where each page is."""

    key: Any
    axes: str
    shape: tuple[int, ...]
    pages: Sequence[Any]
    plain: bool = False
    samples_are_channels: bool = False
    step: int | None = None  # bytes from one page to the next where only the first is named

    def order(self, chosen: Chosen) -> int:
        """Return the place of a page among the pages of the stack."""
        outer = [number or 0 for number in chosen.numbers[: len(self.shape)]]
        return int(np.ravel_multi_index(outer, self.shape)) if self.shape else 0

    def page(self, chosen: Chosen) -> tuple[Any, int, int]:
        """Return a page, how many bytes after its own its values lie, and its number in the file."""
        number = self.order(chosen)
        if self.step is not None:
            return self.pages[0], number * self.step, self.pages[0].index + number
        page = self.pages[number]
        return page, 0, page.index


def _stack(file: BinaryIO, tiff: tifffile.TiffFile) -> _Stack:
    if any(getattr(tiff, f"is_{kind}") for kind in KINDS):
        if tiff.is_ome:
            _check_planes(tiff.ome_metadata or "")
        found = _arranged(tiff)
        if found is not None:
            return found
    numbers = [k for k, (_, reduced) in enumerate(find_pages(file)) if not reduced] or [0]
    if not find_pages(file):
        raise ValueError("a TIFF without pages")
    first = tiff.pages[numbers[0]].aspage()
    return _Stack(first, "I", (len(numbers),), _Pages(tiff, numbers), plain=True)


class _Pages(Sequence[Any]):
    """Pages of a file by their numbers, each read when it is asked for."""

    def __init__(self, tiff: tifffile.TiffFile, numbers: list[int]) -> None:
        self.tiff, self.numbers = tiff, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, key: Any) -> Any:
        return self.tiff.pages[self.numbers[key]].aspage()


def _arranged(tiff: tifffile.TiffFile) -> _Stack | None:
    """Return the first series of pages as the file's metadata arrange it; None where these do not agree with it."""
    series = tiff.series[0] if tiff.series else None
    if series is None or series.kind in ("generic", "uniform"):
        return None
    key, axes, shape = series.keyframe, series.get_axes(squeeze=False), series.get_shape(squeeze=False)
    split = next((k for k in range(len(shape), -1, -1) if int(np.prod(shape[k:], dtype=object)) == key.size), None)
    if split is None:
        return None
    planes = int(np.prod(shape[:split], dtype=object))
    channels = "C" in axes[split:]
    if planes > 1 and series.dataoffset is not None:
        return _Stack(key, axes[:split], shape[:split], [key], samples_are_channels=channels, step=key.nbytes)
    here = [page for page in (series[k] for k in range(min(len(series), planes))) if page is not None]
    if len(here) < planes:  # the others lie in other files
        return _Stack(key, "I", (len(here),), here, samples_are_channels=channels)
    return _Stack(key, axes[:split], shape[:split], here, samples_are_channels=channels)


def _check_planes(text: str) -> None:
    """Refuse metadata that speak of more planes than any file has, before a list of them is made."""
    said = [int(number) for number in re.findall(r'\b(?:Size[ZCT]|PlaneCount|NumPlanes|First[ZCT]|IFD)="(\d+)"', text)]
    pixels = re.search(r"<[^>]*\bPixels\b[^>]*>", text)
    sizes = re.findall(r'\bSize[ZCT]="(\d+)"', pixels[0]) if pixels else []
    if max(said, default=0) > MAX_PLANES or int(np.prod([int(size) for size in sizes], dtype=object)) > MAX_PLANES:
        raise ValueError("OME metadata of more planes than can be")


def _in_colour(key: Any) -> bool:
    """Return whether the samples of a pixel are a colour, or a grey with opacity."""
    samples, extra = int(key.samplesperpixel), tuple(key.extrasamples)
    if key.photometric in (WHITE_IS_0, BLACK_IS_0):
        return samples in (1, 3) or (samples == 2 and extra in ((ASSOCIATED_ALPHA,), (UNASSOCIATED_ALPHA,)))
    return samples in (1, 3, 4)


def _inverted(pixels: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return pixels whose 0 stands for white with 0 as black; floats, which have no largest value, are negated."""
    if pixels.dtype.kind == "f":
        return np.asarray(-pixels)
    if pixels.dtype.kind == "u":
        return np.asarray(pixels.dtype.type(2**bits - 1) - pixels)
    return np.asarray(~pixels)


def _undimmed(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return colours that were multiplied by their opacity as they were before."""
    opacity = pixels[:, :, 3:]
    white = 1.0 if pixels.dtype.kind == "f" else float(np.iinfo(pixels.dtype).max)
    colours = np.divide(pixels[:, :, :3] * white, opacity, out=np.zeros(pixels[:, :, :3].shape), where=opacity > 0)
    if pixels.dtype.kind != "f":
        colours = colours.round().clip(0, white)
    return np.concatenate([colours.astype(pixels.dtype), opacity], axis=2)


def _upright(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    if orientation not in _ORIENTATIONS:
        return pixels
    swapped, down, right = _ORIENTATIONS[orientation]
    turned = pixels.swapaxes(0, 1) if swapped else pixels
    return np.ascontiguousarray(turned[::down, ::right])
