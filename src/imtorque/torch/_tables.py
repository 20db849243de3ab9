"""Torque and its adjoint by torch's own operations, on any device: whole numbers (int64) or floats.

The formulas are those of native/core/box_tables.hpp, and int64 sums are exact, so whole numbers give the library's
bits. The image is worked on in bands of rows, so that memory stays a small part of the image's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

from imtorque.torch._patches import Boxes

TABLE_BAND = 64  # rows; bound: of what is held at a time
PIECE = 16  # rows whose patches are looked at together; bound: of what is held at a time
Convert = Callable[[Tensor], Tensor]  # forces to whole numbers, or to the floats of tables


class Tables:
    """Summed-area tables of some rows of a field (B, 2, H, W), and the patches' moments from them."""

    def __init__(self, field: Tensor, convert: Convert, top: int, bottom: int, reach: tuple[int, int]) -> None:
        """Make the tables that the rows from `top` to `bottom` need for patches of this reach."""
        (ry, rx), height = reach, field.shape[2]
        from_row, to_row = max(0, top - ry), min(height, bottom + ry)
        margins = (rx, rx, from_row - (top - ry), bottom + ry - to_row)
        part = pad(convert(field[:, :, from_row:to_row]), margins)
        v = torch.arange(part.shape[2], device=field.device)[:, None]
        u = torch.arange(part.shape[3], device=field.device)
        turn = _sums(u * part[:, 1] - v * part[:, 0])
        kx, ky = _sums(part[:, 0]), _sums(part[:, 1])
        del part
        v = torch.arange(kx.shape[1], device=field.device)[:, None]
        u = torch.arange(kx.shape[2], device=field.device)
        self._d1, self._d2 = ky - kx, ky + kx
        self._q = ky.mul_(2 * u - 1).sub_(kx.mul_(2 * v - 1)).sub_(turn.mul_(2))
        self._reach, self._rows, self._columns = reach, bottom - top, field.shape[3]

    def moments(self, ry: int, rx: int) -> Tensor:
        """Return twice the moment of the patch of these half-sizes around each pixel, (B, rows, W)."""
        a, b = self._at(self._reach[0] + ry + 1, self._rows), self._at(self._reach[0] - ry, self._rows)
        h, i = self._at(self._reach[1] + rx + 1, self._columns), self._at(self._reach[1] - rx, self._columns)
        d1, d2, q = self._d1, self._d2, self._q
        sums = d1[:, a, h] + d2[:, a, i]
        sums.sub_(d2[:, b, h]).sub_(d1[:, b, i]).mul_(rx + ry + 1)
        if rx != ry:
            skew = d2[:, a, h] + d1[:, a, i]
            sums.add_(skew.sub_(d1[:, b, h]).sub_(d2[:, b, i]).mul_(rx - ry))
        return sums.sub_(q[:, a, h]).add_(q[:, a, i]).add_(q[:, b, h]).sub_(q[:, b, i])

    @staticmethod
    def _at(start: int, count: int) -> slice:
        return slice(start, start + count)


def bands(height: int) -> Iterator[tuple[int, int]]:
    """Yield first and last row (half-open) of the bands of an image."""
    for top in range(0, height, TABLE_BAND):
        yield top, min(top + TABLE_BAND, height)


def torques(field: Tensor, convert: Convert, boxes: Boxes, norms: Tensor, top: int, bottom: int) -> Iterator[Tensor]:
    """Yield the torque of each patch over some rows, (B, rows, W), in the type of `norms` (B, S)."""
    tables = Tables(field, convert, top, bottom, boxes.reach)
    for k, (ry, rx) in enumerate(zip(boxes.ry, boxes.rx, strict=True)):
        yield tables.moments(ry, rx).to(norms.dtype).mul_(norms[:, k, None, None])


def fill_volume(field: Tensor, convert: Convert, boxes: Boxes, norms: Tensor, out: Tensor) -> None:
    """Write the torque of each patch to `out` (B, S, H, W)."""
    for top, bottom in bands(field.shape[2]):
        for k, torque in enumerate(torques(field, convert, boxes, norms, top, bottom)):
            out[:, k, top:bottom] = torque


def fill_maps(field: Tensor, convert: Convert, boxes: Boxes, norms: Tensor, value: Tensor, scale: Tensor) -> None:
    """Write value and scale maps (B, H, W)."""
    value.zero_()
    scale.zero_()
    for top, bottom in bands(field.shape[2]):
        best, label = value[:, top:bottom], scale[:, top:bottom]
        for k, torque in enumerate(torques(field, convert, boxes, norms, top, bottom)):
            larger = torque.abs() > best.abs()
            best[larger] = torque[larger].to(best.dtype)
            label.masked_fill_(larger, boxes.label[k])
        label.mul_(torch.where(best < 0, -1, 1))


