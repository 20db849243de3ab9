"""Canny's detector on grey tensors (B, H, W): the operations of native/edges in their order, so the same edges."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from imtorque.edges.canny import HISTOGRAM_BINS, LOW_OF_HIGH, NON_EDGE_SHARE
from imtorque.torch import _cuda_edges, _launch
from imtorque.torch._components import first_of_component
from imtorque.torch._rounding import exact_sqrt

ROUNDING_GRADIENT = 1e-6  # gradients below this are rounding errors of a flat image; bound: rounding
TIE = float(np.float32(1) + np.float32(1e-5))  # as kTie of native/edges/suppress.cpp
NEIGHBOURS = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))  # (dy, dx), turning; convention


def gaussian(sigma: float) -> list[float]:
    """Return the weights of one side of a Gaussian, the centre first, as float32 numbers."""
    radius = max(1, math.ceil(4 * sigma))
    weights = [math.exp(-0.5 * i * i / (sigma * sigma)) for i in range(radius + 1)]
    total = 0.0
    for i, weight in enumerate(weights):
        total += 2 * weight if i else weight
    return [float(np.float32(weight / total)) for weight in weights]


def smooth(grey: Tensor, weights: list[float]) -> Tensor:
    """Convolve (B, H, W) with the weights along both axes; beyond the border the image repeats its border pixels."""
    if _launch.serves(grey.device) and len(weights) <= _cuda_edges.WIDEST_RADIUS + 1 and grey.dtype == torch.float32:
        return _cuda_edges.smoothed(grey.contiguous(), weights)
    return convolve(grey, weights)


def convolve(grey: Tensor, weights: list[float]) -> Tensor:
    """Do the same by operations that let gradients through."""
    return _convolve(_convolve(grey, weights, 2), weights, 1)


def _convolve(values: Tensor, weights: list[float], axis: int) -> Tensor:
    radius, length = len(weights) - 1, values.shape[axis]
    place = torch.arange(-radius, length + radius, device=values.device).clamp_(0, length - 1)
    padded = values.index_select(axis, place)
    total = padded.narrow(axis, radius, length) * weights[0]
    for i in range(1, radius + 1):
        pair = padded.narrow(axis, radius - i, length) + padded.narrow(axis, radius + i, length)
        total = total + pair * weights[i]
    return total


def gradient(smoothed: Tensor) -> tuple[Tensor, Tensor]:
    """Return gx and gy of (B, H, W) by central differences; beyond the border the image repeats."""
    wide = pad(smoothed[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    gx = 0.5 * (wide[:, 1:-1, 2:] - wide[:, 1:-1, :-2])
    return gx, 0.5 * (wide[:, 2:, 1:-1] - wide[:, :-2, 1:-1])


def strength_of(gx: Tensor, gy: Tensor) -> Tensor:
    """Return gradient magnitudes, 0 where they are noise."""
    magnitude = exact_sqrt(gx * gx + gy * gy)
    return torch.where(magnitude < ROUNDING_GRADIENT, 0.0, magnitude)


def automatic_thresholds(smoothed: Tensor) -> Tensor:
    """Return MATLAB's rule for each image, (B, 2): the bin edge below which 70 % of the pixels lie, and 0.4 of it."""
    if _launch.serves(smoothed.device):
        return _cuda_edges.automatic_thresholds(smoothed)
    strengths = strength_of(*gradient(smoothed)).flatten(1)
    chosen = []
    for values, largest in zip(strengths, strengths.amax(1).tolist(), strict=True):
        if largest == 0:
            chosen.append((0.0, 0.0))
            continue
        scale = float(np.float32(HISTOGRAM_BINS) / np.float32(largest))
        counts = torch.bincount((values * scale).int().clamp_(max=HISTOGRAM_BINS - 1), minlength=HISTOGRAM_BINS)
        over = (counts.cumsum(0)[:-1].double() > NON_EDGE_SHARE * len(values)).nonzero()
        high = largest * ((int(over[0]) if len(over) else HISTOGRAM_BINS - 1) + 1) / HISTOGRAM_BINS
        chosen.append((LOW_OF_HIGH * high, high))
    return torch.tensor(chosen, dtype=torch.float32, device=smoothed.device)


def quantile_thresholds(smoothed: Tensor, low: float, high: float) -> Tensor:
    """Return two quantiles of the gradient magnitude of each image, linear between order statistics: (B, 2)."""
    ordered = strength_of(*gradient(smoothed)).flatten(1).sort(1).values
    last = ordered.shape[1] - 1
    columns = []
    for q in (low, high):
        position = q * last
        below = int(position)
        first, second = ordered[:, below].double(), ordered[:, min(below + 1, last)].double()
        columns.append(first + (position - below) * (second - first))
    return torch.stack(columns, 1).float()


