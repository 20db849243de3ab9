"""Kernels of the learned finder: equal to their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import naive
from imtorque import _native
from imtorque.detection.filters import smoothed
from imtorque.detection.forest import grow_forest
from imtorque.detection.region_proposals import without_holes
from imtorque.detection.selection import select_set

SHAPE = (12, 14)


@st.composite
def outlines(draw, most=5, angles=8):
    count = draw(st.integers(1, most))
    numbers = st.floats(-2, 15, width=32)
    y, x = (draw(hnp.arrays(np.float32, count, elements=numbers)) for _ in range(2))
    radii = draw(hnp.arrays(np.float32, (count, angles), elements=st.floats(0.5, 8, width=32)))
    return y + np.float32(0.013), x + np.float32(0.017), radii


@given(outlines())
def test_outlines_hold_the_pixels_whose_centres_lie_in_them(given_outlines):
    y, x, radii = given_outlines
    shapes = _native.outline_shapes(y, x, radii, *SHAPE)
    for i in range(len(y)):
        painted = _native.paint_outlines(y[i : i + 1], x[i : i + 1], radii[i : i + 1], *SHAPE) > 0
        expected = naive.outline_pixels(float(y[i]), float(x[i]), radii[i].astype(float), SHAPE)
        assert (painted != expected).sum() <= 1  # a side may pass a pixel's centre within rounding
        assert shapes[i, 0] == painted.sum()
        if painted.any():
            rows, columns = np.nonzero(painted)
            assert_allclose(shapes[i, 1:3], [rows.mean(), columns.mean()])
            assert_array_equal(shapes[i, 3:7], [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1])
            assert_allclose(
                shapes[i, 7:], [rows.var(), columns.var(), np.mean((rows - rows.mean()) * columns)], atol=1e-9
            )


@given(outlines())
def test_overlaps_are_the_pixels_that_two_outlines_share(given_outlines):
    y, x, radii = given_outlines
    masks = [_native.paint_outlines(y[i : i + 1], x[i : i + 1], radii[i : i + 1], *SHAPE) > 0 for i in range(len(y))]
    first, second, common = _native.outline_overlaps(y, x, radii, *SHAPE, 0.0)
    found = {(int(a), int(b)): int(c) for a, b, c in zip(first, second, common, strict=True)}
    pairs = [(i, j) for i in range(len(y)) for j in range(i + 1, len(y))]
    assert found == {(i, j): int((masks[i] & masks[j]).sum()) for i, j in pairs if (masks[i] & masks[j]).any()}


@given(
    hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7), elements=st.integers(0, 4))
)
def test_extremal_regions_are_the_components_at_all_levels(image):
    _, _, _, area, _, level = _native.extremal_regions(image, 1, image.size, 1.0, 8)
    expected = sorted(len(region) for region in naive.extremal_regions(image, 1, image.size))
    assert sorted(area.tolist()) == expected
    assert set(level.tolist()) <= set(np.unique(image).tolist())


def test_a_kept_region_has_grown_since_the_last_kept_one():
    y, x = np.mgrid[:41, :41]
    cone = (255 - 6 * np.hypot(y - 20, x - 20)).clip(0, 255).astype(np.uint8)
    area = np.sort(_native.extremal_regions(cone, 10, 1000, 1.5, 16)[3])
    assert len(area) > 5
    assert (area[1:] >= 1.5 * area[:-1]).all()


def test_the_outline_of_a_disc_of_levels_has_its_radius():
    y, x = np.mgrid[:41, :41]
    disc = np.where(np.hypot(y - 20, x - 20) <= 12, 200, 10).astype(np.uint8)
    centre_y, centre_x, radii, area, _, _ = _native.extremal_regions(disc, 100, 1000, 1.1, 32)
    assert_array_equal(area, [(disc > 100).sum()])
    assert_allclose([centre_y[0], centre_x[0]], [20, 20], atol=1e-4)
    assert_allclose(radii[0], 12.25, atol=0.8)


@given(st.data())
def test_the_best_set_is_the_heaviest_over_all_subsets(data):
    count = data.draw(st.integers(1, 9))
    weight = np.array(data.draw(st.lists(st.integers(-2, 9), min_size=count, max_size=count)), float)
    places = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(places, places), max_size=20))
    first, second = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    chosen, exact = _native.max_weight_set(weight, first, second, 1000)
    members = np.flatnonzero(chosen)
    assert exact
    assert weight[members].sum() == naive.max_weight_set(weight, pairs)
    assert not any(a in members and b in members and a != b for a, b in pairs)


@given(st.integers(0, 200))
def test_without_a_budget_the_set_is_still_free_of_rivals_and_no_worse_than_the_heaviest_first(seed):
    rng = np.random.default_rng(seed)
    weight, pairs = rng.random(40), rng.integers(0, 40, (2, 120)).astype(np.int32)
    members = np.flatnonzero(_native.max_weight_set(weight, *pairs, 0)[0])
    assert not any(a in members and b in members and a != b for a, b in pairs.T)
    rivals = {(int(a), int(b)) for a, b in pairs.T} | {(int(b), int(a)) for a, b in pairs.T}
    heaviest = []
    for i in np.argsort(-weight):
        if not any((int(i), j) in rivals for j in heaviest):
            heaviest.append(int(i))
    assert weight[members].sum() >= weight[heaviest].sum() - 1e-9


def test_two_halves_win_over_the_whole_where_they_weigh_more_together():
    first, second, common = np.array([0, 0]), np.array([1, 2]), np.array([50, 50])
    area = np.array([100.0, 50.0, 50.0])
    chosen = select_set(np.array([0.6, 0.4, 0.4]), area, first, second, common, overlap=0.3)
    assert_array_equal(chosen, [False, True, True])


@given(
    hnp.arrays(np.float32, (6, 7), elements=st.integers(0, 5).map(float), fill=st.nothing()),
    hnp.arrays(bool, (6, 7), fill=st.nothing()),
)
def test_pixels_of_one_label_climb_to_one_summit(plane, inside):
    plane = plane + np.arange(42, dtype=np.float32).reshape(6, 7) / 100  # no two heights alike
    labels, hills = _native.label_hills(plane, inside.view(np.uint8))
    summits = naive.summits(plane, inside)
    assert len(hills) == len(set(summits.values()))
    pixels = [np.argwhere(labels == number) for number in range(1, len(hills) + 1)]
    expected = [[len(own), *own.sum(axis=0), *own.min(axis=0), *(own.max(axis=0) + 1)] for own in pixels]
    assert_array_equal(hills, np.array(expected).reshape(-1, 7))
    assert {p: summits[p] for p in summits} == {p: _summit(labels, plane, labels[p]) for p in summits}
    assert (labels[~inside] == 0).all()


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9)))
def test_distances_are_to_the_nearest_ground(inside):
    inside = inside.copy()
    inside[0, 0] = False
    assert_allclose(_native.distance_transform(inside.view(np.uint8)), naive.distance_transform(inside), rtol=1e-6)


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
        elements=st.floats(-9, 9, width=32),
    ),
    hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)),
)
def test_a_smoothed_plane_is_its_definition(plane, weights):
    assert_array_equal(_native.smooth_plane(plane, weights), naive.smooth_plane(plane, weights))


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.3, 9), st.sampled_from([3, 4]))
def test_smoothing_is_that_of_scipy(height, width, sigma, truncate):
    plane = np.random.default_rng(height * width).normal(size=(height, width)).astype(np.float32)
    assert_allclose(
        smoothed(plane, sigma, truncate), ndimage.gaussian_filter(plane, sigma, truncate=truncate), atol=1e-6
    )


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
        elements=st.floats(-4, 4, width=32),
    ),
    st.integers(1, 25),
)
def test_a_box_mean_is_its_definition_and_that_of_scipy(plane, size):
    mean = _native.box_mean(plane, size)
    assert_allclose(mean, naive.box_mean(plane, size), atol=1e-5)
    assert_allclose(mean, ndimage.uniform_filter(plane, size), atol=1e-5)


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9)))
def test_holes_are_what_the_rim_does_not_reach(mask):
    assert_array_equal(without_holes(mask), ndimage.binary_fill_holes(mask))


def test_without_ground_all_distances_are_alike_and_large():
    assert (_native.distance_transform(np.ones((3, 4), np.uint8)) == 5).all()


def _summit(labels, plane, number):
    heights = np.where(labels == number, plane, -np.inf)
    return tuple(int(v) for v in np.unravel_index(heights.argmax(), plane.shape))


def test_an_outline_found_around_a_disc_has_its_radius():
    y, x = np.mgrid[:81, :81]
    disc = (1 / (1 + np.exp(np.hypot(y - 40, x - 40) - 20))).astype(np.float32)
    gx, gy = _native.smoothed_gradient(disc, 1.0)
    seeds = [np.array([v], np.float32) for v in (42.0, 38.0, 16.0)]
    radii, mean = _native.find_outlines(gx, gy, *seeds, np.array([1], np.int8), 32, 0.5, 1.8, 40, 0.001, 0.0)
    shapes = _native.outline_shapes(seeds[0], seeds[1], radii, 81, 81)[0]
    assert_allclose(shapes[1:3], [40, 40], atol=0.5)
    assert_allclose(np.sqrt(shapes[0] / np.pi), 20, atol=0.7)
    assert mean[0] > 0


@given(st.integers(0, 500))
def test_the_closed_path_is_nearly_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    angles, steps, radius = 12, 7, 10.0
    gx, gy = rng.normal(size=(2, 40, 40)).astype(np.float32)
    arguments = [np.array([v], np.float32) for v in (20.0, 20.0, radius)]
    radii, mean = _native.find_outlines(gx, gy, *arguments, np.array([1], np.int8), angles, 0.5, 1.5, steps, 0.1, 0.0)
    places = np.rint((radii[0] / radius - 0.5) * (steps - 1)).astype(int)
    turn = np.diff(np.append(places, places[0]))
    assert np.abs(turn).max() <= 2
    gain = np.array([[_inward(gx, gy, radius * (0.5 + s / (steps - 1)), 2 * np.pi * k / angles) for s in range(steps)]
                     for k in range(angles)])  # fmt: skip
    best = naive.best_outline_gain(gain, 0.1)
    assert mean[0] * angles - 0.1 * (turn**2).sum() >= 0.8 * best


def _inward(gx, gy, r, angle):
    y, x = 20 + r * np.sin(angle), 20 + r * np.cos(angle)
    top, left = int(y), int(x)
    fy, fx = y - top, x - left
    weights = np.outer([1 - fy, fy], [1 - fx, fx])
    at = (slice(top, top + 2), slice(left, left + 2))
    return -(np.cos(angle) * (weights * gx[at]).sum() + np.sin(angle) * (weights * gy[at]).sum())


def test_a_forest_of_arrays_gives_what_its_trees_say():
    sklearn = pytest.importorskip("sklearn.ensemble")
    assert sklearn
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 4)).astype(np.float32)
    values = (features[:, 0] > 0) + 0.1 * features[:, 1]
    forest = grow_forest(features, values, trees=5)
    arrays = (forest.feature, forest.threshold, forest.left, forest.right, forest.value, forest.root)
    assert_allclose(forest(features), naive.forest_values(*arrays, features), rtol=1e-5)
    assert np.corrcoef(forest(features), values)[0, 1] > 0.8


def test_a_forest_that_points_back_is_refused():
    one = np.zeros(1, np.int32)
    value = np.zeros(1, np.float32)
    with pytest.raises(ValueError, match="out of range"):
        _native.forest_values(one, value, one, one, value, one, np.zeros((1, 1), np.float32))


PLANES = np.random.default_rng(3).normal(size=(2, *SHAPE)).astype(np.float32)


@given(outlines())
def test_profiles_are_means_and_deviations_along_scaled_outlines(given_outlines):
    y, x, radii = given_outlines
    parts = np.array([0.3, 1.0, 1.4], np.float32)
    found = _native.outline_profiles(PLANES, y, x, radii, parts)
    expected = [
        [[naive.outline_profile(p, *o, s) for s in parts] for p in PLANES] for o in zip(y, x, radii, strict=True)
    ]
    assert_allclose(found, expected, atol=2e-3)


@given(outlines())
def test_lines_are_what_runs_through_the_middle(given_outlines):
    y, x, radii = given_outlines
    found = _native.outline_diameters(PLANES, y, x, radii)
    expected = [[naive.outline_diameters(plane, *o) for plane in PLANES] for o in zip(y, x, radii, strict=True)]
    assert_allclose(found, expected, atol=1e-4)


@given(outlines())
def test_contrasts_are_the_field_across_the_outline(given_outlines):
    y, x, radii = given_outlines
    found = _native.outline_contrasts(PLANES[0], PLANES[1], y, x, radii)
    expected = [naive.outline_contrast(PLANES[0], PLANES[1], *o) for o in zip(y, x, radii, strict=True)]
    assert_allclose(found, expected, atol=2e-3)
