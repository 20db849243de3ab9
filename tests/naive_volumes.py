"""The definitions of torque in volumes as slow, plain loops. Imports numpy only."""

import numpy as np


def box(shape, centre, side):
    """Slices of the part of a box that lies in the volume."""
    return tuple(slice(max(0, c - s // 2), min(n, c + s // 2 + 1)) for c, s, n in zip(centre, side, shape, strict=True))


def torque(gz, gy, gx, centre, side):
    """Torque of one box, one voxel at a time."""
    total = 0.0
    part = box(gz.shape, centre, side)
    for q in np.ndindex(*(p.stop - p.start for p in part)):
        at = tuple(i + p.start for i, p in zip(q, part, strict=True))
        lever = [a - c for a, c in zip(at, centre, strict=True)]
        total -= lever[0] * float(gz[at]) + lever[1] * float(gy[at]) + lever[2] * float(gx[at])
    return total / (3 * np.prod(side))


def torque_volume(gz, gy, gx, sides):
    return np.array([[torque(gz, gy, gx, p, side) for p in np.ndindex(gz.shape)] for side in sides]).reshape(
        len(sides), *gz.shape
    )


def gradient_torque(volume, centre, side):
    """The mean of a box minus a third of the mean of either pair of faces just outside it."""

    def at(z, y, x):
        return float(volume[tuple(min(max(i, 0), n - 1) for i, n in zip((z, y, x), volume.shape, strict=True))])

    spans = [range(c - s // 2, c + s // 2 + 1) for c, s in zip(centre, side, strict=True)]
    result = np.mean([at(z, y, x) for z in spans[0] for y in spans[1] for x in spans[2]])
    for axis in range(3):
        faces = list(spans)
        faces[axis] = [spans[axis][0] - 1, spans[axis][-1] + 1]
        result -= np.mean([at(z, y, x) for z in faces[0] for y in faces[1] for x in faces[2]]) / 3
    return result


def neighbours(shape, at):
    for step in np.ndindex(3, 3, 3, 3):
        near = tuple(a + s - 1 for a, s in zip(at, step, strict=True))
        if near != at and all(0 <= i < n for i, n in zip(near, shape, strict=True)):
            yield near


def find_extrema(tau, sign=None):
    """(k, z, y, x) of the extrema, strongest first; of adjacent equal ones the lowest index."""
    candidates = []
    for at in np.ndindex(tau.shape):
        value = tau[at]
        if value == 0 or (sign is not None and np.sign(value) != sign):
            continue
        rise = np.array([(value - tau[near]) * np.sign(value) for near in neighbours(tau.shape, at)])
        if rise.size and np.all(rise >= 0) and np.any(rise > 0):
            candidates.append(at)
    chosen, seen, kept = set(candidates), set(), []
    for start in candidates:
        if start in seen:
            continue
        kept.append(start)
        stack = [start]
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                stack += [near for near in neighbours(tau.shape, at) if near in chosen and tau[near] == tau[at]]
    return sorted(kept, key=lambda at: -abs(tau[at]))


def thin(strength, g, threshold):
    """Strength where it is largest along the axis of the largest component of g."""
    result = np.zeros_like(strength)
    for at in np.ndindex(strength.shape):
        if any(i in (0, n - 1) for i, n in zip(at, strength.shape, strict=True)) or strength[at] <= threshold:
            continue
        here = [part[at] for part in g]
        axis = int(np.argmax(np.abs(here)))
        step = -1 if here[axis] < 0 else 1
        ahead, behind = (tuple(i + s * (a == axis) for a, i in enumerate(at)) for s in (step, -step))
        if strength[at] >= strength[behind] and strength[at] > strength[ahead]:
            result[at] = strength[at]
    return result


def suppress(centres, sides, value, overlap):
    kept = []
    for i in range(len(value)):
        for j in kept:
            shared = 1
            for a in range(3):
                low = max(centres[i][a] - sides[i][a] // 2, centres[j][a] - sides[j][a] // 2)
                high = min(centres[i][a] + sides[i][a] // 2, centres[j][a] + sides[j][a] // 2)
                shared *= max(0, high - low + 1)
            smaller = min(np.prod(sides[i]), np.prod(sides[j]))
            if (value[i] > 0) == (value[j] > 0) and shared / smaller > overlap:
                break
        else:
            kept.append(i)
    return kept
