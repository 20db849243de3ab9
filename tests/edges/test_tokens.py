"""Sketch Tokens: their kernels, channels, training on drawn scenes, and the file they are kept in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive_tokens as naive
from imtorque import _native
from imtorque.edges import RECIPES, SketchTokens, boundary_map
from imtorque.edges.sketches import daisies, tangents
from imtorque.edges.token_channels import CHANNELS, SIDE, channel_planes, gradient_channels, token_colours
from imtorque.edges.token_forest import FEATURES, PIXELS, feature_places
from imtorque.edges.token_training import Drawn, TokenSettings, train_tokens
from imtorque.images import CheckedImage
from strategies import assert_same_on_every_path

TINY = TokenSettings(tokens=8, trees=6, of_token=250, background=2000, from_drawing=300, features=1500, tried=40)


def drawn_scene(seed, shape=(70, 90)):
    """A half-plane or a disc of another colour than the ground, with some noise; and its contour."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]] - np.array(shape)[:, None, None] * rng.uniform(0.35, 0.65, (2, 1, 1))
    angle = rng.uniform(0, np.pi)
    inside = np.hypot(y, x) < 22 if seed % 2 else np.cos(angle) * y - np.sin(angle) * x < 0
    colours = rng.uniform(0.1, 0.9, (2, 3))
    colours[1] = (colours[0] + 0.5) % 1
    image = np.where(inside[:, :, None], *colours) + rng.normal(0, 0.02, (*shape, 3))
    contour = np.zeros(shape, bool)
    contour[:-1] |= inside[:-1] != inside[1:]
    contour[:, :-1] |= inside[:, :-1] != inside[:, 1:]
    return Drawn(image.clip(0, 1), [contour])


@pytest.fixture(scope="module")
def tokens():
    """A forest trained on drawn scenes."""
    return train_tokens([lambda seed=seed: drawn_scene(seed) for seed in range(10)], TINY)


@pytest.fixture
def kept(tokens, tmp_path, monkeypatch):
    """The same forest, in the folder of caches."""
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path))
    return tokens.save(tmp_path / "sketch-tokens.npz")


def small_planes(seed):
    return np.random.default_rng(seed).integers(0, 256, (2, 7, 8)).astype(np.uint8)


def places(seed, count):
    """Places in patches of side 3 in planes of 7 x 8, half of them with a second one."""
    rng = np.random.default_rng(seed)
    first, second = (
        (rng.integers(0, 2, count) * 56 + rng.integers(0, 3, count) * 8 + rng.integers(0, 3, count)).astype(np.int32),
        rng.integers(0, 19, count).astype(np.int32),
    )
    return first, np.where(rng.random(count) < 0.5, -1, second).astype(np.int32)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_features_are_those_of_the_definition(seed):
    rng, planes = np.random.default_rng(seed), small_planes(seed)
    first, second = places(seed, 9)
    y, x = rng.integers(0, 5, 12).astype(np.int32), rng.integers(0, 6, 12).astype(np.int32)
    assert_array_equal(
        _native.token_features(planes, y, x, first, second), naive.token_features(planes, y, x, first, second)
    )


