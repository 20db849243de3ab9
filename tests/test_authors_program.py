"""Our numbers beside those that the authors' own program computed (tests/reference/README.md)."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import Edges, Extrema, contribution_map, find_extrema, torque_volume, value_and_scale_maps
from imtorque.paper import value_map_extrema

HALF = np.sqrt(0.5)
# Forces of its directions, from no edge to a gradient to the north-west.
FX = np.array([0, 1, HALF, 0, -HALF, -1, -HALF, 0, HALF])
FY = np.array([0, 0, HALF, 1, HALF, 0, -HALF, -1, -HALF])
ROUNDING = 2e-7  # of torque: what two programs may differ by
SIGNS = {"maxima": 1, "minima": -1}


@pytest.fixture(scope="module")
def theirs():
    with np.load(Path(__file__).parent / "reference" / "authors_program.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def edges(theirs):
    return Edges(FX[theirs["direction"]], FY[theirs["direction"]])


@pytest.fixture(scope="module")
def volume(edges, theirs):
    return torque_volume(edges, theirs["sizes"])


def cropped(array, theirs):
    top, bottom, left, right = theirs["crop"]
    return array[..., top:bottom, left:right]


def listed(theirs, name):
    y, x, size = theirs[name].astype(np.int64).T
    return Extrema(y - 1, x - 1, size, (SIGNS[name] * theirs[f"{name}_value"]).astype(np.float32))


def is_tied(volume, y, x, size):
    """Whether a neighbour of a cross is as strong up to rounding, so that either program may go either way."""
    k = int(np.searchsorted(volume.sizes, size))
    own = volume.tau[k, y, x]
    beside = [volume.tau[k - 1, y, x], volume.tau[k + 1, y, x]]
    for d in (-3, -2, -1, 1, 2, 3):
        beside += [volume.tau[k, y + d, x], volume.tau[k, y, x + d]]
    return bool(np.min(np.abs(np.array(beside) - own)) <= ROUNDING)


def test_the_torque_is_theirs(volume, theirs):
    for size in (3, 11, 21, 45):
        k = int(np.searchsorted(volume.sizes, size))
        assert_allclose(cropped(volume.tau[k], theirs), theirs[f"torque_{size}"], rtol=0, atol=ROUNDING)


def test_the_value_and_scale_maps_are_theirs_off_ties(edges, volume, theirs):
    value, scale = value_and_scale_maps(edges, theirs["sizes"])
    strengths = np.sort(np.abs(cropped(volume.tau, theirs)), axis=0)
    alone = strengths[-1] - strengths[-2] > ROUNDING
    assert alone.mean() > 0.99
    assert_allclose(cropped(value, theirs)[alone], theirs["value"][alone], rtol=0, atol=ROUNDING)
    assert_array_equal(cropped(scale, theirs)[alone], theirs["scale"][alone])


@pytest.mark.parametrize("name", SIGNS)
def test_the_extrema_are_theirs_off_ties(edges, volume, theirs, name):
    ref = listed(theirs, name)
    comp = find_extrema(edges, theirs["sizes"], sign=SIGNS[name], neighbourhood="cross", end_scales=False, inside=True)
    places = {(y, x, size): value for y, x, size, value in zip(comp.y, comp.x, comp.size, comp.value, strict=True)}
    theirs_too = set(zip(ref.y, ref.x, ref.size, strict=True))
    for y, x, size, value in zip(ref.y, ref.x, ref.size, ref.value, strict=True):
        if (y, x, size) in places:
            assert_allclose(places[y, x, size], value, rtol=0, atol=ROUNDING)
        else:
            assert is_tied(volume, y, x, size)
    weakest = np.abs(ref.value[-1])
    more = [p for p, value in places.items() if abs(value) > weakest + ROUNDING and p not in theirs_too]
    assert more == []
    assert len(theirs_too & places.keys()) > 0.98 * len(ref)


@pytest.mark.parametrize("name", SIGNS)
def test_the_contributions_are_theirs(edges, theirs, name):
    votes = contribution_map(edges, listed(theirs, name), weight="area")
    ref = SIGNS[name] * theirs[f"contribution_{name}"]
    assert_allclose(cropped(votes, theirs), ref, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", SIGNS)
def test_the_extrema_of_the_value_map_are_theirs_off_ties_and_borders(edges, theirs, name):
    comp = value_map_extrema(edges)
    comp = comp[comp.value * SIGNS[name] > 0]
    y, x, _ = theirs[f"value_map_{name}"].T.astype(np.int64) - 1
    value = value_and_scale_maps(edges, theirs["sizes"])[0]
    margin = 5

    def inner(ys, xs):
        height, width = value.shape
        return {
            (int(v), int(u))
            for v, u in zip(ys, xs, strict=True)
            if margin <= v < height - margin and margin <= u < width - margin
        }

    found, ref = inner(comp.y, comp.x), inner(y, x)
    assert found - ref == set()
    assert len(found) > 0.98 * len(ref)
    for v, u in ref - found:
        window = value[v - 5 : v + 6, u - 5 : u + 6]
        assert np.count_nonzero(np.abs(window - value[v, u]) <= ROUNDING) > 1
