"""How finely forces are rounded, against the plain rule."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from imtorque import ForceStatistics

SIDES = st.integers(1, 400)


@st.composite
def statistics(draw):
    """Statistics of fields that need not exist: all that the choice looks at, over its whole range."""
    height, width = draw(SIDES), draw(SIDES)
    first = draw(st.integers(-110, 60))
    octaves = draw(st.dictionaries(st.integers(first, first + 60), st.integers(1, 2000), max_size=9))
    if not octaves:
        return ForceStatistics((0, 0, height, width), height * width, None, 0.0, 0, (), ())
    largest = math.ldexp(draw(st.sampled_from([1.0, 1.37, 1.9999999])), max(octaves))
    exponent = math.frexp(largest)[1]
    not_pell = tuple(sorted(draw(st.sets(st.integers(exponent - 1, exponent + 3), max_size=3))))
    grain = max(octaves) - draw(st.sampled_from([0, 5, 11, 12, 13, 23, 60]))
    extent = (0, 0, draw(st.integers(1, height)), draw(st.integers(1, width)))
    counts = tuple(sorted(octaves.items()))
    return ForceStatistics((0, 0, height, width), height * width, extent, largest, grain, not_pell, counts)


@given(statistics())
def test_steps_are_those_of_the_plain_rule(found):
    steps, finest = naive.field_steps(found)
    assert found.steps == steps
    np.testing.assert_allclose(found.finest_steps, finest, rtol=1e-14)
