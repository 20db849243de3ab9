"""Extrema of the torque of tensors, as native/core/extrema.cpp defines them."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from imtorque.core.extrema import CROSS_REACH
from imtorque.torch import _cuda, _strongest, _tables
from imtorque.torch._components import first_of_component
from imtorque.torch._torque import Field, field_maps


class Request(NamedTuple):
    """Which extrema are asked for: sign 0: both, limit -1: all, the rest as in native/core/extrema.hpp."""

    sign: int
    limit: int
    end_scales: bool
    cross: bool
    inside: bool


class Found(NamedTuple):
    """Extrema, in any order: their image, size's place, y, x, whether a neighbour equals them, and value."""

    image: Tensor
    k: Tensor
    y: Tensor
    x: Tensor
    tied: Tensor
    value: Tensor

    def chosen(self, which: Tensor) -> Found:
        """Return some of them."""
        return Found(*(field[which] for field in self))


def extrema(field: Field, request: Request) -> Tensor:
    """Return size's place, y, x and bits of the value of the strongest, (4, B, n), 0 where there are no more."""
    wanted, plain = request.limit, not (request.cross or request.inside)
    sizes, shape = len(field.boxes.label), (field.forces.shape[2], field.forces.shape[3])
    # An extremum at an end size may be left out by request, and then the value map does not bound the others.
    value = field_maps(field)[0] if plain and wanted >= 0 and request.end_scales and field.guess() else None
    if plain and field.fits and field.fit and field.rounding:
        asked = (request.sign, wanted, request.end_scales)
        rows = _cuda.search(field.forces, field.boxes, field.rounding.steps, field.fit, value, asked)
        if rows.device.type == "cpu":
            table = _strongest.table_of(rows.numpy(), len(field.forces), wanted, sizes, shape)
            return torch.from_numpy(table).to(field.forces.device)
        image, k, y, x, tied, bits = rows.unbind(1)
        found = Found(image.long(), k.long(), y.long(), x.long(), tied > 0, bits.contiguous().view(torch.float32))
    else:
        found = _searched(field, request)
    return table_of(found, len(field.forces), wanted, sizes, shape)


def table_of(found: Found, batch: int, wanted: int, sizes: int, shape: tuple[int, int]) -> Tensor:
    """Do what `_strongest.table_of` does, for any number of extrema on any device."""
    found, rank = strongest(found, sizes, shape)
    width = wanted if wanted >= 0 else int(rank.max()) + 1 if len(rank) else 0
    table = torch.zeros(4, batch, width + 1, dtype=torch.int64, device=rank.device)
    bits = found.value.contiguous().view(torch.int32)
    # The last column takes what is not wanted.
    table[:, found.image, rank.clamp(max=width)] = torch.stack([found.k, found.y, found.x, bits.long()])
    return table[:, :, :width]


