"""An image in tiles has the bits that it has in memory: every output, whatever the tiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import imtorque
from imtorque import datasets
from imtorque.tiling import extrema, passes
from imtorque.tiling import thresholds as thresholds_module
from imtorque.tiling.thresholds import automatic_thresholds
from large_images import assert_same_in_tiles

DTYPES = (np.uint8, np.uint16, np.int16, np.float32, np.float64, bool)
thresholds = st.sampled_from([{}, {"high": 0.1}, {"low": 0.02, "high": 0.02}, {"low": 0.01, "high": 0.2}])


def hopper(height=300, width=260):
    return datasets.sample("hopper")[100 : 100 + height, 80 : 80 + width]


def noise(shape, dtype, seed=0):
    values = np.random.default_rng(seed).random(shape)
    if dtype is bool:
        return values > 0.5
    return values.astype(dtype) if np.dtype(dtype).kind == "f" else (values * 200).astype(dtype)


def curve(side=61, pitch=16):
    """A band that winds from the middle outwards, strong at its outer end and weak elsewhere."""
    y, x = np.mgrid[:side, :side] - side // 2
    turn = np.hypot(y, x) / pitch - np.arctan2(y, x) / (2 * np.pi)
    contrast = 0.12 + 0.88 * np.exp(-((y + side // 3) ** 2 + x**2) / 72)
    return 0.5 + contrast * np.where(turn % 1 < 0.5, 0.5, -0.5)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 30), st.integers(1, 30)), elements=st.sampled_from([0, 9, 90, 255])),
    st.integers(7, 40),
    thresholds,
)
def test_any_image_in_any_tiles(image, tile, options):
    assert_same_in_tiles(image, tile, [3, 7, 13], **options)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.sampled_from(DTYPES), st.integers(16, 97), thresholds, st.sampled_from(["square", "disk"]))
def test_noise_of_any_type(dtype, tile, options, patch):
    assert_same_in_tiles(noise((60, 75), dtype), tile, [5, 11, 21], patch=patch, **options)


def test_tiles_of_a_few_pixels():
    assert_same_in_tiles(noise((14, 11), np.uint8), 3, [3, 9])


@pytest.mark.parametrize("tile", [97, 128])
def test_a_photograph(tile):
    assert_same_in_tiles(hopper(), tile, range(3, 62, 6))


@pytest.mark.parametrize(
    "options",
    [
        {"directions": 8, "alpha": 1.5},
        {"force": "strength", "strength_scale": 0.13, "low": 0.004, "high": 0.004},
        {"length_correction": True, "sigma": 2.3},
        {"pattern": "saddle", "value_range": (10, 200)},
        {"pattern": 0.7, "patch": "disk"},
        {"polarity": "free"},
    ],
    ids=str,
)
def test_a_photograph_with_every_option(options):
    assert_same_in_tiles(hopper(120, 150), 64, [5, 15, 31], **options)


def test_ties_across_tiles_are_one():
    squares = np.zeros((64, 64), np.uint8)
    for top in range(4, 60, 16):
        squares[top : top + 8, 3:59] = 200
    assert_same_in_tiles(squares, 23, [3, 5, 9, 17], directions=8)
    assert_same_in_tiles(np.kron(np.eye(8, dtype=np.uint8) * 255, np.ones((8, 8), np.uint8)), 21, [3, 5, 7])


@pytest.mark.slow
@pytest.mark.parametrize("tile", [13, 20, 33])
def test_weak_edges_connect_over_any_number_of_tiles(tile):
    image = curve()
    weak = imtorque.detect_edges(image, low=0.01, high=0.01)
    strong = imtorque.detect_edges(image, low=0.2, high=0.2)
    both = imtorque.detect_edges(image, low=0.01, high=0.2)
    assert 0 < np.count_nonzero(strong.mask) < 40 < 200 < np.count_nonzero(both.mask) <= np.count_nonzero(weak.mask)
    assert_same_in_tiles(image, tile, [5, 9], low=0.01, high=0.2)


def test_rows_put_in_order_in_many_ranges_are_those_of_one(monkeypatch):
    monkeypatch.setattr(extrema, "WRITTEN_ROWS", 50)
    assert_same_in_tiles(hopper(120, 150), 40, [3, 5, 9, 15])
    assert_same_in_tiles(np.kron(np.eye(8, dtype=np.uint8) * 255, np.ones((8, 8), np.uint8)), 21, [3, 5, 7])


def test_a_dense_field_is_rounded_as_the_whole_is():
    image = noise((50, 50), np.float64)
    assert_same_in_tiles(image, 25, [5, 9], low=0.0, high=0.0, sigma=0.3)


def test_corners_that_need_more_rounds_get_them(monkeypatch):
    monkeypatch.setattr(passes, "CORNER_ROUNDS", 1)
    assert_same_in_tiles(hopper(100, 90), 40, [5, 11])


def test_thresholds_that_ranges_leave_open_are_counted_anew(monkeypatch):
    monkeypatch.setattr(thresholds_module, "_bin_between", lambda *_: None)
    assert_same_in_tiles(hopper(100, 90), 40, [5, 11])


def test_an_image_without_edges_has_none():
    assert_same_in_tiles(np.full((30, 40), 7, np.uint8), 16, [3, 9])


def test_opacity_and_colour():
    colour = noise((40, 50, 4), np.uint8)
    assert_same_in_tiles(colour, 24, [5, 9])
    assert_same_in_tiles(colour[:, :, :3].astype(np.float32), 24, [5, 9])


@given(
    hnp.arrays(np.float32, st.integers(1, 60), elements=st.sampled_from([0.0, 0.1, 0.25, 0.4375, 0.5, 1.0])),
    st.integers(1, 8),
)
def test_thresholds_from_ranges_are_those_of_the_64_bins(magnitudes, parts):
    largest = magnitudes.max()
    if largest == 0:
        return
    bins = np.minimum((magnitudes * (np.float32(64) / largest)).astype(int), 63)
    counts = np.bincount(bins, minlength=64)
    above = np.flatnonzero(np.cumsum(counts)[:63] > 0.7 * magnitudes.size)
    high = float(largest) * ((above[0] if above.size else 63) + 1) / 64
    tiles = [fine_counts(part) for part in np.array_split(magnitudes, parts)]
    found = automatic_thresholds(tiles, magnitudes.size, lambda _: counts)
    assert_array_equal(found, (np.float32(0.4 * high), np.float32(high)))


def fine_counts(magnitudes):
    """What a tile counts, from the definition: ranges down to 64 times below its own largest."""
    ranges = magnitudes.view(np.int32) >> 13
    if magnitudes.size == 0 or magnitudes.max() == 0:
        return 0.0, 0, np.zeros(0, np.int64)
    first = max(0, int(ranges.max()) - 6 * 1024 - 2)
    kept = ranges[ranges >= first] - first
    return float(magnitudes.max()), first, np.bincount(kept).astype(np.int64)
