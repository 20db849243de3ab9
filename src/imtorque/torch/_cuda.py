"""The kernels of `kernels/` as functions of tensors on a CUDA device. All tensors are contiguous."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from imtorque.torch import _layouts, _nvrtc
from imtorque.torch._launch import kernel_of, on_device, on_host, processors
from imtorque.torch._layouts import MOST_SIZES, REACHES, Layout
from imtorque.torch._patches import Boxes

LARGEST, EXTENT, GRAIN, NOT_PELL, STEPS, WINDOWS, OCTAVES, RECORD = 0, 1, 5, 6, 7, 8, 16, 272  # as survey.cu has them
BLOCK = 32
PEAK_BINS = 8192
HOST_ROWS = 4096  # extrema that are sorted on the host

MOST = 0x3FFFFFFF


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
        ("stride", ctypes.c_int),
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


class Survey:
    """The records of survey.cu for float32 forces (B, 2, H, W), while they are made and afterwards."""

    def __init__(self, forces: Tensor) -> None:
        """Start looking at the forces; do not wait."""
        batch, _, height, width = forces.shape
        down, across = -(-height // BLOCK), -(-width // BLOCK)
        made = torch.zeros(batch * (RECORD + down * across), dtype=torch.int32, device=forces.device)
        masses = made[batch * RECORD :]
        run = functools.partial(kernel_of, ("survey.cu",), (), forces.device)
        run("survey")((-(-across // 4), down, batch), (256, 1, 1), forces, height, width, made, masses)
        pixels, windows = ctypes.c_longlong(height * width), -(-down * across // 256)
        blocks = min(2 * processors(forces.device), -(-height * width // 2048)) + windows
        run("survey_rest")((blocks, batch, 1), (256, 1, 1), forces, pixels, masses, down, across, windows, made)
        run("guess_steps")((batch, 1, 1), (32, 1, 1), made)
        self.made = made
        self._host = _spare.pop() if _spare and len(_spare[-1]) >= batch else _pinned_records(batch)
        self._host[:batch].view(-1).copy_(made[: batch * RECORD], non_blocking=True)
        self._batch = batch
        self._ready = torch.cuda.Event()
        self._ready.record(torch.cuda.current_stream(forces.device))

    def records(self) -> list[list[int]]:
        """Wait for the records and return them, smallest values as such."""
        self._ready.synchronize()
        records: list[list[int]] = self._host[: self._batch].tolist()
        _spare.append(self._host)
        for record in records:
            for place in (EXTENT, EXTENT + 1, GRAIN):
                record[place] = MOST - record[place]
        return records


_spare: list[Tensor] = []  # memory of the host that the device writes records to, not in use


def _pinned_records(batch: int) -> Tensor:
    return torch.empty(max(8, batch), RECORD, dtype=torch.int32, pin_memory=True)


Steps = Sequence[float] | Survey  # of each image; of a survey those that it guesses, before the host knows them


@functools.lru_cache(maxsize=64)
def served_count(boxes: Boxes) -> int:
    """Return how many of the patches, from the first, are squares that shared memory may hold tables for."""
    halves = zip(boxes.ry, boxes.rx, strict=True)
    beyond = (k for k, (ry, rx) in enumerate(halves) if not boxes.squares or ry != rx or ry > REACHES[-1])
    return min(next(beyond, len(boxes.label)), MOST_SIZES)


def layout_for(squares: Boxes, device: torch.device) -> Layout | None:
    """Return the layout for these squares, None where there are none or the device has too little shared memory."""
    if not squares.label:
        return None
    return _layouts.fitting_layout(_layouts.served_reach(squares.ry[-1]), _nvrtc.shared_memory(device))


def narrow_count(boxes: Boxes, windows: list[float], steps: float) -> int:
    """Return how many of the patches, from the first, have sums that fit 32 bits in an image of these windows."""

    def fits(r: int) -> bool:
        blocks = (2 * r + 1 + 2 * (BLOCK - 1)) // BLOCK
        return 2.05 * r * (windows[blocks - 1] * steps + (2 * r + 1) ** 2) < 2**31

    if fits(boxes.ry[-1]):  # as do all smaller ones
        return len(boxes.ry)
    return next(k for k, r in enumerate(boxes.ry) if not fits(r))


def value_and_scale(forces: Tensor, boxes: Boxes, steps: Steps, fit: Layout, value: Tensor, scale: Tensor) -> None:
    """Write the value and scale maps (B, H, W) of squares whose sums fit 32 bits."""
    _walk(("maps.cu", "value_and_scale"), forces, boxes, steps, fit, value, scale)


def torque_volume(forces: Tensor, boxes: Boxes, steps: Steps, out: Tensor) -> None:
    """Write the volume (B, S, H, W) of squares whose sums fit 32 bits, where `layout_for` has a layout for them."""
    limit = _nvrtc.shared_memory(forces.device)
    fit = _layouts.fitting_volume(_layouts.served_reach(boxes.ry[-1]), limit, _layouts.SHAPES)
    assert fit, "the volume needs no more memory than the maps"
    _walk(("volume.cu", "torque_volume"), forces, boxes, steps, fit, out)


def _walk(
    kernel: tuple[str, str],
    forces: Tensor,
    boxes: Boxes,
    steps: Steps,
    fit: Layout | _layouts.VolumeLayout,
    *outputs: Tensor,
) -> None:
    batch, _, height, width = forces.shape
    reach = boxes.ry[-1]
    strips = -(-(width + fit.skew) // fit.columns)
    rows = _layouts.rows_per_band(height, strips * batch, fit.rows, reach, processors(forces.device))
    image, squares, kept = _arguments(forces, boxes, steps)
    grid = (strips, -(-height // rows), batch)
    kernel_of(("tables.cu", "walk.cu", kernel[0]), fit.macros, forces.device, kernel[1])(
        grid, (fit.threads, 1, 1), image, squares, reach, rows, *outputs, shared=fit.shared
    )
    del kept


def search(
    forces: Tensor,
    boxes: Boxes,
    steps: Steps,
    fit: Layout,
    value: Tensor | None,
    request: tuple[int, int, bool],
) -> Tensor:
    """Return the extrema asked for (sign, count or -1, end scales) and perhaps some weaker ones: rows of search.cu."""
    batch, _, height, width = forces.shape
    down, across = -(-height // fit.cell_rows), -(-width // (fit.columns - 2))
    threshold = torch.zeros(batch, device=forces.device)
    tiles = torch.empty(batch * down * across, dtype=torch.int32, device=forces.device)
    listed = torch.zeros(1, dtype=torch.int32, device=forces.device)
    if value is None:
        torch.arange(len(tiles), out=tiles)
        listed.fill_(len(tiles))
    else:
        _list_tiles(value, request, (fit.cell_rows, fit.columns - 2), threshold, tiles, listed)
    sign, _, end_scales = request
    capacity = 1 << 16
    while True:
        # Tiles taken, at 1; extrema found and those tied, at 2; then the extrema.
        made = torch.zeros(8 + 6 * capacity, dtype=torch.int32, device=forces.device)
        wanted = _Wanted(threshold.data_ptr(), sign, end_scales, capacity, made.data_ptr() + 32, made.data_ptr() + 8)
        image, squares, kept = _arguments(forces, boxes, steps)
        kernel_of(("tables.cu", "search.cu"), fit.macros, forces.device, "search")(
            (processors(forces.device), 1, 1),
            (fit.columns * fit.groups, 1, 1),
            *(image, squares, boxes.ry[-1], across, down, tiles, listed, made[1:], wanted),
            shared=fit.search_shared,
        )
        first = on_host(made[: 8 + 6 * HOST_ROWS])
        count = int(first[2])
        del kept
        if count <= HOST_ROWS:
            return first[8 : 8 + 6 * count].clone().view(-1, 6)
        if count <= capacity:
            return made[8 : 8 + 6 * count].view(-1, 6)
        capacity = count


def _list_tiles(
    value: Tensor,
    request: tuple[int, int, bool],
    tile: tuple[int, int],
    threshold: Tensor,
    tiles: Tensor,
    listed: Tensor,
) -> None:
    batch, height, width = value.shape
    sign, count, _ = request
    run = functools.partial(kernel_of, ("peaks.cu",), (), value.device)
    if count >= 0:
        bins = torch.zeros(batch, PEAK_BINS, dtype=torch.int32, device=value.device)
        grid = (4 * processors(value.device), batch, 1)
        run("count_peaks")(grid, (256, 1, 1), value, height, width, sign, bins)
        run("find_threshold")((batch, 1, 1), (1024, 1, 1), bins, ctypes.c_longlong(count), 0.0, threshold)
    grid = (-(-width // tile[1]), -(-height // tile[0]), batch)
    run("list_tiles")(grid, (256, 1, 1), value, height, width, *tile, threshold, tiles, listed)


def _arguments(forces: Tensor, boxes: Boxes, steps: Steps) -> tuple[_Image, _Squares, Tensor]:
    """Return the image and the squares as the kernels take them, and the tensor that they point to."""
    if isinstance(steps, Survey):
        kept, offset, stride = steps.made, 4 * STEPS, RECORD
    else:
        kept, offset, stride = on_device(tuple(steps), torch.float32, forces.device), 0, 1
    return _Image(forces.data_ptr(), kept.data_ptr() + offset, *forces.shape[2:], stride), _squares(boxes), kept


@functools.lru_cache(maxsize=64)
def _squares(boxes: Boxes) -> _Squares:
    count = len(boxes.label)
    squares = _Squares(count)
    squares.half[:count] = boxes.ry
    squares.label[:count] = boxes.label
    squares.area[:count] = boxes.area
    return squares
