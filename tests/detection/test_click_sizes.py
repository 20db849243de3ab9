"""The sizes of clicked objects are those of the outlines found at the clicks, and a finder starts from these."""

import numpy as np
import pytest
from scipy import ndimage
from skimage import data, filters, measure, segmentation

from detection.scenes import capsule, discs, ellipse, lattice, missed_and_extra
from imtorque import ObjectFinder, find_blobs
from imtorque.detection.annotations import read_annotations
from imtorque.detection.click_sizes import clicked_diameters, outlined_clicks

SHAPE = (260, 300)
PLACES = lattice(SHAPE, 60)
TURNS = np.random.default_rng(6).uniform(0, np.pi, len(PLACES))


def on_a_dish(diameter):
    shape = (700, 700)
    places = [p for p in lattice(shape, 60) if np.hypot(p[0] - 350, p[1] - 350) < 270]
    dish = 0.25 * ndimage.gaussian_filter(discs(shape, [(350, 350)], 640), 2)
    return dish + 0.3 * discs(shape, places, diameter), places, diameter


def folds():
    y, x = np.indices(SHAPE)
    return 0.5 + 0.4 * np.sin(x / 19) * np.sin(y / 23)


def coins():
    """Return coins with the places and the diameter of each by a watershed of the gradient, without torque."""
    image = data.coins()
    markers = np.where(image < 30, 1, np.where(image > 150, 2, 0))
    solid = ndimage.binary_fill_holes(segmentation.watershed(filters.sobel(image), markers) == 2)
    regions = [r for r in measure.regionprops(ndimage.label(solid)[0]) if r.area > 300]
    return image / 255, [r.centroid for r in regions], np.array([r.equivalent_diameter_area for r in regions])


KINDS = {
    "discs": lambda: (0.3 + 0.4 * discs(SHAPE, PLACES, 24), PLACES, 24),
    "small discs": lambda: (0.7 - 0.4 * discs(SHAPE, PLACES, 9), PLACES, 9),
    "rings": lambda: (discs(SHAPE, PLACES, 40) - 0.9 * discs(SHAPE, PLACES, 22), PLACES, 40),
    "capsules": lambda: (
        sum(capsule(SHAPE, c, 12, 6, t) for c, t in zip(PLACES, TURNS, strict=True)),
        PLACES,
        np.sqrt((np.pi * 36 + 24 * 12) * 4 / np.pi),
    ),
    "ellipses": lambda: (
        1 - sum(ellipse(SHAPE, c, (21, 7), t) for c, t in zip(PLACES, TURNS, strict=True)),
        PLACES,
        2 * np.sqrt(21 * 7),
    ),
    "colonies of 6 pixels": lambda: on_a_dish(6),
    "colonies of 16 pixels": lambda: on_a_dish(16),
    "on folds": lambda: (folds() - 0.15 * discs(SHAPE, PLACES, 15), PLACES, 15),
    "on texture": lambda: (
        0.5 * discs(SHAPE, PLACES, 28) + ndimage.gaussian_filter(np.random.default_rng(1).normal(0, 0.6, SHAPE), 2),
        PLACES,
        28,
    ),
    "engraved": lambda: (
        discs(SHAPE, PLACES, 44) - 0.4 * sum(capsule(SHAPE, c, 9, 2, 0.4) for c in PLACES),
        PLACES,
        44,
    ),
    "coins": coins,
}


@pytest.mark.parametrize("count", [3, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_clicked_objects_is_theirs(kind, count):
    image, places, diameter = KINDS[kind]()
    rng = np.random.default_rng(count)
    clicked = rng.permutation(len(places))[:count]
    diameters = np.broadcast_to(diameter, len(places))[clicked]
    points = np.array(places)[clicked] + rng.uniform(-0.1, 0.1, (count, 2)) * diameters[:, None]
    noisy = image + rng.normal(0, 0.01, image.shape)
    assert np.median(clicked_diameters(noisy, points)) == pytest.approx(np.median(diameters), rel=0.15)


def test_clicks_take_the_outlines_found_at_them():
    image = 0.3 + 0.4 * discs(SHAPE, PLACES, 24)
    points = np.array([*PLACES[:3], (2.0, 2.0)])  # the last one on nothing
    outlined = outlined_clicks(image, read_annotations(points, SHAPE), 20)
    assert outlined.form == "labels"
    assert outlined.diameters[:3] == pytest.approx(24, rel=0.05)
    assert outlined.points[:3] == pytest.approx(points[:3], abs=0.5)
    assert outlined.boxes[:3, 2:] - outlined.boxes[:3, :2] == pytest.approx(25, abs=1.5)


@pytest.mark.slow
def test_a_finder_taught_by_clicks_finds_what_find_blobs_does_with_their_sizes():
    pytest.importorskip("sklearn")
    shape, places = (240, 280), lattice((240, 280), 48)
    ground = ndimage.gaussian_filter(np.random.default_rng(1).normal(0, 0.4, shape), 2)
    image = 0.5 * discs(shape, places, 26) + ground
    finder = ObjectFinder().fit([image], [np.array(places[:8])], complete=False)
    new = 0.5 * discs(shape, places, 26) + ground[::-1, ::-1]
    missed, extra = missed_and_extra(find_blobs(new, sizes=finder.diameters[::2]), places, 26)
    assert sum(missed_and_extra(finder.predict(new), places, 26)) <= missed + extra


def test_given_sizes_override_those_of_the_clicks():
    pytest.importorskip("sklearn")
    image = 0.3 + 0.4 * discs(SHAPE, PLACES, 24)
    teach = ObjectFinder([("threshold",)]).fit
    assert teach([image], [np.array(PLACES[:6])], complete=False).diameters[1] == pytest.approx(24, rel=0.1)
    given = teach([image], [np.array(PLACES[:6])], complete=False, sizes=(16, 36))
    assert given.diameters == pytest.approx((16, 24, 36))


@pytest.mark.parametrize("sizes", [(20, 10), (1, 10), (10, np.inf)])
def test_sizes_that_are_no_range_are_refused(sizes):
    with pytest.raises(ValueError, match="smallest <= largest"):
        ObjectFinder().fit([np.zeros(SHAPE)], [np.array(PLACES)], sizes=sizes)
