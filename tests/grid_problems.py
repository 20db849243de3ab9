"""Random problems for graph cuts, and their numbers without rounding."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive


@st.composite
def grids(draw, most=6, values=None):
    """Capacities of a random grid: four or eight neighbours, plain or closed along one axis."""
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    wrap, diagonal = draw(st.sampled_from([None, 0, 1])), draw(st.booleans())
    across, along = height - (wrap != 0), width - (wrap != 1)
    values = st.integers(0, 9) if values is None else values

    def plane(shape):
        return draw(hnp.arrays(np.float64, shape, elements=values, fill=st.nothing()))

    links = {"right": plane((height, along)), "down": plane((across, width)), "wrap": wrap}
    if diagonal:
        links |= {"down_right": plane((across, along)), "down_left": plane((across, along))}
    return plane((height, width)), plane((height, width)), links


wide = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, np.inf]),
    st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1, 9.9), st.integers(-300, 298)),
)


def exactly(source, sink, listed):
    """The same capacities as whole numbers."""
    planes = [[[naive.in_units(value) for value in row] for row in plane] for plane in (source, sink)]
    return (*planes, [(p, q, naive.in_units(capacity)) for p, q, capacity in listed])
