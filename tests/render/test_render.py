"""Results as images of the image's own resolution."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque import Edges
from imtorque.images import CheckedImage
from imtorque.render.torque import edge_image, scale_image, value_image


def test_positive_torque_is_red_negative_blue_and_zero_white():
    red, white, blue = value_image(np.float32([[0.5, 0, -0.5]]), limit=1.0)[0].astype(int)
    assert red[0] > red[2] + 50
    assert blue[2] > blue[0] + 50
    assert white.min() > 240


def test_no_torque_has_no_scale_and_is_black():
    image = scale_image(np.int32([[9, 0, -9, 3]]))[0].astype(int)
    assert_array_equal(image[1], 0)
    assert image[0].sum() > image[3].sum()
    assert image[0][0] > image[0][2]
    assert image[2][2] > image[2][0]


def test_a_map_of_nothing_is_drawn():
    assert_array_equal(np.unique(value_image(np.zeros((2, 3), np.float32))), [247])
    assert_array_equal(edge_image(Edges(np.zeros((2, 3)), np.zeros((2, 3)))), 0)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (np.uint8([[3, 200]]), [3, 200]),
        (np.array([[False, True]]), [0, 255]),
        (np.uint16([[0, 4095]]), [0, 255]),
        (np.array([[-2.0, 8.0]]), [0, 255]),
        (np.array([[4.0, 255.0]]), [4, 255]),
        (np.uint8([[[90, 90, 90, 0], [90, 90, 90, 255]]]), [255, 90]),
    ],
)
def test_an_image_is_shown_in_bytes(image, expected):
    shown = CheckedImage(image).as_bytes()
    assert shown.shape == (1, 2, 3)
    assert_array_equal(shown[0, :, 1], expected)
