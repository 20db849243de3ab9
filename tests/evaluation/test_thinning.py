"""Thinning is MATLAB's bwmorph(..., 'thin', Inf); these are cases whose answer there is known."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skimage.morphology import thin as skimage_thin

from imtorque.evaluation import thin_boundary


def image(text):
    return np.array([[c == "#" for c in line] for line in text.split()])


def test_a_filled_rectangle_becomes_its_middle_line():
    # The example of MATLAB's documented algorithm that scikit-image's documentation also shows.
    before = image(".#..... ..###.. ..###.. ..###.. ..###.. ..###.. .......")
    after = image(".#..... ..#.... ...#... ...#... ...#... ....... .......")
    assert_array_equal(thin_boundary(before), after)


@pytest.mark.parametrize("lines", ["#", "##", "#. .#", "..... .###. ..... .....", "#.. .#. ..#"])
def test_a_line_one_pixel_wide_stays(lines):
    assert_array_equal(thin_boundary(image(lines)), image(lines))


def test_a_ring_stays_a_ring():
    y, x = np.mgrid[-15:16, -15:16]
    ring = (np.hypot(y, x) < 13) & (np.hypot(y, x) > 8)
    thinned = thin_boundary(ring)
    assert 50 < thinned.sum() < 80
    assert not thinned[15, 15]
    assert_array_equal(thin_boundary(thinned), thinned)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_published_tables_of_scikit_image(seed):
    rng = np.random.default_rng(seed)
    noise = rng.random((70, 90)) < rng.uniform(0.2, 0.8)
    assert_array_equal(thin_boundary(noise), skimage_thin(noise))


def test_refuses_what_is_no_binary_map():
    with pytest.raises(ValueError, match="boundary must hold only 0 and 1, got values from 0 to 7"):
        thin_boundary(np.array([[0, 7]]))
    with pytest.raises(ValueError, match=r"must have shape \(H, W\) and not be empty, got \(3,\)"):
        thin_boundary(np.zeros(3))
