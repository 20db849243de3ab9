"""A range of sizes helps or does nothing: what is found without it and has the size is found with it, nothing else."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage import data

from detection.scenes import capsule, discs, ellipse, lattice, missed_and_extra
from imtorque import find_blobs

SHAPE = (220, 260)


def textured(shape, seed):
    """Smooth random ground, about 4 pixels from crest to crest."""
    ground = ndimage.gaussian_filter(np.random.default_rng(seed).normal(0, 1, shape), 2)
    return ground / ground.std()


def draw_discs():
    return 0.3 + 0.4 * discs(SHAPE, lattice(SHAPE, 50), 25)


def draw_capsules():
    rng = np.random.default_rng(1)
    return 0.8 - 0.5 * sum(capsule(SHAPE, c, 12, 8, rng.uniform(0, np.pi)) for c in lattice(SHAPE, 55))


def draw_ellipses():
    rng = np.random.default_rng(2)
    return 0.2 + 0.5 * sum(ellipse(SHAPE, c, (21, 7), rng.uniform(0, np.pi)) for c in lattice(SHAPE, 52))


def draw_rings():
    places = lattice(SHAPE, 60)
    return 0.3 + 0.5 * (discs(SHAPE, places, 40) - 0.9 * discs(SHAPE, places, 24))


def draw_engraved_pills():
    places = lattice(SHAPE, 70)
    return 0.8 - 0.5 * discs(SHAPE, places, 50) + 0.2 * sum(capsule(SHAPE, c, 10, 2, 0.3) for c in places)


def draw_texture():
    return 0.4 + 0.4 * discs(SHAPE, lattice(SHAPE, 52), 27) + 0.05 * textured(SHAPE, 3)


def draw_mixed():
    rng = np.random.default_rng(4)
    places = lattice(SHAPE, 62)
    return 0.3 + 0.4 * sum(discs(SHAPE, [c], rng.uniform(14, 44)) for c in places)


IMAGES = {
    draw.__name__: draw
    for draw in (draw_discs, draw_capsules, draw_ellipses, draw_rings, draw_engraved_pills, draw_texture, draw_mixed)
} | {
    "coins": data.coins,
    "part of coins": lambda: data.coins()[20:200, 10:250],
    "nuclei": lambda: data.immunohistochemistry()[:200, :240],
    "cell": lambda: data.cell()[::3, ::3],
    "camera": lambda: data.camera()[::2, ::2],
    "page": data.page,
}


@cache
def image_of(name):
    image = IMAGES[name]()
    noise = np.random.default_rng(0).normal(0, 0.01, image.shape)
    return image + noise if name.startswith("draw") else image


@cache
def found_without(name):
    return find_blobs(image_of(name))


def held(objects, others):
    """Which objects have another of about their place and size."""
    far = np.hypot(objects.y[:, None] - others.y, objects.x[:, None] - others.x)
    alike = np.abs(np.log(objects.diameter[:, None] / others.diameter)) < 0.1
    return ((far < 0.2 * objects.diameter[:, None]) & alike).any(axis=1)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(IMAGES)), st.floats(0, 1), st.floats(1.05, 3), st.floats(1.05, 3))
def test_a_range_finds_what_is_found_without_it_and_nothing_outside(name, quantile, below, above):
    default = found_without(name)
    middle = float(np.quantile(default.diameter, quantile))
    sizes = (max(3.0, middle / below), middle * above)
    found = find_blobs(image_of(name), sizes=sizes)
    inside = default[(default.diameter >= sizes[0]) & (default.diameter <= sizes[1])]
    assert held(inside, found).all()
    assert np.all((found.diameter >= sizes[0]) & (found.diameter <= sizes[1]))


@pytest.mark.parametrize("name", ["draw_discs", "draw_capsules", "draw_ellipses", "draw_rings", "draw_engraved_pills"])
def test_objects_are_found_in_ranges_close_around_them(name):
    middle = float(np.median(found_without(name).diameter))
    counts = [len(find_blobs(image_of(name), sizes=(middle / r, middle * r))) for r in (1.08, 1.3, 1.8)]
    assert counts == [len(found_without(name))] * 3


def test_objects_smaller_than_the_range_are_left_out():
    image = 0.3 + 0.4 * discs(SHAPE, lattice(SHAPE, 60), 36)
    assert len(find_blobs(image, sizes=(45, 60))) == 0


@pytest.mark.parametrize("diameter", [6, 8])
def test_a_range_reaches_below_the_usual_sizes(diameter):
    places = lattice((900, 900), 75)
    image = 0.3 + 0.4 * discs((900, 900), places, diameter) + np.random.default_rng(0).normal(0, 0.02, (900, 900))
    found = find_blobs(image, sizes=(0.6 * diameter, 1.6 * diameter))
    assert missed_and_extra(found, places, diameter) == (0, 0)


def test_a_range_reaches_above_the_usual_sizes():
    image = 0.3 + 0.4 * discs((200, 200), [(100, 100)], 140)
    assert len(find_blobs(image, sizes=(110, 180))) == 1


def two_sizes(first, second):
    """Discs of two diameters, in turns, and others dark."""
    places = lattice((300, 420), 60)
    drawn = [discs((300, 420), places[k::3], d) for k, d in enumerate((first, second, 18))]
    return 0.5 + 0.3 * (drawn[0] + drawn[1]) - 0.3 * drawn[2] + np.random.default_rng(0).normal(0, 0.01, (300, 420))


def test_objects_alike_just_beyond_the_range_are_told():
    image = two_sizes(20, 30)
    found = find_blobs(image, sizes=(25, 40))
    given, both = found.size_ranges
    assert given == (25, 40, len(found))
    assert both.smallest < 20 < 30 < both.largest
    assert both.objects == len(lattice((300, 420), 60)[::3])
    assert len(find_blobs(image, sizes=(16, 40)).size_ranges) == 0


def test_an_image_of_few_large_and_many_small_objects_is_torn():
    shape, small = (500, 600), lattice((500, 300), 40)
    image = 0.3 + 0.4 * discs(shape, [(130, 450), (370, 450)], 180) + 0.4 * discs(shape, small, 12)
    taken, other = find_blobs(image + np.random.default_rng(0).normal(0, 0.01, shape)).size_ranges
    assert taken.smallest < 180 < taken.largest
    assert other.smallest < 12 < other.largest
    assert other.objects == len(small)
