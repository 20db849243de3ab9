"""The kernels of Canny's detector and of running sums as functions of contiguous tensors on a CUDA device."""

from __future__ import annotations

import ctypes
import functools

import torch
from torch import Tensor

from imtorque.torch._launch import kernel_of, processors

WIDEST_RADIUS = 24  # of a Gaussian; bound: of the kernel's tile


def smoothed(grey: Tensor, weights: list[float]) -> Tensor:
    """Return grey images (B, H, W) convolved along both axes with these weights, centre first."""
    batch, height, width = grey.shape
    radius = len(weights) - 1
    given = (ctypes.c_float * len(weights))(*weights)
    out = torch.empty_like(grey)
    shared = 4 * (32 + 2 * radius) * (((64 + 2 * radius) | 1) + 65)
    grid = (-(-width // 64), -(-height // 32), batch)
    run = kernel_of(("smooth.cu",), (("RADIUS", radius),), grey.device, "smooth")
    run(grid, (256, 1, 1), grey, height, width, given, out, shared=shared)
    return out


def grey_of_bytes(image: Tensor, scales: Tensor) -> Tensor:
    """Return the luminance of uint8 images (B, 1 or 3, H, W), less an offset and times a scale for each (B, 2)."""
    batch, channels, height, width = image.shape
    grey = torch.empty(batch, height, width, device=image.device)
    count = height * width
    run = kernel_of(("canny.cu",), (), image.device, "to_grey")
    run((-(-count // 256), batch, 1), (256, 1, 1), image, channels, ctypes.c_longlong(count), scales, grey)
    return grey


def automatic_thresholds(smooth: Tensor) -> Tensor:
    """Return MATLAB's two thresholds of the gradient for each image (B, H, W): (B, 2)."""
    batch, height, width = smooth.shape
    largest, counts = torch.zeros(65 * batch, dtype=torch.int32, device=smooth.device).split([batch, 64 * batch])
    thresholds = torch.empty(batch, 2, device=smooth.device)
    run = functools.partial(kernel_of, ("canny.cu",), (), smooth.device)
    grid = (-(-width // 256), -(-height // 8), batch)
    run("largest_gradient")(grid, (256, 1, 1), smooth, height, width, largest)
    run("count_gradients")(grid, (256, 1, 1), smooth, height, width, largest, counts)
    pixels = ctypes.c_longlong(height * width)
    run("choose_thresholds")((batch, 1, 1), (1, 1, 1), counts, largest, pixels, thresholds)
    return thresholds


def canny(smooth: Tensor, thresholds: Tensor, unit: bool) -> Tensor:
    """Return the gradient of smoothed images (B, H, W) turned to the edge direction at edges: (B, 2, H, W)."""
    batch, height, width = smooth.shape
    pixels, count = height * width, batch * height * width
    new = functools.partial(torch.empty, count, device=smooth.device)
    thinned, parent = new(dtype=torch.float32), new(dtype=torch.int32)
    room = -(-count // 8) * 8
    strong = torch.zeros(room + 32, dtype=torch.uint8, device=smooth.device)
    counters = strong[room:].view(torch.int32)  # after the pixels' marks: one tensor to be cleared
    run = functools.partial(kernel_of, ("canny.cu",), (), smooth.device)
    trace = functools.partial(kernel_of, ("hysteresis.cu",), (), smooth.device)
    line, threads = (-(-width // 128), height, batch), (128, 1, 1)
    tile = (-(-width // 64), -(-height // 16), batch)
    run("thin")(tile, (256, 1, 1), smooth, height, width, thresholds, thinned, parent)
    trace("connect")(line, threads, parent, height, width)
    each, per_image, total = ctypes.c_longlong(count), ctypes.c_longlong(pixels), (-(-count // 256), 1, 1)
    trace("mark_strong")((-(-pixels // 256), batch, 1), (256, 1, 1), thinned, parent, per_image, thresholds, strong)
    trace("keep_connected")(total, (256, 1, 1), thinned, parent, each, strong)
    lists = torch.empty(3 * count, dtype=torch.int32, device=smooth.device)
    trace("list_corners")((-(-count // 4096), 1, 1), (256, 1, 1), thinned, width, each, parent, lists, counters)
    trace("remove_corners")(
        (processors(smooth.device), 1, 1),
        (512, 1, 1),
        *(thinned, width, parent, lists, each, counters),
        cooperative=True,
    )
    forces = torch.empty(batch, 2, height, width, device=smooth.device)
    run("turn")((line[0], -(-height // 4), batch), threads, smooth, thinned, height, width, int(unit), forces)
    return forces


def running_sums(values: Tensor) -> Tensor:
    """Return sums down the columns of (B, H, W) float64, from 0 to all: (B, H + 1, W), added one after the other."""
    batch, height, width = values.shape
    sums = values.new_empty(batch, height + 1, width)
    run = kernel_of(("prefix.cu",), (), values.device, "running_sums")
    run((-(-width // 64), batch, 1), (64, 1, 1), values, height, ctypes.c_longlong(width), sums)
    return sums
