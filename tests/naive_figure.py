"""Plain twins of what the best figure is chosen by: slow, pixel by pixel."""

import math

import numpy as np

from imtorque.segmentation.appearance import log_likelihood_ratios, word_counts
from imtorque.segmentation.colour_cut import CLICK_RADIUS, LINK_COST, MAX_LOG_RATIO, ROUNDS
from imtorque.segmentation.figure_features import CLOSED_EDGE, RING_WIDTH
from naive import minimum_cut


def neighbours(y, x):
    return [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]


def colour_cut(level, box, hints):
    """Cut on all pixels of the level, of which those outside of the box are ground."""
    height, width = level.shape
    everywhere = [(y, x) for y in range(height) for x in range(width)]
    may = {p for p in everywhere if allowed(p, box, hints, level.shape)} | set(hints.on)
    on = {p for p in may if any(math.dist(p, click) <= CLICK_RADIUS for click in hints.on)}
    off = set(hints.off) - on
    figure = may - off
    for _ in range(ROUNDS):
        counts = word_counts(np.array([level.words[p] for p in figure]))
        ratios = np.clip(
            log_likelihood_ratios(counts, word_counts(level.words) - counts), -MAX_LOG_RATIO, MAX_LOG_RATIO
        )
        source, sink = np.zeros(level.shape), np.zeros(level.shape)
        for p in everywhere:
            value = ratios[level.words[p]]
            source[p] = 1e6 if p in on else max(value, 0) * (p in may and p not in off)
            sink[p] = 0 if p in on else max(-value, 0) if p in may and p not in off else 1e6
        cut, _ = minimum_cut(source, sink, links(level))
        figure = together({p for p in everywhere if cut[p]}, on)
    filled = set(everywhere) - outer(figure, level.shape)
    return np.array([[(y, x) in filled for x in range(width)] for y in range(height)])


def allowed(pixel, box, hints, shape):
    """Whether a pixel may be figure: within both boxes, and off the rim where those are the whole image."""
    boxes = [box] if hints.box is None else [box, hints.box]
    top, left = (max(0, *(round(b[k]) for b in boxes)) for k in (0, 1))
    bottom, right = (min(shape[k], *(round(b[k + 2]) for b in boxes)) for k in (0, 1))
    if (top, left, bottom, right) == (0, 0, *shape):
        top, left, bottom, right = 1, 1, shape[0] - 1, shape[1] - 1
    top, left = min(top, hints.on[0][0]), min(left, hints.on[0][1])
    bottom, right = max(bottom, hints.on[0][0] + 1), max(right, hints.on[0][1] + 1)
    return top <= pixel[0] < bottom and left <= pixel[1] < right


def links(level):
    height, width = level.shape
    right = [((y, x), (y, x + 1), LINK_COST * level.right[y, x]) for y in range(height) for x in range(width - 1)]
    return right + [((y, x), (y + 1, x), LINK_COST * level.down[y, x]) for y in range(height - 1) for x in range(width)]


def together(pixels, seeds):
    """The pixels that hang together with a seed."""
    found, waiting = set(), [seed for seed in seeds if seed in pixels]
    while waiting:
        pixel = waiting.pop()
        if pixel not in found:
            found.add(pixel)
            waiting += [other for other in neighbours(*pixel) if other in pixels]
    return found


def outer(figure, shape):
    """The pixels from which the image's border can be reached outside of the figure."""
    ground = {(y, x) for y in range(-1, shape[0] + 1) for x in range(-1, shape[1] + 1)} - figure
    return together(ground, [(-1, -1)])


def measures(view, cuts):
    """Some measures of every cut, from their definitions."""
    sets = [{(int(y), int(x)) for y, x in zip(*np.nonzero(cut), strict=True)} for cut in cuts]
    return [one_cut(view, own, sets) for own in sets]


def one_cut(view, own, sets):
    height, width = view.shape
    everywhere = {(y, x) for y in range(height) for x in range(width)}
    rim = [p for p in own if any(other not in own for other in neighbours(*p))]
    free = [(y, x) for y, x in rim if 0 < y < height - 1 and 0 < x < width - 1]
    reach = max(1, int(RING_WIDTH * math.sqrt(len(own))))
    ring = [
        (y, x)
        for y, x in everywhere - own
        if any((a, b) in own for a in range(y - reach, y + reach + 1) for b in range(x - reach, x + reach + 1))
    ]
    top, bottom = min(y for y, _ in own), max(y for y, _ in own)
    left, right = min(x for _, x in own), max(x for _, x in own)
    middle = np.mean(sorted(own), axis=0)
    strongest = [view.edges[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2].max() for y, x in free]
    return {
        "area": math.log(len(own) / (height * width)),
        "overlap": np.mean([len(own & other) / len(own | other) for other in sets]),
        "votes": np.mean([len(own & other) / len(own) for other in sets]),
        "border": 1 - len(free) / len(rim),
        "edges": np.mean(strongest),
        "edges_closed": np.mean([strength > CLOSED_EDGE for strength in strongest]),
        "fill": len(own) / ((bottom - top + 1) * (right - left + 1)),
        "click_offset": math.dist(middle, view.fixation) / math.sqrt(len(own)),
        "contrast": chi_squared(shares(view, own), shares(view, everywhere - own)),
        "ring_contrast": chi_squared(shares(view, own), shares(view, ring)),
    }


def shares(view, pixels):
    words = [int(view.levels[1].words[p]) for p in pixels]
    return {word: words.count(word) / len(words) for word in set(words)}


def chi_squared(a, b):
    words = set(a) | set(b)
    return 0.5 * sum((a.get(w, 0) - b.get(w, 0)) ** 2 / (a.get(w, 0) + b.get(w, 0)) for w in words)
