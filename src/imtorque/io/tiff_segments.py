"""From the strips and tiles of a TIFF page to an array: decompressed within bounds, so that no file is a bomb."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque.io.stacks import RefusedError

# Convention: TIFF's numbers of compressions, and of a predictor.
PLAIN, LZMA, DEFLATE = 1, 34925, (8, 32946)
STREAMS = (5, 32773, 50000, LZMA, *DEFLATE)  # with LZW, PackBits and Zstandard: bytes in, bytes out
JPEG = (6, 7, 33007, 34892)  # format: TIFF's compressions
FLOAT_PREDICTOR = 3  # format: TIFF's predictor
LARGEST_TILE = 2**24  # bound: pixels that a tile may have where the image has fewer
_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def read_values(file: BinaryIO, page: Any, offset: int = 0) -> NDArray[Any]:
    """Return the values of a page of tifffile, shape (planes, depth, height, width, samples), in this byte order.

    Parameters
    ----------
    file
        The TIFF file.
    page
        The page: a TiffPage or a TiffFrame.
    offset
        How many bytes after the page's own place its values lie, for stacks that name their first page only.
    """
    if page.keyframe.is_contiguous and page.keyframe.predictor == 1:
        return _contiguous(file, page, offset)
    return _segments(file, page)


def _contiguous(file: BinaryIO, page: Any, offset: int) -> NDArray[Any]:
    key = page.keyframe
    data = _read(file, page.dataoffsets[0] + offset, math.prod(key.shaped) * key.dtype.itemsize)
    if key.fillorder == 2:
        data = data.translate(_REVERSED_BITS)
    stored = np.frombuffer(data, key.dtype.newbyteorder(key.parent.byteorder)).reshape(key.shaped)
    return stored.astype(key.dtype, copy=False)


def _segments(file: BinaryIO, page: Any) -> NDArray[Any]:
    key = page.keyframe
    values = np.zeros(key.shaped, key.dtype)
    if key.nodata:
        values[:] = key.nodata
    for plane, z, y, x, part in read_segments(file, page):
        room = values[plane, z : z + part.shape[0], y : y + part.shape[1], x : x + part.shape[2]]
        room[:] = part[: room.shape[0], : room.shape[1], : room.shape[2]]
    return values


def read_segments(
    file: BinaryIO, page: Any, bounds: tuple[int, int, int, int] | None = None
) -> Iterator[tuple[int, int, int, int, NDArray[Any]]]:
    """Yield the strips or tiles of a page that touch (top, left, bottom, right): plane, z, y, x and values.

    Those that the file leaves out, because all is empty, are left out. Changes what tifffile holds about the page: read
    a page once.
    """
    key = page.keyframe
    count = math.prod(page.chunked)
    if min(len(page.dataoffsets), len(page.databytecounts)) < count:
        raise ValueError(f"a TIFF of {len(page.dataoffsets)} strips or tiles where there must be {count}")
    if key.is_tiled and math.prod(key.tile) > max(LARGEST_TILE, math.prod(key.shaped[1:4])):
        raise ValueError(f"a TIFF with tiles of {' x '.join(map(str, key.tile))} pixels, larger than the image")
    plain = _Plain(key) if key.compression in (PLAIN, *STREAMS) else None
    tables = {"jpegtables": page.jpegtables, "jpegheader": key.jpegheader} if key.compression in JPEG else {}
    for k in range(count) if bounds is None else _touching(key, count, bounds):
        if page.databytecounts[k] == 0:
            continue
        data: Any = _read(file, page.dataoffsets[k], page.databytecounts[k])
        if plain is not None:
            data = plain.bytes_of(data, key.decode(None, k)[2])
        part, (plane, z, y, x, _), _ = key.decode(data, k, **tables)
        yield plane, z, y, x, part


def _touching(key: Any, count: int, bounds: tuple[int, int, int, int]) -> Iterator[int]:
    """Yield the numbers of the strips or tiles that touch a window; rows of them come one after the other."""
    top, left, bottom, right = bounds
    height, width = (key.tilelength, key.tilewidth) if key.is_tiled else (key.rowsperstrip, key.imagewidth)
    height = min(height, key.imagelength)
    down, across = -(-key.imagelength // height), -(-key.imagewidth // width)
    for layer in range(0, count, down * across):
        for row in range(top // height, -(-bottom // height)):
            for column in range(left // width, -(-right // width)):
                yield layer + row * across + column


class _Plain:
    """Undoes what keeps the numbers of a page from lying in the file as they are, and lets tifffile do the rest."""

    def __init__(self, key: Any) -> None:
        self.compression, self.fillorder = int(key.compression), int(key.fillorder)
        self.bits, self.dtype, self.order = key.bitspersample, key.dtype, key.parent.byteorder
        self.floats = key.predictor == FLOAT_PREDICTOR and key.dtype.kind == "f"
        self.packed = isinstance(self.bits, int) and self.bits < 16 and self.bits not in (1, 8)
        # What `bytes_of` returns is of this kind; tifffile asks for it when it makes its decoder, on the first use.
        key.compression, key.fillorder = PLAIN, 1
        if self.floats:
            key.predictor = 1
        if self.packed:
            key.bitspersample = 8 * key.dtype.itemsize

    def bytes_of(self, data: bytearray, shape: tuple[int, int, int, int]) -> bytearray:
        """Return the plain bytes of a strip or tile of shape (depth, height, width, samples)."""
        rows, numbers = shape[0] * shape[1], shape[2] * shape[3]
        width = math.ceil(numbers * self.bits / 8) if isinstance(self.bits, int) else numbers * self.dtype.itemsize
        if self.fillorder == 2:
            data = data.translate(_REVERSED_BITS)
        if self.compression != PLAIN:
            data = _decompressed(data, self.compression, rows, width)
        if self.packed:
            return _unpacked(data, rows, numbers, self.bits, self.dtype.newbyteorder(self.order))
        if self.floats:
            return _summed_floats(data, rows, numbers, shape[3], self.dtype, self.order)
        return data


def _decompressed(data: bytearray, compression: int, rows: int, width: int) -> bytearray:
    """Return the bytes that a stream holds, no more than rows * width of them."""
    if compression in DEFLATE:
        return bytearray(zlib.decompressobj().decompress(data, rows * width))
    if compression == LZMA:
        import lzma  # some builds of Python have none

        return bytearray(lzma.LZMADecompressor().decompress(bytes(data), rows * width))
    return _by_libtiff(data, compression, rows, width)


def _by_libtiff(data: bytearray, compression: int, rows: int, width: int) -> bytearray:
    """Let Pillow read a stream as the pixels of a grey TIFF."""
    fields = [
        *((256, width), (257, rows), (258, 8), (259, compression), (262, 1)),
        *((273, 8 + 2 + 12 * 9 + 4), (277, 1), (278, rows), (279, len(data))),
    ]
    head = struct.pack("<2sHIH", b"II", 42, 8, len(fields))
    head += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in fields) + bytes(4)
    with PillowImage.open(io.BytesIO(head + data), formats=("TIFF",)) as image:
        return bytearray(image.tobytes())


def _unpacked(data: bytearray, rows: int, numbers: int, bits: int, dtype: np.dtype[Any]) -> bytearray:
    """Return numbers of a few bits each, rows of which begin at a byte, as numbers of whole bytes."""
    lines = np.frombuffer(data, np.uint8)[: rows * math.ceil(numbers * bits / 8)].reshape(rows, -1)
    digits = np.unpackbits(lines, axis=1, count=numbers * bits).reshape(rows * numbers, bits)
    return bytearray((digits @ (1 << np.arange(bits)[::-1])).astype(dtype).tobytes())


def _summed_floats(
    data: bytearray, rows: int, numbers: int, samples: int, dtype: np.dtype[Any], order: Any
) -> bytearray:
    """Undo the predictor of floats: differences between bytes, the highest bytes of a row first (TIFF Technote 3)."""
    differences = np.frombuffer(data, np.uint8).reshape(rows, -1, samples)
    planes = differences.cumsum(axis=1, dtype=np.uint8).reshape(rows, dtype.itemsize, numbers)
    values = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(dtype.newbyteorder(">"))
    return bytearray(values.astype(dtype.newbyteorder(order)).tobytes())


def _read(file: BinaryIO, offset: int, count: int) -> bytearray:
    length = file.seek(0, io.SEEK_END)
    if offset < 0 or count < 0 or offset + count > length:
        raise ValueError(f"a TIFF cut short: {length} bytes of at least {offset + count}")
    file.seek(offset)
    data = bytearray(count)
    if file.readinto(data) != count:  # type: ignore[attr-defined]
        raise ValueError("a TIFF cut short")
    return data


def check_kind(key: Any) -> None:
    """Refuse numbers that no image is made of."""
    if 0 in key.shaped:
        raise ValueError("a page without dimensions")
    if key.dtype is None or key.dtype.kind not in "buif" or key.dtype.itemsize > 8:
        raise RefusedError(
            f"must hold integers or floats of up to 64 bits, got {key.bitspersample} bits of {key.dtype}"
        )
