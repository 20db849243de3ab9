"""The kernels of `kernels/` as functions of tensors on a CUDA device. All tensors are contiguous."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from imtorque.torch import _layouts, _nvrtc
from imtorque.torch._cuda_statistics import BLOCK, MOST_FOLLOWERS, RECORD, STEPS, DeviceStatistics, Follower, Image
from imtorque.torch._launch import host_copy, kernel_of, on_device, processors
from imtorque.torch._layouts import MOST_SIZES, REACHES, Layout
from imtorque.torch._patches import Boxes

PEAK_BINS = 8192  # as in peaks.cu; convention of peaks.cu
HOST_ROWS = 4096  # extrema that are sorted on the host; bound: of the host's work


class _Squares(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int),
        ("half", ctypes.c_int * MOST_SIZES),
        ("label", ctypes.c_int * MOST_SIZES),
        ("area", ctypes.c_double * MOST_SIZES),
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


Steps = Sequence[float] | DeviceStatistics  # of each image; of statistics those guessed before the host knows them


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
    shapes = (_layouts.TILES if len(boxes.label) >= _layouts.MANY_SIZES else ()) + _layouts.COLUMN_SHAPES
    fit = _layouts.fitting_volume(_layouts.served_reach(boxes.ry[-1]), limit, shapes)
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
    if not isinstance(steps, DeviceStatistics):
        kept = on_device(tuple(steps), torch.float32, forces.device)
        _follower(kernel, forces, boxes, (kept.data_ptr(), 1), fit, outputs).launch()
        return
    assert steps.plan, "what follows with guessed steps comes before their records are asked for"
    followers, key = steps.plan.followers, (kernel[1], boxes, fit)
    follower = followers.get(key)
    if follower is None:
        if len(followers) >= MOST_FOLLOWERS:
            followers.clear()
        given = (steps.plan.made.data_ptr() + 4 * STEPS, RECORD)
        follower = followers[key] = _follower(kernel, forces, boxes, given, fit, outputs)
    follower.image.forces = forces.data_ptr()
    for address, output in zip(follower.outputs, outputs, strict=True):
        address.value = output.data_ptr()
    follower.launch()


def _follower(
    kernel: tuple[str, str],
    forces: Tensor,
    boxes: Boxes,
    steps: tuple[int, int],
    fit: Layout | _layouts.VolumeLayout,
    outputs: tuple[Tensor, ...],
) -> Follower:
    """Prepare a kernel that walks down strips; steps: their address, and from one image's to the next."""
    batch, _, height, width = forces.shape
    reach = boxes.ry[-1]
    strips = -(-(width + fit.skew) // fit.columns)
    rows = _layouts.rows_per_band(height, strips * batch, fit.rows, reach, processors(forces.device))
    image = Image(forces.data_ptr(), steps[0], height, width, steps[1])
    addresses = tuple(ctypes.c_void_p(output.data_ptr()) for output in outputs)
    run = kernel_of(("tables.cu", "walk.cu", kernel[0]), fit.macros, forces.device, kernel[1])
    grid, threads = (strips, -(-height // rows), batch), (fit.threads, 1, 1)
    given = (image, _squares(boxes), reach, rows, *addresses)
    return Follower(run.prepared(grid, threads, *given, shared=fit.shared), image, addresses)


def search(
    forces: Tensor,
    boxes: Boxes,
    steps: Sequence[float],
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
    kept = on_device(tuple(steps), torch.float32, forces.device)
    image = Image(forces.data_ptr(), kept.data_ptr(), height, width, 1)
    capacity = 1 << 16
    while True:
        # Tiles taken, at 1; extrema found and those tied, at 2; then the extrema.
        made = torch.zeros(8 + 6 * capacity, dtype=torch.int32, device=forces.device)
        wanted = _Wanted(threshold.data_ptr(), sign, end_scales, capacity, made.data_ptr() + 32, made.data_ptr() + 8)
        kernel_of(("tables.cu", "search.cu"), fit.macros, forces.device, "search")(
            (processors(forces.device), 1, 1),
            (fit.columns * fit.groups, 1, 1),
            *(image, _squares(boxes), boxes.ry[-1], across, down, tiles, listed, made[1:], wanted),
            shared=fit.search_shared,
        )
        with host_copy(made[: 8 + 6 * HOST_ROWS]) as first:
            count = int(first[2])
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


@functools.lru_cache(maxsize=64)
def _squares(boxes: Boxes) -> _Squares:
    count = len(boxes.label)
    squares = _Squares(count)
    squares.half[:count] = boxes.ry
    squares.label[:count] = boxes.label
    squares.area[:count] = boxes.area
    return squares
