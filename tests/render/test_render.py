"""Results as images of the image's own resolution."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque import Edges, Extrema
from imtorque.images import CheckedImage
from imtorque.render.torque import blob_image, edge_image, scale_image, value_image


def one(y=5, x=6, size=5, value=1.0):
    return Extrema([y], [x], [size], [value])


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


@pytest.mark.parametrize("blob", [one(0, 0, 9), one(11, 13, 1), one(5, 6, 99, -1.0)])
def test_blobs_at_and_beyond_the_border_are_drawn(blob):
    drawn = blob_image(np.zeros((12, 14), np.uint8), blob)
    assert drawn.shape == (12 * 16, 14 * 16, 3)
    assert drawn.max() > 100


def test_bright_and_dark_blobs_differ_in_line_as_well_as_colour():
    ground = np.full((60, 60), 0.5)
    solid, dashed = (blob_image(ground, one(30, 30, 31, value)) for value in (1.0, -1.0))
    coloured = [np.count_nonzero(np.ptp(image.astype(int), axis=2) > 60) for image in (solid, dashed)]
    assert coloured[1] < 0.75 * coloured[0]


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
