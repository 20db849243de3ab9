"""The registry of saliency maps, and what draws its choices from it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.saliency import METHODS, SaliencyMethod, blend_saliency, saliency_map, torque_saliency
from imtorque.saliency.registry import AVERAGED, gbvs_torque_blend
from imtorque.synthetic import scene

IMAGE = scene("disc", (48, 64))


@pytest.mark.parametrize("name", METHODS)
def test_every_map_has_the_shape_of_its_image_and_a_range_of_1(name):
    saliency = saliency_map(IMAGE, name)
    assert saliency.shape == IMAGE.shape
    assert (saliency.min(), saliency.max()) == (0, 1)


@pytest.mark.parametrize(("name", "method"), METHODS.items())
def test_images_as_small_as_a_map_says_are_enough(name, method):
    side = method.smallest_side
    saliency_map(np.eye(side), name)
    if side > 1:
        with pytest.raises(ValueError, match=f"at least {side} pixels"):
            saliency_map(np.eye(side - 1), name)


def test_the_share_is_that_of_torque_in_the_blend():
    assert_array_equal(saliency_map(IMAGE, share=1.0), torque_saliency(IMAGE))
    assert_array_equal(saliency_map(IMAGE, share=0.4), gbvs_torque_blend(IMAGE))


def test_the_mean_gives_all_its_maps_one_weight():
    expected = blend_saliency([saliency_map(IMAGE, name) for name in AVERAGED], [1] * len(AVERAGED))
    assert_array_equal(saliency_map(IMAGE, "mean"), expected)


def test_a_map_that_is_registered_can_be_asked_for(monkeypatch):
    monkeypatch.setitem(METHODS, "darkness", SaliencyMethod("Darkness", lambda image: 1 - np.asarray(image)))
    assert_array_equal(saliency_map(IMAGE, "darkness"), 1 - IMAGE)


def test_unknown_maps_are_refused():
    with pytest.raises(ValueError, match=r"method must be one of blend, torque, .*, got 'beauty'"):
        saliency_map(IMAGE, "beauty")


def test_the_command_line_offers_every_map():
    refused = CliRunner().invoke(app, ["saliency", "sample:shapes", "--method", "beauty"])
    assert refused.exit_code == 2
    assert all(f"'{name}'" in refused.stderr for name in METHODS)
