"""What the functions on tensors take, and one-line errors for what they do not."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from imtorque.core.patches import SHAPES, patch_shape
from imtorque.core.torque import default_sizes
from imtorque.core.types import IntArray, Sizes, check_sizes

FORCE_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
IMAGE_TYPES = (torch.uint8, *FORCE_TYPES)
MOST_PIXELS = 2**31 - 1  # of a batch: places are 32-bit; bound: overflow
MOST_BLOCKS = 2**16 - 1  # convention: CUDA's, of a grid's second and third axis


def check_forces(forces: Tensor, exact: bool = False) -> Tensor:
    """Return forces that are a float tensor (B, 2, H, W), not empty."""
    if not isinstance(forces, Tensor):
        raise TypeError(f"forces must be a tensor of shape (B, 2, H, W), got {type(forces).__name__}")
    if forces.dtype not in FORCE_TYPES:
        raise TypeError(f"forces must be float16, bfloat16, float32 or float64, got {forces.dtype}")
    if forces.ndim != 4 or forces.shape[1] != 2 or 0 in forces.shape:
        raise ValueError(f"forces must have shape (B, 2, H, W) and not be empty, got {tuple(forces.shape)}")
    _check_pixels("forces", forces)
    if exact:
        refuse_gradient("forces", forces)
    return forces


def check_image(image: Tensor, exact: bool = False) -> Tensor:
    """Return an image that is a tensor (B, 1 or 3, H, W), uint8 or float, not empty."""
    if not isinstance(image, Tensor):
        raise TypeError(f"image must be a tensor of shape (B, 1 or 3, H, W), got {type(image).__name__}")
    if image.dtype not in IMAGE_TYPES:
        raise TypeError(f"image must be uint8, float16, bfloat16, float32 or float64, got {image.dtype}")
    if image.ndim != 4 or image.shape[1] not in (1, 3) or 0 in image.shape:
        raise ValueError(f"image must have shape (B, 1 or 3, H, W) and not be empty, got {tuple(image.shape)}")
    _check_pixels("image", image)
    if exact:
        refuse_gradient("image", image)
    return image


def refuse_gradient(name: str, tensor: Tensor) -> None:
    """Refuse a tensor that asks for gradients, which rounded numbers do not have."""
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"{name} must not require gradients with exact=True, which rounds; use exact=False or detach")


def check_patch(patch: str) -> None:
    """Refuse shapes of patches for which there is no kernel here."""
    if not patch_shape(patch).on_tensors:
        served = " or ".join(f'"{shape.name}"' for shape in SHAPES.values() if shape.on_tensors)
        raise ValueError(f"patch must be {served} on tensors (or sizes pairs for rectangles), got {patch!r}")


def check_alpha(alpha: float) -> float:
    """Return an exponent of the normalisation that is a number from -10 to 10."""
    if not (isinstance(alpha, int | float | np.number) and math.isfinite(alpha) and -10 <= alpha <= 10):
        raise ValueError(f"alpha must be a number from -10 to 10, got {alpha}")
    return float(alpha)


@torch.compiler.assume_constant_result
def flat_sides(sizes: Sizes) -> tuple[list[int], bool]:
    """Return heights and widths in turn, height first, and whether they are squares."""
    if isinstance(sizes, range) or (isinstance(sizes, tuple) and all(type(size) is int for size in sizes)):
        return _known_sides(sizes)
    return _sides(sizes)


@functools.lru_cache(maxsize=64)
def _known_sides(sizes: Sizes) -> tuple[list[int], bool]:
    return _sides(sizes)


def _sides(sizes: Sizes) -> tuple[list[int], bool]:
    array: IntArray = check_sizes(sizes)
    pairs = np.stack([array, array], axis=1) if array.ndim == 1 else array
    return [int(side) for side in pairs.ravel()], array.ndim == 1


@torch.compiler.assume_constant_result
def default_sides(height: int, width: int) -> list[int]:
    """Return the sizes of `imtorque.default_sizes` as heights and widths in turn."""
    sides: list[int] = flat_sides(default_sizes((height, width)))[0]
    return sides


def squares_only(sizes: Sizes) -> list[int]:
    """Return sizes that are sides of squares."""
    sides: list[int]
    sides, squares = flat_sides(sizes)
    if not squares:
        raise ValueError(f"sizes must be sides of squares, got (height, width) pairs {sizes}")
    return sides[::2]


def check_out(out: Tensor | None, forces: Tensor, shape: Sequence[int]) -> None:
    """Refuse a tensor that a volume cannot be written to."""
    if out is None:
        return
    if not isinstance(out, Tensor) or out.dtype != result_type(forces):
        raise TypeError(f"out must be a {result_type(forces)} tensor, got {getattr(out, 'dtype', type(out).__name__)}")
    if out.device != forces.device:
        raise ValueError(f"out and forces must be on one device, got {out.device} and {forces.device}")
    if tuple(out.shape) != tuple(shape) or not out.is_contiguous():
        raise ValueError(f"out must be contiguous of shape {tuple(shape)}, got shape {tuple(out.shape)}")
    if torch.is_grad_enabled() and (out.requires_grad or forces.requires_grad):
        raise ValueError("out must be left out where gradients are wanted")


def result_type(forces: Tensor) -> torch.dtype:
    """Return the type of results: that of the forces, float32 for narrower ones."""
    return torch.float64 if forces.dtype == torch.float64 else torch.float32


def _check_pixels(name: str, tensor: Tensor) -> None:
    if tensor.shape[0] * tensor.shape[2] * tensor.shape[3] > MOST_PIXELS:
        raise ValueError(f"{name} must have at most 2^31 - 1 pixels, got shape {tuple(tensor.shape)}")
    if tensor.device.type == "cuda":
        check_grid(name, tuple(tensor.shape))


def check_grid(name: str, shape: tuple[int, ...]) -> None:
    """Refuse more images or rows than a grid of CUDA blocks may have."""
    if max(shape[0], shape[2]) > MOST_BLOCKS:
        raise ValueError(f"{name} must have at most {MOST_BLOCKS:,} images and rows on CUDA devices, got shape {shape}")
