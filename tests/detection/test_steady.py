"""Without sizes: what `find_blobs` finds stays when the image is turned, cut, framed, enlarged, or an object copied."""

from functools import cache

import numpy as np
import pytest
from scipy import ndimage
from skimage import data

from detection.scenes import capsule, ellipse, missed_and_extra, scattered
from imtorque import find_blobs

CLEAR = 0.8  # score of objects that the docstring promises to keep
PHOTOGRAPHS = (
    "astronaut", "brick", "camera", "cell", "chelsea", "clock", "coffee", "coins", "immunohistochemistry",
    "microaneurysms", "moon", "page", "text",
)  # fmt: skip
# The image changed, where a place of the image of this shape is then, and by how much it is larger.
CHANGES = {
    "mirror": (lambda a: a[:, ::-1], lambda y, x, shape: (y, shape[1] - 1 - x), 1),
    "turn": (np.rot90, lambda y, x, shape: (shape[1] - 1 - x, y), 1),
    "crop": (lambda a: a[1:-1, 1:-1], lambda y, x, _: (y - 1, x - 1), 1),
    "wide crop": (lambda a: a[8:-8, 8:-8], lambda y, x, _: (y - 8, x - 8), 1),
    "margin": (lambda a: framed(a, 20), lambda y, x, _: (y + 20, x + 20), 1),
    "wide margin": (lambda a: framed(a, 50), lambda y, x, _: (y + 50, x + 50), 1),
    "double": (lambda a: a.repeat(2, 0).repeat(2, 1), lambda y, x, _: (2 * y + 0.5, 2 * x + 0.5), 2),
}


def framed(image, width):
    return np.pad(image, [(width, width)] * 2 + [(0, 0)] * (image.ndim - 2), constant_values=int(np.median(image)))


@cache
def clear_objects(name):
    image = getattr(data, name)()
    found = find_blobs(image)
    return image, found[found.score >= CLEAR]


def kept(name, change):
    """Which clear objects of a photograph are found in the changed one; of those that lie in it."""
    image, objects = clear_objects(name)
    alter, place, factor = CHANGES[change]
    changed = np.ascontiguousarray(alter(image))
    y, x = place(objects.y, objects.x, image.shape)
    inside = (y >= 0) & (x >= 0) & (y < changed.shape[0]) & (x < changed.shape[1])
    found, wanted = find_blobs(changed), factor * objects.diameter
    near = np.hypot(found.y[:, None] - y, found.x[:, None] - x) <= wanted / 4
    alike = np.abs(np.log(found.diameter[:, None] / wanted)) < np.log(1.5)
    return (near & alike).any(axis=0)[inside]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_clear_objects_of_photographs_are_kept(change):
    assert np.concatenate([kept(name, change) for name in PHOTOGRAPHS]).mean() >= 0.88


def with_copy(image, objects, number, rng):
    """Return the image with a copy of an object in an empty place, and that place; None where there is no room."""
    reach = int(0.5 * max(objects.major[number], objects.diameter[number])) + 4
    y, x = (round(float(place[number])) for place in (objects.y, objects.x))
    room = np.pad(find_blobs(image).labels == 0, 1)
    places = np.argwhere(ndimage.distance_transform_edt(room)[1:-1, 1:-1] > reach)
    near_rim = min(y, x, image.shape[0] - 1 - y, image.shape[1] - 1 - x) < reach
    if near_rim or not len(places):
        return None
    v, u = places[rng.integers(len(places))]
    away = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1])
    share = np.clip((reach - away) / 3, 0, 1)
    copied = image.astype(float)
    here, there = (copied[b - reach : b + reach + 1, a - reach : a + reach + 1] for b, a in ((y, x), (v, u)))
    rim = (away > reach - 2) & (away <= reach)
    there += share * (here - np.median(here[rim]) + np.median(there[rim]) - there)
    return copied.clip(0, 255).astype(np.uint8), (v, u)


@pytest.mark.parametrize("name", ["coins", "moon", "cell"])
def test_a_clear_object_copied_elsewhere_is_found(name):
    image, objects = clear_objects(name)
    rng = np.random.default_rng(0)
    copies = [with_copy(image, objects, number, rng) for number in range(min(len(objects), 3))]
    tried = [(number, *copy) for number, copy in enumerate(copies) if copy is not None]
    assert tried
    for number, copied, (y, x) in tried:
        found = find_blobs(copied)
        assert np.hypot(found.y - y, found.x - x).min() < objects.diameter[number] / 4


SHAPES = {
    "discs": lambda shape, centre, turn: ellipse(shape, centre, (9, 9), turn),
    "ellipses": lambda shape, centre, turn: ellipse(shape, centre, (18, 6), turn),
    "capsules": lambda shape, centre, turn: capsule(shape, centre, 14, 5, turn),
    "rings": lambda shape, centre, _: ellipse(shape, centre, (13, 13)) - 0.9 * ellipse(shape, centre, (6, 6)),
}


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("kind", SHAPES)
def test_equal_objects_are_all_found_or_none(kind, noise):
    image, centres = scattered((300, 400), 30, SHAPES[kind], 21)
    found = find_blobs(0.3 + 0.4 * image + np.random.default_rng(1).normal(0, 0.4 * noise, image.shape))
    assert missed_and_extra(found, centres, 18) == (0, 0)
