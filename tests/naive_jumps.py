"""The definitions of jumps and filled holes as slow, plain loops. Imports numpy only."""

import math

import numpy as np


def at(plane, y, x):
    """A pixel; beyond the border the surface goes on as its odd reflection there."""
    height, width = plane.shape
    border = plane[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]
    if 0 <= y < height and 0 <= x < width:
        return border
    v, u = (-i if i < 0 else 2 * (n - 1) - i if i >= n else i for i, n in ((y, height), (x, width)))
    return 2 * border - plane[v, u]


def line_at_zero(places, values):
    """The value at 0 of the line that fits values at these places best."""
    middle, mean = np.mean(places), np.mean(values)
    slope = sum((p - middle) * (v - mean) for p, v in zip(places, values, strict=True))
    return mean - middle * slope / sum((p - middle) ** 2 for p in places)


def one_jump(plane, y, x, axis, gap, length):
    """(jump between the lines, plain jump) at one pixel."""
    step = (1, 0) if axis == 0 else (0, 1)
    sides = []
    for sign in (1, -1):
        places = range(gap, gap + length)
        values = [at(plane, y + sign * p * step[0], x + sign * p * step[1]) for p in places]
        sides.append((line_at_zero(list(places), values), values[0]))
    return sides[0][0] - sides[1][0], sides[0][1] - sides[1][1]


def jumps(plane, axis, gap, length, sigma=1.0):
    height, width = plane.shape
    pairs = np.array([[one_jump(plane, y, x, axis, gap, length) for x in range(width)] for y in range(height)])
    reach = int(4 * sigma + 0.5)
    weights = [math.exp(-(d**2) / (2 * sigma**2)) for d in range(-reach, reach + 1)]
    result = np.zeros(plane.shape)
    for y in range(height):
        for x in range(width):
            lines = plain = 0.0
            for d, weight in zip(range(-reach, reach + 1), weights, strict=True):
                v, u = (y, x + d) if axis == 0 else (y + d, x)
                both = pairs[min(max(v, 0), height - 1), min(max(u, 0), width - 1)]
                lines, plain = lines + weight * both[0], plain + weight * both[1]
            lines, plain = lines / sum(weights), plain / sum(weights)
            result[y, x] = min(lines, plain, key=abs) if lines * plain > 0 else 0.0
    return result


def filled_line(values, known, together, slope):
    """One line with its holes filled, given the typical slope."""
    places = [i for i, k in enumerate(known) if k]
    if not places:
        return [0.0] * len(values)
    result = list(values)
    for i, k in enumerate(known):
        if k:
            continue
        before = max((p for p in places if p < i), default=None)
        behind = min((p for p in places if p > i), default=None)
        before, behind = (behind if before is None else before), (before if behind is None else behind)
        a, b = values[before], values[behind]
        if abs(a - b) > together * max(abs(a), abs(b)) + 3 * slope * (behind - before):
            result[i] = min(a, b)
        else:
            result[i] = a + (i - before) / max(behind - before, 1) * (b - a)
    return result
