"""The registry of patch shapes, against the definitions of their areas and against the names that are typed."""

from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose

from imtorque.core.patches import SHAPES, Patch, patch_shape


def test_every_shape_that_is_typed_is_registered_under_its_name():
    assert [(name, shape.name) for name, shape in SHAPES.items()] == [(name, name) for name in get_args(Patch)]


def test_shapes_have_codes_of_their_own():
    assert sorted(shape.code for shape in SHAPES.values()) == list(range(len(SHAPES)))


@pytest.mark.parametrize("patch", SHAPES)
def test_the_area_at_alpha_2_is_about_the_number_of_pixels(patch):
    sides = np.array([41, 101])
    y, x = np.ogrid[-50:51, -50:51]
    inside = [
        {"square": np.maximum(abs(y), abs(x)) <= side // 2, "disk": y**2 + x**2 <= (side // 2) ** 2}[patch]
        for side in sides
    ]
    assert_allclose(SHAPES[patch].area(sides, sides, 2.0), [pixels.sum() for pixels in inside], rtol=0.01)


@pytest.mark.parametrize("patch", SHAPES)
def test_rectangles_are_refused_where_a_shape_has_none(patch):
    pairs = np.array([[3, 5]])
    if SHAPES[patch].rectangles:
        assert patch_shape(patch, pairs) is SHAPES[patch]
    else:
        with pytest.raises(ValueError, match=rf"a {patch} has one size, got \(height, width\) pairs"):
            patch_shape(patch, pairs)