@given(st.integers(0, 1000), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_a_tree_that_tries_everything_makes_the_purest_splits(seed, least):
    rng = np.random.default_rng(seed)
    features, classes = rng.integers(0, 6, (3, 25)).astype(np.uint8), rng.integers(0, 4, 25).astype(np.uint8)
    column, threshold, child, leaf = _native.grow_token_tree(features, classes, 3, least, seed)
    assert_array_equal([walk(features[:, i], column, threshold, child) for i in range(25)], leaf)
    expected = naive.grow_tree(features.tolist(), classes.tolist(), least)
    together = leaf[:, None] == leaf
    assert_array_equal(together, np.array(expected)[:, None] == np.array(expected))


def walk(features, column, threshold, child):
    node = 0
    while child[node]:
        node = child[node] + (features[column[node]] > threshold[node])
    return node


def random_forest(seed):
    """Two trees of three levels: first, second, threshold, child, value, root."""
    rng = np.random.default_rng(seed)
    first, second = places(seed, 14)
    child = np.array([1, 3, 5, 0, 0, 0, 0, 8, 10, 12, 0, 0, 0, 0], np.int32)
    threshold = rng.integers(60, 200, 14).astype(np.uint8)
    return first, second, threshold, child, rng.random((14, 3)).astype(np.float32), np.array([0, 7], np.int32)


@given(st.integers(0, 1000), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_answers_are_those_of_the_definition(seed, step):
    planes, forest = small_planes(seed), random_forest(seed)
    found = _native.token_predictions(planes, 3, step, *forest)
    assert_allclose(found, naive.token_predictions(planes, 3, step, forest), atol=1e-6)


def test_answers_do_not_depend_on_threads_or_vectors():
    planes, forest = np.tile(small_planes(0), (1, 9, 1)), random_forest(0)
    assert_same_on_every_path(lambda: _native.token_predictions(planes, 3, 1, *forest))


def test_branches_to_nowhere_are_refused():
    first, second, threshold, child, value, root = random_forest(0)
    with pytest.raises(ValueError, match="a branch of the trees is out of range"):
        _native.token_predictions(small_planes(0), 3, 1, first, second, threshold, child + 1, value, root)


def test_features_beyond_the_planes_are_refused():
    first, second, *rest = random_forest(0)
    with pytest.raises(ValueError, match="within the planes"):
        _native.token_predictions(small_planes(0), 3, 1, first + 100, second, *rest)


def test_every_feature_lies_in_the_patch():
    height, width = 40, 50
    first, second = feature_places(np.arange(FEATURES, dtype=np.int32), (height, width))
    for places, planes in ((first, 2 * CHANNELS), (second[PIXELS:], 2 * CHANNELS)):
        assert places.min() >= 0
        assert (places // (height * width)).max() < planes
        assert (places % (height * width) // width).max() < SIDE
        assert (places % width).max() < SIDE


def test_features_are_numbered_without_twins():
    pairs = np.stack(feature_places(np.arange(FEATURES, dtype=np.int32), (40, 50)), axis=1)
    assert len(np.unique(pairs, axis=0)) == FEATURES == 14 * (35 * 35 + 300)


def test_planes_have_a_border_in_which_every_pixel_is_a_middle():
    assert channel_planes(token_colours(CheckedImage(np.zeros((9, 12, 3))))).shape == (28, 9 + 34, 12 + 34)


def test_a_gradient_is_shared_by_the_orientations_next_to_its_own():
    y, x = np.mgrid[:20, :20].astype(np.float32)
    size, *parts = gradient_channels((x + y)[None] / 100, 4)
    assert_allclose(sum(parts), size, rtol=1e-5)
    assert_allclose(parts[1], size, rtol=1e-5)  # at 45 degrees


@pytest.mark.parametrize("k", range(8))
def test_the_angle_of_a_drawn_line_is_its_own(k):
    y, x = np.mgrid[-20:21, -20:21]
    angle = np.pi * k / 8
    line = np.abs(np.cos(angle) * y - np.sin(angle) * x) < 0.7
    assert_allclose(np.sin(tangents(line)[20, 20] - angle), 0, atol=0.08)  # lines are jagged


def test_daisies_tell_lines_of_other_angles_apart_and_not_lines_a_pixel_aside():
    line, aside, across = np.zeros((3, 60, 60), bool)
    line[30], aside[31], across[:, 30] = True, True, True
    at = np.array([30], np.int32)
    first, second, third = (daisies(drawing, at, at)[0] for drawing in (line, aside, across))
    assert np.linalg.norm(first - second) < 0.5 * np.linalg.norm(first - third)


@pytest.mark.parametrize("shape", [(70, 90), (71, 91)])
def test_the_image_at_half_its_size_answers_for_the_same_pixels(shape):
    middle = np.array([SIDE // 2 * SIDE + SIDE // 2, 0, 0], np.int32)  # one question: is it light there?
    child, root = np.array([1, 0, 0], np.int32), np.array([0], np.int32)
    value = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0]], np.float32)
    forest = SketchTokens(middle, np.array([128, 0, 0], np.uint8), child, value, root)
    image = np.zeros((*shape, 3))
    image[41:, 30:] = 1
    found = forest(image).strength
    assert found[:38].max() < 0.1
    assert found[:, :27].max() < 0.1
    assert found[44:, 33:].min() > 0.9
    assert 0.2 < found[60, 29] <= found[60, 30] < 0.8


def test_a_trained_forest_finds_the_contour_of_a_new_scene(tokens):
    image, (contour,) = drawn_scene(100)
    found = tokens(image)
    assert found.shape == contour.shape
    assert found.strength[contour].mean() > 3 * found.strength[~contour].mean()


def test_a_trained_forest_knows_the_angle_of_a_contour(tokens):
    image, (contour,) = drawn_scene(100)
    away = tokens(image).angle[contour] - tangents(contour)[contour]
    assert np.median(np.abs(np.sin(away))) < 0.3


def test_training_gives_the_same_forest_again():
    few = TokenSettings(tokens=3, trees=2, of_token=30, background=60, from_drawing=50, features=60, tried=10)
    first, second = (train_tokens([lambda: drawn_scene(0), lambda: drawn_scene(1)], few) for _ in range(2))
    assert_array_equal(first.feature, second.feature)
    assert_array_equal(first.value, second.value)


def test_too_few_contours_are_refused():
    blank = Drawn(np.zeros((20, 20)), [np.zeros((20, 20), bool)])
    with pytest.raises(ValueError, match="at least 8 pixels of contours, got 0"):
        train_tokens([lambda: blank], TINY)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 4), (33, 18)])
def test_tiny_images_have_maps_of_their_size(tokens, shape):
    assert tokens(np.ones(shape)).shape == shape


def test_a_saved_forest_gives_the_same_map(tokens, tmp_path):
    image, _ = drawn_scene(100)
    loaded = SketchTokens.load(tokens.save(tmp_path / "kept.npz"))
    assert_array_equal(loaded(image).strengths, tokens(image).strengths)


def test_a_damaged_file_is_one_line(tokens, tmp_path):
    path = tokens.save(tmp_path / "kept.npz")
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(
        ValueError, match=r"kept\.npz: must be a forest of Sketch Tokens of this version; train it again"
    ):
        SketchTokens.load(path)


@pytest.mark.usefixtures("kept")
def test_the_kept_forest_is_a_detector_and_a_recipe(tokens):
    image, _ = drawn_scene(100)
    assert_array_equal(boundary_map(image, "sketch-tokens").strengths, tokens(image).strengths)
    assert np.count_nonzero(RECIPES["sketch-tokens"].edges(image).mask) > 0


def test_without_a_forest_it_is_said_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path))
    with pytest.raises(
        ValueError, match="must be trained first, by imtorque data train sketch-tokens --data BSDS; got no"
    ):
        boundary_map(np.zeros((9, 9)), "sketch-tokens")