def volume_adjoint(grad: Tensor, boxes: Boxes, dtype: torch.dtype) -> Tensor:
    """Return the adjoint of `fill_volume`: what each force (B, 2, H, W) does for weighted patches (B, S, H, W).

    Each patch enters tables of w, w x and w y as differences at its four corners; one prefix pass makes them sums.
    """
    batch, count, height, width = grad.shape
    ry, rx = boxes.reach
    tables = torch.zeros(batch, 3, height + 2 * ry + 1, width + 2 * rx + 1, dtype=dtype, device=grad.device)
    y, x = _centred(height, width, dtype, grad.device)
    for k in range(count):
        w = grad[:, k].to(dtype) / (2 * boxes.area[k])
        votes = torch.stack([w, w * x, w * y], 1)
        for below, sign_y in ((ry - boxes.ry[k], 1), (ry + boxes.ry[k] + 1, -1)):
            for right, sign_x in ((rx - boxes.rx[k], 1), (rx + boxes.rx[k] + 1, -1)):
                corner = tables[:, :, below : below + height, right : right + width]
                corner.add_(votes, alpha=sign_y * sign_x)
    sums = tables.cumsum(2).cumsum(3)[:, :, ry : ry + height, rx : rx + width]
    return torch.stack([sums[:, 2] - y * sums[:, 0], x * sums[:, 0] - sums[:, 1]], 1)


def chosen_adjoint(grad: Tensor, scale: Tensor, boxes: Boxes, dtype: torch.dtype, out: Tensor) -> None:
    """Write the same to `out` where at each pixel only the patch of the scale map counts; grad (B, H, W)."""
    height = grad.shape[1]
    places = torch.zeros(max(boxes.label) + 1, dtype=torch.int64)
    places[list(boxes.label)] = torch.arange(len(boxes.label))
    halves = torch.tensor([boxes.ry, boxes.rx])[:, places].to(grad.device)
    factors = (1 / (2 * torch.tensor(boxes.area, dtype=torch.float64))).to(dtype)[places].to(grad.device)
    for top, bottom in bands(height):
        _adjoint_band(grad, scale, boxes.reach[0], halves, factors, top, bottom, out)


def _adjoint_band(
    grad: Tensor, scale: Tensor, reach: int, halves: Tensor, factors: Tensor, top: int, bottom: int, out: Tensor
) -> None:
    batch, height, width = grad.shape
    shape = (3, batch, bottom - top + 1, width + 1)
    table = torch.zeros(3, shape[1] * shape[2] * shape[3], dtype=factors.dtype, device=grad.device)
    last = min(height, bottom + reach)
    for row in range(max(0, top - reach), last, PIECE):
        piece = slice(row, min(row + PIECE, last))
        _scatter(grad[:, piece], scale[:, piece], row - top, halves, factors, table, shape)
    sums = table.view(shape).cumsum_(2).cumsum_(3)[:, :, :-1, :-1]
    v = torch.arange(bottom - top, dtype=factors.dtype, device=grad.device)[:, None]
    u = torch.arange(width, dtype=factors.dtype, device=grad.device) - width // 2
    out[:, 0, top:bottom] = (sums[2] - v * sums[0]).to(out.dtype)
    out[:, 1, top:bottom] = (u * sums[0] - sums[1]).to(out.dtype)


def _scatter(
    grad: Tensor,
    scale: Tensor,
    first: int,
    halves: Tensor,
    factors: Tensor,
    table: Tensor,
    shape: tuple[int, int, int, int],
) -> None:
    """Add the differences that the patches of some rows, from `first` of the band on, make at their corners."""
    rows, width = shape[2] - 1, shape[3] - 1
    label = scale.abs().long()
    image, row, x = (label > 0).nonzero(as_tuple=True)
    label, y = label[image, row, x], row + first
    above, below = (y - halves[0][label]).clamp_(min=0), (y + halves[0][label] + 1).clamp_(max=rows)
    inside = above < below
    image, row, y, x, label, above, below = (n[inside] for n in (image, row, y, x, label, above, below))
    left, right = (x - halves[1][label]).clamp_(min=0), (x + halves[1][label] + 1).clamp_(max=width)
    w = grad[image, row, x].to(factors.dtype) * factors[label]
    votes = torch.stack([w, w * (x - width // 2), w * y])
    for v, u, sign in ((above, left, 1), (above, right, -1), (below, left, -1), (below, right, 1)):
        table.index_add_(1, (image * shape[2] + v) * shape[3] + u, votes, alpha=sign)


def box_sums(values: Tensor, ry: int, rx: int) -> Tensor:
    """Return sums over the (2 ry + 1) x (2 rx + 1) pixels around each, of (B, H, W); outside there is nothing."""
    height, width = values.shape[1:]
    ry, rx = min(ry, height - 1), min(rx, width - 1)
    table = _sums(pad(values, (rx, rx, ry, ry)))
    down = table[:, 2 * ry + 1 :] - table[:, :height]
    return down[:, :, 2 * rx + 1 :] - down[:, :, :width]


def _sums(values: Tensor) -> Tensor:
    """Return exclusive prefix sums over both axes of (B, H, W): (B, H + 1, W + 1)."""
    return pad(values.cumsum(1).cumsum(2), (1, 0, 1, 0))


def _centred(height: int, width: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    y = torch.arange(height, dtype=dtype, device=device)[:, None] - height // 2
    return y, torch.arange(width, dtype=dtype, device=device) - width // 2