def _searched(field: Field, request: Request) -> Found:
    """Go through the sizes with three slices of torque at a time."""
    count, parts = len(field.boxes.label), []
    norms, height = field.norms(field.boxes), field.forces.shape[2]
    slices = _tables.torques(field.forces, field.wide, field.boxes, norms, 0, height)
    ranges: list[tuple[Tensor, Tensor, Tensor]] = []  # the slice, its largest and smallest values around each pixel
    for k in range(count + 1):
        if k < count:
            torque = next(slices).to(field.type)
            ranges.append((torque, _around(torque), -_around(-torque)))
        if k > 0 and (request.end_scales or 1 < k < count):
            near = ranges[max(0, len(ranges) - (3 if k < count else 2)) :]
            middle = ranges[-2] if k < count else ranges[-1]
            test = _test_cross if request.cross else _test
            found = test(middle[0], near, k - 1, request.sign)
            parts.append(_inside(found, field, k - 1) if request.inside else found)
        ranges = ranges[-2:]
    if not parts:
        none = torch.zeros(0, dtype=torch.int64, device=field.forces.device)
        return Found(none, none, none, none, none.bool(), none.to(field.type))
    return Found(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _around(values: Tensor) -> Tensor:
    return max_pool2d(values[:, None], 3, 1, 1)[:, 0]


def _test(torque: Tensor, near: list[tuple[Tensor, Tensor, Tensor]], k: int, sign: int) -> Found:
    """Return the extrema of a slice, given it and the slices beside it with the ranges around each pixel."""
    highest = torch.stack([high for _, high, _ in near]).amax(0)
    lowest = torch.stack([low for _, _, low in near]).amin(0)
    maximum = (torque > 0) & (torque >= highest) & (lowest < torque)
    minimum = (torque < 0) & (torque <= lowest) & (highest > torque)
    wanted = maximum if sign > 0 else minimum if sign < 0 else maximum | minimum
    image, y, x = wanted.nonzero(as_tuple=True)
    value = torque[image, y, x]
    equal = torch.zeros_like(y)
    height, width = torque.shape[1:]
    for slice_, _, _ in near:
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                v, u = y + dy, x + dx
                inside = (v >= 0) & (v < height) & (u >= 0) & (u < width)
                other = slice_[image, v.clamp(0, height - 1), u.clamp(0, width - 1)]
                equal += inside & (other == value)
    return Found(image, torch.full_like(y, k), y, x, equal > 1, value)


def _test_cross(torque: Tensor, near: list[tuple[Tensor, Tensor, Tensor]], k: int, sign: int) -> Found:
    """Do what `_test` does for crosses, which have no plateaus."""
    beside = [other for other, _, _ in near if other is not torque]
    maximum = (torque > 0) & (torque > _highest_of_cross(torque, beside))
    minimum = (torque < 0) & (-torque > _highest_of_cross(-torque, [-other for other in beside]))
    wanted = maximum if sign > 0 else minimum if sign < 0 else maximum | minimum
    image, y, x = wanted.nonzero(as_tuple=True)
    return Found(image, torch.full_like(y, k), y, x, torch.zeros_like(y, dtype=torch.bool), torque[image, y, x])


def _highest_of_cross(torque: Tensor, beside: list[Tensor]) -> Tensor:
    height, width = torque.shape[1:]
    r = CROSS_REACH
    padded = torch.nn.functional.pad(torque, (r, r, r, r), value=-math.inf)
    steps = [d for d in range(2 * r + 1) if d != r]
    around = [padded[:, d : d + height, r : r + width] for d in steps]
    around += [padded[:, r : r + height, d : d + width] for d in steps]
    return torch.stack(around + beside).amax(0)


def _inside(found: Found, field: Field, k: int) -> Found:
    """Return those whose patch, with a pixel around it, lies in the image."""
    height, width = field.forces.shape[2:]
    half_y, half_x = field.boxes.ry[k], field.boxes.rx[k]
    rows = (found.y > half_y) & (found.y < height - 1 - half_y)
    return found.chosen(rows & (found.x > half_x) & (found.x < width - 1 - half_x))


def strongest(found: Found, sizes: int, shape: tuple[int, int]) -> tuple[Found, Tensor]:
    """Return them, strongest first image by image, the first of each plateau alone, and ranks in their images."""
    height, width = shape
    place = ((found.image * sizes + found.k) * height + found.y) * width + found.x
    found = found.chosen(place.argsort())
    found = found.chosen(found.value.abs().argsort(descending=True, stable=True))
    found = found.chosen(found.image.argsort(stable=True))
    if bool(found.tied.any()):
        found = _without_plateaus(found, sizes, height, width)
    starts = torch.searchsorted(found.image.contiguous(), found.image.contiguous())
    rank = torch.arange(len(starts), device=starts.device) - starts
    return found, rank


def _without_plateaus(found: Found, sizes: int, height: int, width: int) -> Found:
    """Keep the first of each set of adjacent equal extrema."""
    tied = found.tied.nonzero()[:, 0]
    image, k, y, x, _, value = found.chosen(tied)
    place = ((image * sizes + k) * height + y) * width + x
    ordered, order = place.sort()
    links = []
    for dk, dy, dx in [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) < (0, 0, 0)]:
        inside = (k + dk >= 0) & (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
        wanted = place + (dk * height + dy) * width + dx
        at = torch.searchsorted(ordered, wanted).clamp(max=len(ordered) - 1)
        there = inside & (ordered[at] == wanted) & (value[order[at]] == value)
        links.append((there.nonzero()[:, 0], order[at][there]))
    roots = first_of_component(len(tied), torch.cat([a for a, _ in links]), torch.cat([b for _, b in links]))
    keep = torch.ones_like(found.tied)
    keep[tied[roots != torch.arange(len(tied), device=tied.device)]] = False
    return found.chosen(keep)
