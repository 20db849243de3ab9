"""The outlines of labelled objects: equal to their definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import naive
from imtorque import _native

REACH, ANGLES = 9.0, 8
places = st.floats(-1, 9, width=32).map(lambda at: np.float32(at + 0.013))  # no ray passes between two pixels


@given(
    hnp.arrays(np.int32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 2)),
    st.lists(st.tuples(st.integers(1, 2), places, places), min_size=1, max_size=4),
)
def test_the_outline_of_a_label_lies_half_a_pixel_beyond_its_last_pixel_on_each_ray(labels, rays):
    number, y, x = (np.array(column, dtype) for column, dtype in zip(zip(*rays, strict=True), "iff", strict=True))
    comp = _native.label_outlines(labels, number, y, x, ANGLES, np.full(len(y), REACH, np.float32))
    ref = [naive.label_outline(labels == n, float(v), float(u), ANGLES, REACH) for n, v, u in rays]
    assert_array_equal(comp, ref)
