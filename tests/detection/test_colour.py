"""Objects that stand out in a colour alone are found, and the plane they were found in is named."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skimage import data

from detection.scenes import discs, lattice, missed_and_extra
from imtorque import find_blobs
from imtorque.detection.click_sizes import clicked_diameters
from imtorque.detection.colour import object_plane
from imtorque.files import write_image
from imtorque.images import CheckedImage, grey_image

SHAPE = (240, 300)
PLACES = lattice(SHAPE, 60)
COVER = discs(SHAPE, PLACES, 26)


def noisy(*channels, level=0.01):
    planes = np.stack([np.broadcast_to(channel, SHAPE) for channel in channels], axis=-1)
    return planes + np.random.default_rng(0).normal(0, level, planes.shape)


def yellow_pills():
    return np.round(255 * noisy(0.92 - 0.02 * COVER, 0.92 - 0.03 * COVER, 0.92 - 0.6 * COVER)).astype(np.uint8)


def test_yellow_pills_on_white_are_found_in_blue():
    found = find_blobs(yellow_pills())
    assert missed_and_extra(found, PLACES, 26) == (0, 0)
    assert found.plane == found[:3].plane == "blue"
    assert np.median(found.contrast) == pytest.approx(-0.6 * 255, rel=0.1)
    assert np.median(found.intensity) == pytest.approx(0.32 * 255, rel=0.05)


def test_colours_of_equal_luminance_are_told_apart():
    found = find_blobs(noisy(0.5 + 0.2 * COVER, 0.5 - 0.06 * COVER, 0.5))
    assert missed_and_extra(found, PLACES, 26) == (0, 0)
    assert found.plane != "grey"


@pytest.mark.parametrize("image", [data.astronaut, data.immunohistochemistry, data.coffee, data.chelsea])
def test_photographs_stay_grey(image):
    assert object_plane(image())[1] == "grey"


@pytest.mark.parametrize(
    "image",
    [data.coins(), np.dstack([data.coins()] * 3), np.dstack([data.coins()] * 3 + [np.full((303, 384), 255, np.uint8)])],
    ids=["grey", "three equal channels", "with opacity"],
)
def test_a_grey_image_is_searched_as_it_is(image):
    used, name = object_plane(image)
    assert used is image
    assert name == "grey"


@pytest.mark.parametrize("channel", [0, 1, 2])
@pytest.mark.parametrize("other", ["flat", "noise", "other discs"])
def test_a_further_channel_never_loses_objects(channel, other):
    rng = np.random.default_rng(1)
    grey = 0.4 + 0.15 * COVER + rng.normal(0, 0.01, SHAPE)
    places = np.array(PLACES[::2]) + 30
    added = {
        "flat": np.full(SHAPE, 0.5),
        "noise": rng.uniform(0.2, 0.8, SHAPE),
        "other discs": 0.2 + 0.7 * discs(SHAPE, places, 14) + rng.normal(0, 0.01, SHAPE),
    }[other]
    image = np.stack([grey] * 3, axis=-1)
    image[..., channel] = added
    alone = missed_and_extra(find_blobs(grey_image(image)), PLACES, 26)[0]
    assert missed_and_extra(find_blobs(image), PLACES, 26)[0] <= alone


def test_an_informative_channel_beside_flat_ones_finds_what_it_finds_alone():
    grey = 0.4 + 0.15 * COVER + np.random.default_rng(1).normal(0, 0.01, SHAPE)
    for channel in range(3):
        image = np.full((*SHAPE, 3), 0.5)
        image[..., channel] = grey
        assert missed_and_extra(find_blobs(image), PLACES, 26) == (0, 0)


def test_what_grey_shows_is_not_given_up_for_a_clearer_channel():
    shown = discs(SHAPE, PLACES[::2], 26)
    image = noisy(0.4 + 0.2 * shown, 0.4 + 0.2 * shown, 0.1 + 0.8 * discs(SHAPE, PLACES[1::2], 26))
    found = find_blobs(image, sign=0)
    assert missed_and_extra(found, PLACES[::2], 26)[0] == 0


def test_the_plane_keeps_the_images_own_values():
    used, name = object_plane(yellow_pills())
    assert name == "blue"
    checked = CheckedImage(used)
    assert (checked.low, checked.high) == (0, 255)
    assert_array_equal(np.rint(checked.pixels[..., 0]), yellow_pills()[..., 2])


def test_clicks_on_coloured_objects_take_their_size():
    assert np.median(clicked_diameters(yellow_pills(), np.array(PLACES[:5]))) == pytest.approx(26, rel=0.1)


def test_count_names_the_colour(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from imtorque.cli import app

    monkeypatch.chdir(tmp_path)
    write_image("pills.png", yellow_pills())
    told = CliRunner().invoke(app, ["count", "pills.png", "--out", "out"])
    assert "found in blue" in told.output
    with open("out/counts.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["plane"], row["count"]) == ("blue", str(len(PLACES)))
