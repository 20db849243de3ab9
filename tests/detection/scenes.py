"""Images of discs and ellipses with known answers."""

import numpy as np
from scipy import ndimage


def ellipse(shape, centre, semi_axes, turn=0.0):
    """Coverage of an ellipse, its edge one pixel wide; turn in radians from the x axis towards y (down)."""
    y, x = np.indices(shape, np.float64)
    y, x = y - centre[0], x - centre[1]
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    long, short = semi_axes
    return np.clip((1 - np.hypot(u / long, v / short)) * short + 0.5, 0, 1)


def discs(shape, centres, diameter):
    """Coverage of discs of one diameter."""
    return sum(ellipse(shape, centre, (diameter / 2, diameter / 2)) for centre in centres)


def lattice(shape, step):
    """Centres on a lattice, away from the rim, each a little beside it."""
    shift = np.random.default_rng(5)
    rows, columns = (range(step // 2, n - step // 4, step) for n in shape)
    return [tuple(np.array([y, x]) + shift.uniform(-2, 2, 2)) for y in rows for x in columns]


def missed_and_extra(blobs, centres, diameter):
    """How many of the discs have no blob of their own, and how many blobs no disc."""
    centres = np.asarray(centres)
    far = np.hypot(blobs.y[:, None] - centres[:, 0], blobs.x[:, None] - centres[:, 1]) > diameter / 2
    found = ~far.all(axis=0) if len(blobs) else np.zeros(len(centres), bool)
    return int(np.sum(~found)), len(blobs) - int(found.sum())


def capsule(shape, centre, half_length, radius, turn=0.0):
    """Coverage of a capsule: what is within the radius of a line of twice this half length."""
    y, x = np.indices(shape, np.float64)
    y, x = y - centre[0], x - centre[1]
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    return np.clip(radius - np.hypot(np.maximum(np.abs(u) - half_length, 0), v) + 0.5, 0, 1)


def scattered(shape, count, draw, reach, seed=0):
    """Draw objects of random turns that do not touch: the image and their centres.

    `draw(shape, centre, turn)` gives the coverage of one, which reaches so far from its centre.
    """
    rng = np.random.default_rng(seed)
    image, near, centres = np.zeros(shape), np.zeros(shape, bool), []
    for _ in range(100 * count):
        centre, turn = rng.uniform(reach + 3, np.array(shape) - reach - 3), rng.uniform(0, np.pi)
        top, left = np.maximum(np.floor(centre - reach - 4).astype(int), 0)
        window = np.s_[top : int(centre[0] + reach) + 5, left : int(centre[1] + reach) + 5]
        one = draw(image[window].shape, centre - (top, left), turn)
        if len(centres) < count and not near[window][one > 0].any():
            image[window] += one
            near[window] |= ndimage.binary_dilation(one > 0, iterations=2)
            centres.append(centre)
    return image, np.array(centres)
