"""Tensors in this machine's memory: the library's own kernels, wherever nobody asks for gradients or for 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imtorque import _native
from imtorque.core.patches import PatchArrays, patch_arrays
from imtorque.core.torque import torque_volume
from imtorque.core.types import LARGEST_FORCE, SMALLEST_FORCE, Edges, IntArray
from imtorque.edges.canny import detect_edges
from imtorque.torch._extrema import Request
from imtorque.torch._patches import Boxes, boxes_for

Found = tuple[Tensor, Tensor, Tensor, Tensor]
IMAGE_TYPES = (torch.uint8, torch.float16, torch.float32, torch.float64)  # that NumPy has too


def edges_of(forces: Tensor, *, exact: bool) -> list[Edges] | None:
    """Return each image's forces as `Edges`; None where the kernels do not serve: on devices, 64 bits, infinities."""
    if forces.device.type != "cpu" or (forces.dtype == torch.float64 and not exact):
        return None
    arrays = forces.detach().float().contiguous().numpy()
    largest = np.abs(arrays).max(axis=(1, 2, 3))
    if not largest.max() <= LARGEST_FORCE:  # NaN as well
        return None
    if not exact and np.any((largest > 0) & (largest < SMALLEST_FORCE)):
        return None
    return [Edges(*image) for image in arrays]


def volume(fields: list[Edges], sides: Sequence[int], alpha: float, out: Tensor | None = None) -> Tensor:
    """Return the torque of each patch around each pixel, (B, S, H, W)."""
    found = _stacked([torque_volume(edges, _sizes(sides), alpha=alpha).tau for edges in fields])
    return found if out is None else out.copy_(found)


def maps(fields: list[Edges], sides: Sequence[int], alpha: float) -> tuple[Tensor, Tensor]:
    """Return the strongest torque at each pixel, and the label of its patch with its sign."""
    labels = np.asarray(_boxes(fields, sides, alpha).label, np.int32)
    found = [_native.value_and_scale(edges.field, *_patches(edges, sides, alpha), labels) for edges in fields]
    return _stacked([value for value, _ in found]), _stacked([label for _, label in found])


def extrema(fields: list[Edges], sides: Sequence[int], alpha: float, request: Request) -> Found:
    """Return size's place, y, x and value of the strongest extrema, (B, count), value 0 where there are no more."""
    sign, limit, end_scales, cross, inside = request
    columns: list[list[NDArray[np.generic]]] = [[], [], [], []]
    for edges in fields:
        patches = _patches(edges, sides, alpha)
        found = _native.extrema_of_field(
            edges.field, *patches, sign, limit, end_scales, 0.0, cross=cross, inside=inside, near=False
        )
        for column, values in zip(columns, found[:4], strict=True):
            column.append(np.asarray(values))
    width = limit if limit >= 0 else max(len(values) for values in columns[0])
    table: list[Tensor] = []
    for column, dtype in zip(columns, (np.int64, np.int64, np.int64, np.float32), strict=True):
        padded = np.zeros((len(fields), width), dtype)
        for row, values in zip(padded, column, strict=True):
            row[: len(values)] = values
        table.append(torch.from_numpy(padded))
    return table[0], table[1], table[2], table[3]


def canny(
    image: Tensor, sigma: float, low: float, high: float, kind: int, value_range: Sequence[float]
) -> Tensor | None:
    """Return Canny's edges of unit length, (B, 2, H, W); None where the kernels do not serve."""
    if image.device.type != "cpu" or image.dtype not in IMAGE_TYPES:
        return None
    given = {} if kind == 2 else {"low": low, "high": high, "use_quantiles": kind == 1}
    black_white = (value_range[0], value_range[1]) if value_range else None
    found = []
    for planes in image.detach().contiguous().numpy():
        pixels = planes[0] if len(planes) == 1 else np.ascontiguousarray(np.moveaxis(planes, 0, 2))
        edges = detect_edges(pixels, sigma=sigma, value_range=black_white, **given)  # type: ignore[arg-type]
        found.append(np.stack([edges.fx, edges.fy]))
    return _stacked(found)


def _stacked(arrays: list[NDArray[np.float32]] | list[NDArray[np.int32]]) -> Tensor:
    return torch.from_numpy(arrays[0][None] if len(arrays) == 1 else np.stack(arrays))


def _sizes(sides: Sequence[int]) -> IntArray:
    """Return the sizes of patches as the library takes them: sides of squares, or heights and widths."""
    pairs = np.asarray(sides, np.int64).reshape(-1, 2)
    return pairs[:, 0] if bool(np.all(pairs[:, 0] == pairs[:, 1])) else pairs


def _patches(edges: Edges, sides: Sequence[int], alpha: float) -> PatchArrays:
    return patch_arrays(edges, _sizes(sides), "square", alpha)


def _boxes(fields: list[Edges], sides: Sequence[int], alpha: float) -> Boxes:
    return boxes_for(sides, alpha, *fields[0].shape)
