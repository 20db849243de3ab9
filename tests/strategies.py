"""Hypothesis strategies: edge fields, sizes, closed walks; and what tests of fields share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import imtorque
from imtorque import Edges, _native
from imtorque.core.patches import SHAPES

shapes = st.tuples(st.integers(1, 14), st.integers(1, 14))
forces = st.floats(-2, 2, width=32).map(lambda force: force if abs(force) > 1e-20 else 0.0)
odd_sizes = st.integers(0, 20).map(lambda h: 2 * h + 1)
size_lists = st.lists(odd_sizes, min_size=1, max_size=5, unique=True).map(sorted)
rectangles = st.tuples(odd_sizes, odd_sizes)
rectangle_lists = st.lists(rectangles, min_size=1, max_size=5, unique=True).map(
    lambda pairs: sorted(pairs, key=lambda p: p[0] * p[1])
)
alphas = st.sampled_from([0.5, 1.0, 1.5, 2.0])
patches = st.sampled_from(list(SHAPES))
named_patterns = st.sampled_from(["circle", "star", "spiral", "saddle", "saddle-diagonal"])
patterns = named_patterns | st.sampled_from([0, 0.5, -np.pi / 4, np.pi / 2, 2.4, -5, 7])


@st.composite
def edge_fields(draw):
    """Random forces: sparse or dense, of any size, or with all forces alike."""
    shape = draw(shapes)
    fill = draw(st.sampled_from([st.just(0.0), forces]))
    fx, fy = (draw(hnp.arrays(np.float32, shape, elements=forces, fill=fill)) for _ in range(2))
    scale = draw(st.sampled_from([1.0, 1e-3, 1e4]))
    return Edges(fx * np.float32(scale), fy * np.float32(scale))


@st.composite
def uneven_fields(draw):
    """Forces of very different strengths: a few tower above the others."""
    shape = draw(shapes)
    fx, fy = (draw(hnp.arrays(np.float32, shape, elements=forces, fill=st.just(0.0))) for _ in range(2))
    power = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 7), fill=st.just(0)))
    return Edges(fx * np.float32(10) ** power, fy * np.float32(10) ** power)


@st.composite
def exact_fields(draw):
    """Forces that fixed point holds exactly, as whole numbers do."""
    shape = draw(shapes)
    fx, fy = (draw(hnp.arrays(np.float32, shape, elements=st.integers(-3, 3).map(float))) for _ in range(2))
    return Edges(fx, fy)


@st.composite
def directed_fields(draw):
    """Unit forces of the paper's eight directions."""
    shape = draw(shapes)
    index = draw(hnp.arrays(np.int8, shape, elements=st.integers(-1, 7), fill=st.just(-1)))
    angle = index * np.pi / 4
    return Edges(np.where(index < 0, 0, np.cos(angle)).round(12), np.where(index < 0, 0, np.sin(angle)).round(12))


@st.composite
def closed_walks(draw):
    """A closed 4-connected walk: equally many steps E and W, N and S, in any order."""
    across, down = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    return draw(st.permutations("EW" * across + "NS" * down))


STEPS = {"E": (0, 1), "W": (0, -1), "S": (1, 0), "N": (-1, 0)}


def as_edges(walk):
    """One unit force per step, at the pixel it starts from; steps that share a pixel add up."""
    reach = len(walk)  # also of a walk that does not come back
    fx, fy = np.zeros((2 * reach + 1,) * 2), np.zeros((2 * reach + 1,) * 2)
    y = x = reach
    for step in walk:
        dy, dx = STEPS[step]
        fx[y, x] += dx
        fy[y, x] += dy
        y, x = y + dy, x + dx
    return Edges(fx, fy)


def enclosed_area(walk):
    """Shoelace formula in (x right, y down) axes."""
    total, y, x = 0, 0, 0
    for step in walk:
        dy, dx = STEPS[step]
        total += x * dy - y * dx
        y, x = y + dy, x + dx
    return total / 2


def rounded(edges):
    """The forces as the kernels see them."""
    steps = np.float32(edges.steps)
    return (np.rint(f * steps).astype(np.float64) / float(steps) for f in (edges.fx, edges.fy))


def largest_force(edges):
    return float(np.hypot(edges.fx, edges.fy).max())


def assert_same_on_every_path(everything):
    """The arrays are the same on one thread and on seven, without AVX-512, and without AVX2."""
    imtorque.set_num_threads(1)
    ref = everything()
    imtorque.set_num_threads(7)
    for a, b in zip(ref, everything(), strict=True):
        assert_array_equal(a, b)
    for allow in (_native.allow_avx512, _native.allow_avx2):
        allow(False)
        try:
            for a, b in zip(ref, everything(), strict=True):
                assert_array_equal(a, b)
        finally:
            allow(True)
