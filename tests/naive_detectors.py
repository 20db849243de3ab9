"""The definitions behind pb, gPb and ultrametric contours as slow, plain loops. Imports numpy only."""

import heapq
import math

import numpy as np


def chi_squared(g, h):
    """Half the sum of (g - h)^2 / (g + h)."""
    return 0.5 * sum((a - b) ** 2 / (a + b) for a, b in zip(g, h, strict=True) if a + b > 0)


def running_mean(histogram, reach):
    """Mean over 2 reach + 1 bins, zeros beyond both ends."""
    count = len(histogram)
    inside = [range(max(0, b - reach), min(count, b + reach + 1)) for b in range(count)]
    return [sum(histogram[i] for i in bins) / (2 * reach + 1) for bins in inside]


def half_disc_gradients(bins, count, radius, reach, step):
    """bins: already padded by `radius`."""
    height, width = bins.shape[0] - 2 * radius, bins.shape[1] - 2 * radius
    rows, columns = range(0, height, step), range(0, width, step)
    return np.array(
        [[[one_gradient(bins, count, radius, reach, y, x, k) for x in columns] for y in rows] for k in range(8)]
    )


def one_gradient(bins, count, radius, reach, y, x, k):
    halves = [[0.0] * count, [0.0] * count]
    angle = math.pi * k / 8
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dy * dy + dx * dx > radius * radius or (dy, dx) == (0, 0):
                continue
            across = math.cos(angle) * dy - math.sin(angle) * dx
            side = 0.5 if abs(across) < 1e-9 else float(across > 0)
            label = bins[y + radius + dy, x + radius + dx]
            halves[0][label] += side
            halves[1][label] += 1 - side
    smooth = [running_mean(running_mean([n / sum(half) for n in half], reach), reach) for half in halves]
    return chi_squared(*smooth)


def neighbours(shape, y, x):
    for v, u in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)):
        if 0 <= v < shape[0] and 0 <= u < shape[1]:
            yield v, u


def level_part(heights, start):
    """The pixels of one height connected to this one."""
    part, waiting = {start}, [start]
    while waiting:
        for place in neighbours(heights.shape, *waiting.pop()):
            if place not in part and heights[place] == heights[start]:
                part.add(place)
                waiting.append(place)
    return part


def watershed(heights):
    basins = np.full(heights.shape, -1)
    seen, found = set(), 0
    for start in np.ndindex(heights.shape):
        if start in seen:
            continue
        part = level_part(heights, start)
        seen |= part
        if all(heights[n] >= heights[start] for place in part for n in neighbours(heights.shape, *place)):
            for place in part:
                basins[place] = found
            found += 1
    queue, arrivals = [], 0

    def reach(place):
        nonlocal arrivals
        for n in neighbours(heights.shape, *place):
            if basins[n] < 0:
                heapq.heappush(queue, (heights[n], arrivals, n, basins[place]))
                arrivals += 1

    for place in np.ndindex(heights.shape):
        if basins[place] >= 0:
            reach(place)
    while queue:
        _, _, place, basin = heapq.heappop(queue)
        if basins[place] < 0:
            basins[place] = basin
            reach(place)
    return basins


def ultrametric(regions, right, down):
    """(right, down): the heights at which regions merge, the weakest mean border first, all borders summed anew."""
    group = {label: label for label in np.unique(regions).tolist()}
    cracks = [
        (regions[y, x], regions[v, u], kind, y, x)
        for y, x in np.ndindex(regions.shape)
        for v, u, kind in ((y, x + 1, "right"), (y + 1, x, "down"))
        if v < regions.shape[0] and u < regions.shape[1] and regions[y, x] != regions[v, u]
    ]
    strength = {"right": right, "down": down}
    result = {"right": np.zeros(right.shape), "down": np.zeros(down.shape)}
    height = 0.0
    while len(set(group.values())) > 1:
        borders = {}
        for a, b, kind, y, x in cracks:
            if group[a] != group[b]:
                borders.setdefault(frozenset((group[a], group[b])), []).append((kind, y, x))
        means = {pair: np.mean([strength[k][y, x] for k, y, x in found]) for pair, found in borders.items()}
        weakest = min(means, key=means.get)
        height = max(height, means[weakest])
        for kind, y, x in borders[weakest]:
            result[kind][y, x] = height
        kept, gone = sorted(weakest)
        group = {label: kept if root == gone else root for label, root in group.items()}
    return result["right"], result["down"]


def convolve_planes(planes, weight, bias, added, rectified):
    (outputs, channels, side, _), (_, height, width) = weight.shape, planes.shape
    found, reach = np.zeros((outputs, height, width)), side // 2
    for o, y, x in np.ndindex(found.shape):
        total = bias[o] + (0.0 if added is None else added[o, y, x])
        for c, i, j in np.ndindex(channels, side, side):
            at = y + i - reach, x + j - reach
            if 0 <= at[0] < height and 0 <= at[1] < width:
                total += weight[o, c, i, j] * planes[c, at[0], at[1]]
        found[o, y, x] = max(total, 0.0) if rectified else total
    return found