def canny(smoothed: Tensor, thresholds: Tensor, unit: bool) -> Tensor:
    """Return the gradient turned to the edge direction at edges, 0 elsewhere: (B, 2, H, W); of length 1 if `unit`."""
    if _launch.serves(smoothed.device):
        return _cuda_edges.canny(smoothed.contiguous(), thresholds, unit)
    gx, gy = gradient(smoothed)
    thinned = _thin(strength_of(gx, gy), gx, gy, thresholds[:, 0, None, None])
    edges = _without_corners(_connected(thinned, thresholds[:, 1, None, None]))
    forces = torch.stack([torch.where(edges, gy, 0.0), torch.where(edges, -gx, 0.0)], 1)
    return unit_forces(forces) if unit else forces


def unit_forces(forces: Tensor) -> Tensor:
    """Return forces of length 1, 0 where there is none."""
    square = forces[:, :1] * forces[:, :1] + forces[:, 1:] * forces[:, 1:]
    return torch.where(square > 0, forces / exact_sqrt(square), 0.0)


def _thin(strength: Tensor, gx: Tensor, gy: Tensor, threshold: Tensor) -> Tensor:
    """Keep strengths above the threshold that are maxima across the edge, as thin_row in native/edges/canny.cpp."""
    wide = pad(strength, (1, 1, 1, 1))
    height, width = strength.shape[1:]

    def moved(dy: int, dx: int) -> Tensor:
        return wide[:, 1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]

    length = exact_sqrt(gx * gx + gy * gy)
    across, down = gx.abs() / length, gy.abs() / length
    right, lower = gx > 0, gy > 0
    sides = []
    for toward in (True, False):
        r, d = (right, lower) if toward else (~right, ~lower)
        beside, along = torch.where(r, moved(0, 1), moved(0, -1)), torch.where(d, moved(1, 0), moved(-1, 0))
        upper = torch.where(r, moved(-1, 1), moved(-1, -1))
        corner = torch.where(d, torch.where(r, moved(1, 1), moved(1, -1)), upper)
        own = (1 - across) * (1 - down) * strength
        sides.append(own + across * (1 - down) * beside + (1 - across) * down * along + across * down * corner)
    bright, dark = sides
    keep = (strength > threshold) & (length > 0) & (strength > bright * TIE) & (strength * TIE >= dark)
    inner = torch.zeros_like(keep)
    inner[:, 1:-1, 1:-1] = True
    return torch.where(keep & inner, strength, 0.0)


def _connected(thinned: Tensor, high: Tensor) -> Tensor:
    """Return the strengths of ridges that are connected to one above `high`, 0 elsewhere."""
    ridge = thinned > 0
    places = torch.full(thinned.shape, -1, dtype=torch.int64, device=thinned.device)
    count = int(ridge.sum())
    places[ridge] = torch.arange(count, device=thinned.device)
    links = []
    for dy, dx in NEIGHBOURS[4:]:  # half of the neighbours: the others are the same links
        here = places[:, : thinned.shape[1] - dy, max(0, -dx) : thinned.shape[2] - max(0, dx)]
        there = places[:, dy:, max(0, dx) : thinned.shape[2] + min(0, dx)]
        both = (here >= 0) & (there >= 0)
        links.append((here[both], there[both]))
    roots = first_of_component(count, torch.cat([a for a, _ in links]), torch.cat([b for _, b in links]))
    strong = torch.zeros(count, dtype=torch.bool, device=thinned.device)
    strong[roots[(thinned > high)[ridge]]] = True
    kept = torch.zeros_like(thinned)
    kept[ridge] = torch.where(strong[roots], thinned[ridge], 0.0)
    return kept


def _without_corners(strength: Tensor) -> Tensor:
    """Return where edges are after stair corners have gone in rounds, the weakest of adjacent ones first."""
    width = strength.shape[2]
    flat = strength.flatten()
    offsets = torch.tensor([dy * width + dx for dy, dx in NEIGHBOURS], device=flat.device)
    places = flat.nonzero()[:, 0]
    while True:
        places = places[flat[places] > 0]
        off = flat[places[:, None] + offsets] <= 0
        ends = (off[:, 0] & off[:, 4]) | (off[:, 2] & off[:, 6])
        parts = sum((off[:, k] & ~(off[:, k + 1] & off[:, (k + 2) % 8])).int() for k in range(0, 8, 2))
        corners = places[~ends & (parts == 1)]
        if not len(corners):
            return (flat > 0).view_as(strength)
        spare = torch.zeros_like(flat, dtype=torch.bool)
        spare[corners] = True
        others = corners[:, None] + offsets[::2]
        own, other = flat[corners][:, None], flat[others]
        weaker = (own < other) | ((own == other) & (corners[:, None] < others))
        flat[corners[(weaker | ~spare[others]).all(1)]] = 0
