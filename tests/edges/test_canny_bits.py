"""Canny's kernels, which take an image row by row and its edges 64 pixels at a time, have the bits of whole planes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import naive_canny
from imtorque import _native

shapes = st.one_of(
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.tuples(st.integers(3, 30), st.sampled_from([62, 63, 64, 65, 66, 127, 128, 129])),
    st.tuples(st.integers(60, 75), st.integers(3, 20)),
)
thresholds = st.sampled_from(
    [
        {"low": 0.0, "high": 0.0, "quantiles": False, "automatic": True},
        {"low": 0.01, "high": 0.05, "quantiles": False, "automatic": False},
        {"low": 0.0, "high": 0.0, "quantiles": False, "automatic": False},
        {"low": 0.5, "high": 0.93, "quantiles": True, "automatic": False},
    ]
)
sigmas = st.sampled_from([0.3, 1.0, 2**0.5, 6.0])


@st.composite
def images(draw):
    """Noise of many or few values, or bars: equal strengths, long runs, stairs."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    values = rng.random(draw(shapes))
    kind = draw(st.sampled_from(["noise", "levels", "bits", "bars", "flat"]))
    if kind == "bars":
        y, x = np.indices(values.shape)
        values = (x + rng.integers(-3, 4) * y) % rng.integers(5, 30) < 4
    made = {"levels": np.round(3 * values) / 3, "bits": values > 0.6, "flat": np.full_like(values, 0.3)}
    return np.ascontiguousarray(made.get(kind, values), np.float32)


@settings(max_examples=60)
@given(images(), sigmas, thresholds, st.sampled_from([1, 2, 5]))
def test_canny_has_the_bits_of_its_steps_one_after_the_other(image, sigma, options, threads):
    _native.set_num_threads(threads)
    found = _native.canny(image, sigma, **options, scale=-1.0)
    expected = naive_canny.canny(image, sigma, **options)
    for ours, plain in zip(found, expected, strict=True):
        assert_array_equal(ours.view(np.int32), plain.view(np.int32))


@given(images(), sigmas)
def test_the_automatic_thresholds_are_those_of_64_bins(image, sigma):
    magnitude = naive_canny.magnitudes(*naive_canny.gradient(image, sigma))
    expected = naive_canny.automatic_thresholds(magnitude) if magnitude.any() else (0, 0)
    assert _native.automatic_thresholds(image, sigma) == expected


def test_a_threshold_inside_a_range_of_floats_is_settled_by_counting_anew():
    # Of so many images a few have their threshold where a bin ends inside a range.
    rng = np.random.default_rng(3)
    for _ in range(200):
        image = np.zeros((9, 70), np.float32)
        image[:, 1::2] = rng.random((9, 35)) * 0.1
        image[4, 35] = 1
        magnitude = naive_canny.magnitudes(*naive_canny.gradient(image, 0.3))
        assert _native.automatic_thresholds(image, 0.3) == naive_canny.automatic_thresholds(magnitude)


@pytest.mark.parametrize("scale", [0.0, 0.13])
@given(image=images(), options=thresholds)
def test_forces_come_in_the_length_that_is_asked_for(scale, image, options):
    fx, fy = _native.canny(image, 1.0, **options, scale=-1.0)
    _native.shape_forces(fx, fy, scale, 0, False)
    found = _native.canny(image, 1.0, **options, scale=scale)
    for ours, plain in zip(found, (fx, fy), strict=True):
        assert_array_equal(ours.view(np.int32), plain.view(np.int32))


@given(images(), thresholds, st.sampled_from([0.0, 0.13]), st.sampled_from([0, 8]), st.booleans(), st.integers(1, 5))
def test_forces_are_shaped_and_surveyed_as_they_are_written(image, options, scale, directions, arc_length, threads):
    _native.set_num_threads(threads)
    field = _native.canny_field(image, 1.0, **options, scale=scale, directions=directions, arc_length=arc_length)
    fx, fy = _native.canny(image, 1.0, **options, scale=-1.0)
    _native.shape_forces(fx, fy, scale, directions, arc_length)
    assert_array_equal(field.fx.view(np.int32), fx.view(np.int32))
    assert_array_equal(field.fy.view(np.int32), fy.view(np.int32))
    again = _native.EdgeField(fx, fy)
    assert field.statistics() == again.statistics()
    assert field.mass == again.mass


@given(images(), st.integers(0, 10_000), st.sampled_from([0.0, 0.2]))
def test_maxima_of_any_strength_along_any_gradient(strength, seed, threshold):
    gx, gy = (np.random.default_rng(seed + i).integers(-2, 3, strength.shape).astype(np.float32) for i in (0, 1))
    expected = np.where(naive_canny.maxima(strength, gx, gy, threshold), strength, 0)
    assert_array_equal(_native.suppress_non_maxima(strength, gx, gy, threshold), expected)


@given(images(), sigmas, st.sampled_from([1, 3]))
def test_the_gradient_has_the_bits_of_whole_planes(image, sigma, threads):
    _native.set_num_threads(threads)
    for ours, plain in zip(_native.smoothed_gradient(image, sigma), naive_canny.gradient(image, sigma), strict=True):
        assert_array_equal(ours, plain)


@pytest.mark.parametrize("turned", [False, True])
def test_a_weak_line_of_any_shape_is_kept_from_its_strong_end(turned):
    # Winding to and fro through 200 x 200 pixels, over words and bands, ever fainter.
    height = width = 200
    image = np.zeros((height, width), np.float32)
    for k, y in enumerate(range(4, height - 8, 8)):
        image[y : y + 4, 6:-6] = 1 - 0.004 * k
        side = slice(-10, -6) if k % 2 else slice(6, 10)
        image[y : y + 12 if y + 16 < height else y + 4, side] = 1 - 0.004 * k
    image = np.ascontiguousarray(image.T if turned else image)
    _native.set_num_threads(3)
    found = _native.canny(image, 1.0, 0.01, 0.315, False, False, -1.0)
    expected = naive_canny.canny(image, 1.0, 0.01, 0.315)
    assert_array_equal(found[0], expected[0])
    assert_array_equal(found[1], expected[1])
