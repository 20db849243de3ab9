"""The kernels of `kernels/` as functions of tensors on a CUDA device. All tensors are contiguous."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import NamedTuple

import torch
from torch import Tensor

from imtorque.torch import _nvrtc
from imtorque.torch._patches import Boxes

LARGEST, EXTENT, GRAIN, NOT_PELL, WINDOWS, OCTAVES, RECORD = 0, 1, 5, 6, 8, 16, 272  # as survey.cu has them
BLOCK = 32
REACHES = (13, 29, 45)  # that tables are compiled for: the widths of their rows are whole
MOST_SIZES = 64
DIAGONAL = 4  # pixels of a thread
CELL_ROWS = 16  # of a tile that is searched for extrema
PEAK_BINS = 32768
WIDEST_RADIUS = 24  # of a Gaussian

_NEVER = 2**31 - 1
_START = [0, _NEVER, _NEVER, -1, -1, _NEVER] + [0] * (RECORD - 6)


class Layout(NamedTuple):
    """How a block shares its memory: columns, groups of rows, the half-size its tables serve, bytes."""

    columns: int
    groups: int
    reach: int
    shared: int
    search_shared: int

    @property
    def rows(self) -> int:
        """Rows that are computed together."""
        return self.groups * DIAGONAL

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """What the kernels are compiled with."""
        return ("TX", self.columns), ("GY", self.groups), ("REACH", self.reach)


class _Squares(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int),
        ("half", ctypes.c_int * MOST_SIZES),
        ("label", ctypes.c_int * MOST_SIZES),
        ("area", ctypes.c_double * MOST_SIZES),
    )


class _Image(ctypes.Structure):
    _fields_ = (
        ("forces", ctypes.c_void_p),
        ("steps", ctypes.c_void_p),
        ("height", ctypes.c_int),
        ("width", ctypes.c_int),
    )


class _Wanted(ctypes.Structure):
    _fields_ = (
        ("threshold", ctypes.c_void_p),
        ("sign", ctypes.c_int),
        ("end_scales", ctypes.c_int),
        ("capacity", ctypes.c_int),
        ("found", ctypes.c_void_p),
        ("count", ctypes.c_void_p),
    )


class _Weights(ctypes.Structure):
    _fields_ = (("radius", ctypes.c_int), ("w", ctypes.c_float * (WIDEST_RADIUS + 1)))


def serves(device: torch.device) -> bool:
    """Whether these kernels run on the device."""
    return device.type == "cuda" and _nvrtc.is_available(device)


def survey(forces: Tensor) -> Tensor:
    """Return the records of survey.cu for float32 forces (B, 2, H, W): (B, RECORD) int32."""
    batch, _, height, width = forces.shape
    down, across = -(-height // BLOCK), -(-width // BLOCK)
    records = _start(forces.device).repeat(batch, 1)
    masses = torch.zeros(batch, down, across, device=forces.device)
    run = functools.partial(_kernel, ("survey.cu",), (), forces.device)
    run("survey")((-(-across // 4), down, batch), (256, 1, 1), forces, height, width, records, masses)
    pixels = height * width
    run("survey_pell")((-(-2 * pixels // 16384), batch, 1), (256, 1, 1), forces, ctypes.c_longlong(pixels), records)
    run("survey_windows")((-(-down * across // 128), batch, 1), (128, 1, 1), masses, down, across, records)
    return records


def served_count(boxes: Boxes) -> int:
    """Return how many of the patches, from the first, are squares that shared memory may hold tables for."""
    halves = zip(boxes.ry, boxes.rx, strict=True)
    beyond = (k for k, (ry, rx) in enumerate(halves) if not boxes.squares or ry != rx or ry > REACHES[-1])
    return min(next(beyond, len(boxes.label)), MOST_SIZES)


def layout_for(squares: Boxes, device: torch.device) -> Layout | None:
    """Return the layout for these squares, None where there are none or the device has too little shared memory."""
    if not squares.label:
        return None
    reach = next(reach for reach in REACHES if reach >= squares.ry[-1])
    limit = _nvrtc.shared_memory(device)
    layouts = (_layout(columns, groups, reach) for columns in (64, 32) for groups in (7, 6, 5, 4, 3, 2))
    return next((fit for fit in layouts if max(fit.shared, fit.search_shared) <= limit), None)


def narrow_count(boxes: Boxes, windows: list[float], steps: float) -> int:
    """Return how many of the patches, from the first, have sums that fit 32 bits in an image of these windows."""
    for k, r in enumerate(boxes.ry):
        blocks = (2 * r + 1 + 2 * (BLOCK - 1)) // BLOCK
        if blocks > len(windows) or 2.05 * r * (windows[blocks - 1] * steps + (2 * r + 1) ** 2) >= 2**31:
            return k
    return len(boxes.ry)


def value_and_scale(
    forces: Tensor, boxes: Boxes, steps: list[float], fit: Layout, value: Tensor, scale: Tensor
) -> None:
    """Write the value and scale maps (B, H, W) of squares whose sums fit 32 bits."""
    _walk("value_and_scale", forces, boxes, steps, fit, value, scale)


def torque_volume(forces: Tensor, boxes: Boxes, steps: list[float], fit: Layout, out: Tensor) -> None:
    """Write the volume (B, S, H, W) of squares whose sums fit 32 bits."""
    _walk("torque_volume", forces, boxes, steps, fit, out)


def _walk(name: str, forces: Tensor, boxes: Boxes, steps: list[float], fit: Layout, *outputs: Tensor) -> None:
    batch, _, height, width = forces.shape
    reach = boxes.ry[-1]
    strips = -(-(width + DIAGONAL - 1) // fit.columns)
    rows = _rows_per_band(height, strips * batch, fit.rows, reach, _processors(forces.device))
    image, squares, kept = _arguments(forces, boxes, steps)
    threads = fit.columns * fit.groups
    _kernel(("tables.cu", "maps.cu"), fit.macros, forces.device, name)(
        (strips, -(-height // rows), batch), (threads, 1, 1), image, squares, reach, rows, *outputs, shared=fit.shared
    )
    del kept


def search(
    forces: Tensor,
    boxes: Boxes,
    steps: list[float],
    fit: Layout,
    value: Tensor | None,
    request: tuple[int, int, bool],
) -> Tensor:
    """Return the extrema asked for (sign, count or -1, end scales) and perhaps some weaker ones: rows of search.cu."""
    batch, _, height, width = forces.shape
    down, across = -(-height // CELL_ROWS), -(-width // (fit.columns - 2))
    threshold = torch.zeros(batch, device=forces.device)
    tiles = torch.empty(batch * down * across, dtype=torch.int32, device=forces.device)
    counters = torch.zeros(3, dtype=torch.int32, device=forces.device)  # tiles, those taken, extrema found
    if value is None:
        torch.arange(len(tiles), out=tiles)
        counters[0] = len(tiles)
    else:
        _list_tiles(value, request, (CELL_ROWS, fit.columns - 2), threshold, tiles, counters)
    sign, _, end_scales = request
    capacity = 1 << 16
    while True:
        found = torch.empty(capacity, 6, dtype=torch.int32, device=forces.device)
        wanted = _Wanted(threshold.data_ptr(), sign, end_scales, capacity, found.data_ptr(), counters[2:].data_ptr())
        image, squares, kept = _arguments(forces, boxes, steps)
        _kernel(("tables.cu", "search.cu"), fit.macros, forces.device, "search")(
            (_processors(forces.device), 1, 1),
            (fit.columns * fit.groups, 1, 1),
            *(image, squares, boxes.ry[-1], across, down, tiles, counters, counters[1:], wanted),
            shared=fit.search_shared,
        )
        count = int(counters[2])
        del kept
        if count <= capacity:
            return found[:count]
        capacity = count
        counters[1:] = 0


def _list_tiles(
    value: Tensor,
    request: tuple[int, int, bool],
    tile: tuple[int, int],
    threshold: Tensor,
    tiles: Tensor,
    counters: Tensor,
) -> None:
    batch, height, width = value.shape
    sign, count, _ = request
    run = functools.partial(_kernel, ("peaks.cu",), (), value.device)
    if count >= 0:
        bins = torch.zeros(batch, PEAK_BINS, dtype=torch.int32, device=value.device)
        grid = (-(-width // 32), -(-height // 8), batch)
        run("count_peaks")(grid, (32, 8, 1), value, height, width, sign, bins)
        run("find_threshold")((batch, 1, 1), (1024, 1, 1), bins, ctypes.c_longlong(count), 0.0, threshold)
    grid = (-(-width // tile[1]), -(-height // tile[0]), batch)
    run("list_tiles")(grid, (256, 1, 1), value, height, width, *tile, threshold, tiles, counters)


def smoothed(grey: Tensor, weights: list[float]) -> Tensor:
    """Return grey pictures (B, H, W) convolved along both axes with these weights, centre first."""
    batch, height, width = grey.shape
    radius = len(weights) - 1
    given = _Weights(radius, (ctypes.c_float * (WIDEST_RADIUS + 1))(*weights))
    out = torch.empty_like(grey)
    shared = 4 * (16 + 2 * radius) * (64 + 2 * radius + 64)
    grid = (-(-width // 64), -(-height // 16), batch)
    run = _kernel(("canny.cu",), (), grey.device, "smooth")
    run(grid, (256, 1, 1), grey, height, width, given, out, shared=shared)
    return out


def grey_of_bytes(image: Tensor, ranges: list[tuple[float, float]]) -> Tensor:
    """Return the luminance of uint8 pictures (B, 1 or 3, H, W), less an offset and times a scale for each."""
    batch, channels, height, width = image.shape
    grey = torch.empty(batch, height, width, device=image.device)
    count = height * width
    run = _kernel(("canny.cu",), (), image.device, "to_grey")
    scales = _on_device(tuple(number for pair in ranges for number in pair), torch.float64, image.device)
    run((-(-count // 256), batch, 1), (256, 1, 1), image, channels, ctypes.c_longlong(count), scales, grey)
    return grey


def automatic_thresholds(smooth: Tensor) -> Tensor:
    """Return MATLAB's two thresholds of the gradient for each picture (B, H, W): (B, 2)."""
    batch, height, width = smooth.shape
    largest = torch.zeros(batch, dtype=torch.int32, device=smooth.device)
    counts = torch.zeros(batch, 64, dtype=torch.int32, device=smooth.device)
    thresholds = torch.empty(batch, 2, device=smooth.device)
    run = functools.partial(_kernel, ("canny.cu",), (), smooth.device)
    grid = (-(-width // 256), -(-height // 8), batch)
    run("largest_gradient")(grid, (256, 1, 1), smooth, height, width, largest)
    run("count_gradients")(grid, (256, 1, 1), smooth, height, width, largest, counts)
    pixels = ctypes.c_longlong(height * width)
    run("choose_thresholds")((batch, 1, 1), (1, 1, 1), counts, largest, pixels, thresholds)
    return thresholds


def canny(smooth: Tensor, thresholds: Tensor, unit: bool) -> Tensor:
    """Return the gradient of smoothed pictures (B, H, W) turned to the edge direction at edges: (B, 2, H, W)."""
    batch, height, width = smooth.shape
    pixels, count = height * width, batch * height * width
    new = functools.partial(torch.empty, count, device=smooth.device)
    thinned, parent = new(dtype=torch.float32), new(dtype=torch.int32)
    strong = torch.zeros(count, dtype=torch.uint8, device=smooth.device)
    run = functools.partial(_kernel, ("canny.cu",), (), smooth.device)
    trace = functools.partial(_kernel, ("hysteresis.cu",), (), smooth.device)
    line, threads = (-(-width // 128), height, batch), (128, 1, 1)
    tile = (-(-width // 32), -(-height // 8), batch)
    run("thin")(tile, (256, 1, 1), smooth, height, width, thresholds, thinned, parent)
    trace("connect")(line, threads, parent, height, width)
    each, per_image, total = ctypes.c_longlong(count), ctypes.c_longlong(pixels), (-(-count // 256), 1, 1)
    trace("mark_strong")((-(-pixels // 256), batch, 1), (256, 1, 1), thinned, parent, per_image, thresholds, strong)
    trace("keep_connected")(total, (256, 1, 1), thinned, parent, each, strong)
    listed, going = new(dtype=torch.int32), new(dtype=torch.int32)
    counters = torch.zeros(4, dtype=torch.int32, device=smooth.device)
    trace("list_corners")(total, (256, 1, 1), thinned, width, each, parent, listed, counters)
    trace("remove_corners")(
        (_processors(smooth.device), 1, 1),
        (512, 1, 1),
        *(thinned, width, parent, listed, going, counters),
        cooperative=True,
    )
    forces = torch.empty(batch, 2, height, width, device=smooth.device)
    run("turn")(line, threads, smooth, thinned, height, width, int(unit), forces)
    return forces


def running_sums(values: Tensor) -> Tensor:
    """Return sums down the columns of (B, H, W) float64, from 0 to all: (B, H + 1, W), added one after the other."""
    batch, height, width = values.shape
    sums = values.new_empty(batch, height + 1, width)
    run = _kernel(("prefix.cu",), (), values.device, "running_sums")
    run((-(-width // 64), batch, 1), (64, 1, 1), values, height, ctypes.c_longlong(width), sums)
    return sums


def _layout(columns: int, groups: int, reach: int) -> Layout:
    row = 3 * 32 * -(-(columns + DIAGONAL - 1 + 2 * reach + 1) // 32)
    cells = (groups * DIAGONAL + 2 * reach + 1) * row
    slices = 3 * (CELL_ROWS + 2) * columns
    searched = (CELL_ROWS + 2 + 2 * reach + 1) * row + slices
    return Layout(columns, groups, reach, 4 * cells + 8 * MOST_SIZES, 4 * searched + 8 * MOST_SIZES)


@functools.lru_cache(maxsize=256)
def _rows_per_band(height: int, strips: int, step: int, reach: int, processors: int) -> int:
    """Return how many rows a block walks down, so that all processors end at about the same time.

    A block makes tables of 2 reach + 1 rows before its first output, at a fifth of the cost of computed rows.
    """

    def time(bands: int) -> float:
        rounds = -(-strips * bands // processors)
        made = -(-(-(-height // bands) + 2 * reach + 1) // step)
        computed = -(-height // bands) / step + 0.5
        return rounds * (0.2 * made + computed)

    bands = min(range(1, max(2, math.ceil(height / step) + 1)), key=time)
    return -(-height // bands)


def _arguments(forces: Tensor, boxes: Boxes, steps: list[float]) -> tuple[_Image, _Squares, Tensor]:
    """Return the image and the squares as the kernels take them, and the tensor that they point to."""
    kept = _on_device(tuple(steps), torch.float32, forces.device)
    image = _Image(forces.data_ptr(), kept.data_ptr(), *forces.shape[2:])
    count = len(boxes.label)
    squares = _Squares(count)
    squares.half[:count] = boxes.ry
    squares.label[:count] = boxes.label
    squares.area[:count] = boxes.area
    return image, squares, kept


@functools.lru_cache(maxsize=64)
def _on_device(numbers: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=dtype, device=device)


@functools.cache
def _start(device: torch.device) -> Tensor:
    return torch.tensor([_START], dtype=torch.int32, device=device)


@functools.cache
def _processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def _kernel(
    files: tuple[str, ...], macros: tuple[tuple[str, int], ...], device: torch.device, name: str
) -> _nvrtc.Kernel:
    return _nvrtc.kernel(name, files, macros, device)
