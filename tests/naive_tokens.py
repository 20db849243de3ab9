"""The definitions behind Sketch Tokens as slow, plain loops. Imports numpy only."""

import numpy as np


def token_feature(planes, y, x, first, second):
    """The value at a place counted from the corner of the patch at (y, x), or the difference of two of them."""
    corner = y * planes.shape[2] + x
    values = planes.ravel().astype(int)
    if second < 0:
        return values[corner + first]
    return min(max(values[corner + first] - values[corner + second] + 128, 0), 255)


def token_features(planes, y, x, first, second):
    asked = list(zip(first, second, strict=True))
    return np.array([[token_feature(planes, *at, *places) for at in zip(y, x, strict=True)] for places in asked])


def purity(classes):
    """The sum of squared class counts over the count: the larger, the less impure."""
    return sum(classes.count(c) ** 2 for c in set(classes)) / len(classes)


def best_split(features, classes, samples, least):
    """The column and threshold that leave both sides purest; None where no split leaves `least` samples on each."""
    best = None
    for column in range(len(features)):
        for threshold in range(255):
            left = [classes[i] for i in samples if features[column][i] <= threshold]
            right = [classes[i] for i in samples if features[column][i] > threshold]
            if len(left) < least or len(right) < least:
                continue
            score = purity(left) + purity(right)
            if best is None or score > best[0]:
                best = score, column, threshold
    return best


def grow_tree(features, classes, least):
    """Every sample's leaf as the way to it, such as "LRL", when each node tries all columns."""
    ways = {}
    waiting = [("", list(range(len(classes))))]
    while waiting:
        way, samples = waiting.pop()
        best = best_split(features, classes, samples, least) if len({classes[i] for i in samples}) > 1 else None
        if best is None:
            ways.update(dict.fromkeys(samples, way))
            continue
        _, column, threshold = best
        waiting.append((way + "L", [i for i in samples if features[column][i] <= threshold]))
        waiting.append((way + "R", [i for i in samples if features[column][i] > threshold]))
    return [ways[i] for i in range(len(classes))]


def token_predictions(planes, side, step, forest):
    """The mean over trees of the leaves' values; forest: first, second, threshold, child, value, root."""
    first, second, threshold, child, value, root = forest
    rows = range(0, planes.shape[1] - side + 1, step)
    columns = range(0, planes.shape[2] - side + 1, step)
    answers = np.zeros((3, len(rows), len(columns)))
    for i, y in enumerate(rows):
        for j, x in enumerate(columns):
            for node in root:
                while child[node] != 0:
                    above = token_feature(planes, y, x, first[node], second[node]) > threshold[node]
                    node = child[node] + int(above)
                answers[:, i, j] += value[node] / len(root)
    return answers
