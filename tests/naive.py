"""The definitions as slow loops, importing NumPy only: what the fast functions are checked against."""

import numpy as np

# Evaluation


def thin(picture):
    """Guo & Hall's thinning, one pixel and one condition at a time."""
    picture = np.pad(np.asarray(picture, dtype=int), 1)
    while True:
        before = picture.copy()
        for first in (True, False):
            snapshot = picture.copy()
            for y, x in zip(*np.nonzero(snapshot), strict=True):
                if _deletable(snapshot[y - 1 : y + 2, x - 1 : x + 2], first):
                    picture[y, x] = 0
        if (picture == before).all():
            return picture[1:-1, 1:-1].astype(bool)


def _deletable(n, first):
    x = [
        None,
        n[1, 2],
        n[0, 2],
        n[0, 1],
        n[0, 0],
        n[1, 0],
        n[2, 0],
        n[2, 1],
        n[2, 2],
        n[1, 2],
    ]  # x[1] east ... x[9] = x[1]
    crossings = sum(x[2 * i - 1] == 0 and (x[2 * i] == 1 or x[2 * i + 1] == 1) for i in range(1, 5))
    n1 = sum(x[2 * k - 1] | x[2 * k] for k in range(1, 5))
    n2 = sum(x[2 * k] | x[2 * k + 1] for k in range(1, 5))
    third = (x[2] | x[3] | (1 - x[8])) & x[1] if first else (x[6] | x[7] | (1 - x[4])) & x[5]
    return crossings == 1 and 2 <= min(n1, n2) <= 3 and third == 0


def match_cost(prediction, truth, radius):
    """The least cost of a matching, in hundredths of a pixel, by trying every choice for every predicted pixel."""
    left, right = np.argwhere(prediction), np.argwhere(truth)
    outlier = int(np.ceil(100 * 100 * radius))
    best = {0: outlier * (len(left) + len(right))}  # from the set of right pixels taken, as bits, to its least cost
    for pixel in left:
        for taken, cost in list(best.items()):
            for j, other in enumerate(right):
                distance = np.hypot(*(pixel - other))
                if distance <= radius and not taken >> j & 1:
                    with_pair = cost + round(100 * distance) - outlier
                    best[taken | 1 << j] = min(with_pair, best.get(taken | 1 << j, with_pair))
    return min(best.values())


def match_count(prediction, truth, radius):
    """The largest number of pairs, by augmenting paths from each predicted pixel in turn."""
    left, right = np.argwhere(prediction), np.argwhere(truth)
    owner = {}

    def augment(i, seen):
        for j, other in enumerate(right):
            if j not in seen and np.hypot(*(left[i] - other)) <= radius:
                seen.add(j)
                if j not in owner or augment(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return sum(augment(i, set()) for i in range(len(left)))


def covering(segmentation, truth):
    total = 0
    for region in np.unique(truth):
        inside = truth == region
        overlaps = []
        for label in np.unique(segmentation):
            other = segmentation == label
            overlaps.append((inside & other).sum() / (inside | other).sum())
        total += inside.sum() * max(overlaps)
    return total / truth.size


def rand_index(segmentation, truth):
    """The share of pairs of pixels that are together, or apart, in both."""
    s, t = np.ravel(segmentation), np.ravel(truth)
    pairs = [(i, j) for i in range(len(s)) for j in range(i)]
    return sum((s[i] == s[j]) == (t[i] == t[j]) for i, j in pairs) / len(pairs)


def probability_above(positives, negatives):
    """P(positive > negative) + P(equal) / 2."""
    return np.mean([(p > n) + 0.5 * (p == n) for p in positives for n in negatives])
