"""Torque in volumes: the definition, the identity with the enclosed volume, invariances, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
import naive
import naive_volumes
from imtorque import Edges, _native, torque_map
from imtorque.synthetic import nuclei_volume
from imtorque.volumes import (
    Surfaces,
    box_sides,
    default_sizes,
    detect_surfaces,
    find_blobs,
    find_extrema,
    gradient_surfaces,
    gradient_torque,
    suppress_overlaps,
    torque_volume_3d,
    value_and_scale_maps,
)

shapes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 7))
sizes = st.lists(st.integers(0, 6).map(lambda h: 2 * h + 1), min_size=1, max_size=3, unique=True).map(sorted)
spacings = st.sampled_from([(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 3.0, 2.0)])


floats = st.floats(-2, 2, width=32).map(lambda value: value if abs(value) > 1e-20 else 0.0)


@st.composite
def fields(draw, elements=floats):
    """Random vectors, sparse or dense."""
    shape = draw(shapes)
    fill = draw(st.sampled_from([st.just(0.0), elements]))
    return Surfaces(*(draw(hnp.arrays(np.float32, shape, elements=elements, fill=fill)) for _ in range(3)))


def rounded(field):
    """The vectors as the kernels see them."""
    return [np.rint(part * np.float32(field.steps)) / field.steps for part in (field.gz, field.gy, field.gx)]


@settings(max_examples=40)
@given(fields(), sizes, spacings)
def test_torque_is_the_definition_on_the_rounded_vectors(field, sizes, spacing):
    expected = naive_volumes.torque_volume(*rounded(field), box_sides(sizes, spacing))
    assert_allclose(torque_volume_3d(field, sizes, spacing=spacing), expected, rtol=3e-7, atol=1e-30)


@settings(max_examples=30)
@given(fields(), sizes)
def test_narrow_and_wide_sums_are_the_same(field, sizes):
    halves = np.repeat(np.asarray(sizes, np.int32)[:, None] // 2, 3, axis=1)
    norms = np.ones(len(sizes), np.float32)
    one, two = (
        _native.volume_torque(field.gz, field.gy, field.gx, 64.0, halves, norms, wide) for wide in (False, True)
    )
    assert_array_equal(one, two)


@settings(max_examples=30)
@given(fields(), sizes)
def test_fused_maps_are_those_of_the_whole(field, sizes):
    tau = torque_volume_3d(field, sizes)
    value, scale = value_and_scale_maps(field, sizes)
    flat = tau.reshape(len(sizes), 1, -1)
    expected_value, expected_scale = naive.value_and_scale_maps(flat, sizes)
    assert_array_equal(value.ravel(), expected_value[0])
    assert_array_equal(scale.ravel(), expected_scale[0])


@settings(max_examples=30)
@given(fields(st.integers(-2, 2).map(float)), sizes, st.sampled_from([None, 1, -1]))
def test_extrema_are_the_definition(field, sizes, sign):
    tau = torque_volume_3d(field, sizes)
    expected = naive_volumes.find_extrema(tau, sign)
    found = find_extrema(field, sizes, sign=sign)
    places = zip(np.searchsorted(sizes, found.size), found.z, found.y, found.x, strict=True)
    assert [tuple(map(int, place)) for place in places] == expected
    assert_array_equal(found.value, [tau[at] for at in expected])


@settings(max_examples=20)
@given(hnp.arrays(np.uint8, shapes), sizes, spacings, st.data())
def test_gradient_torque_is_mean_inside_minus_mean_of_the_faces(volume, sizes, spacing, data):
    tau = gradient_torque(volume, sizes, spacing=spacing)
    centre = tuple(data.draw(st.integers(0, n - 1)) for n in volume.shape)
    for k, side in enumerate(box_sides(sizes, spacing)):
        expected = naive_volumes.gradient_torque(volume, centre, side)
        assert_allclose(tau[(k, *centre)], expected, atol=1e-3)  # of 255 grey values: 2^-22 of the range, and float32


@pytest.mark.parametrize("size", [9, 901, 11001])
def test_gradient_torque_in_boxes_far_beyond_the_volume_repeats_its_border(size):
    """Each voxel counts as often as the box, with the border repeated, comes upon it. The tables stay as small as the
    volume: those of the box of 11001 voxels along a side would take 10 TB."""
    volume = np.random.default_rng(0).integers(0, 256, (4, 3, 5)).astype(float)

    def mean(sides, centre):
        for n, side, at in zip(volume.shape, sides, centre, strict=True):
            counts = np.bincount(np.clip(np.arange(at - side // 2, at + side // 2 + 1), 0, n - 1), minlength=n)
            yield counts / side

    tau = gradient_torque(volume, [size])[0]
    for centre in np.ndindex(volume.shape):
        expected, sides = 0.0, [size] * 3
        of_box = list(mean(sides, centre))
        of_longer = list(mean([size + 2] * 3, centre))
        for axis in range(3):
            faces = list(of_box)
            faces[axis] = ((size + 2) * of_longer[axis] - size * of_box[axis]) / 2
            expected -= np.einsum("zyx,z,y,x", volume, *faces) / 3
        expected += np.einsum("zyx,z,y,x", volume, *of_box)
        assert_allclose(tau[centre], expected, atol=1e-3)


@pytest.mark.parametrize("size", [3, 1001])
def test_torque_of_tiny_vectors_is_that_of_large_ones_or_refused(size):
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 5, 6, 7)).astype(np.float32)
    usual = torque_volume_3d(Surfaces(*parts), [size]).astype(np.float64)
    ends = []
    for exponent in range(-20, -150, -2):
        try:
            tau = torque_volume_3d(Surfaces(*np.ldexp(parts, exponent)), [size]).astype(np.float64)
        except ValueError as error:
            ends.append(str(error))
        else:
            assert ends == []
            assert np.abs(np.ldexp(tau, -exponent) - usual).max() < 1e-4 * np.abs(usual).max()
    assert ends


@settings(max_examples=20)
@given(st.integers(0, 99), st.floats(0, 1))
def test_thinning_is_the_definition(seed, threshold):
    rng = np.random.default_rng(seed)
    strength, *g = (rng.integers(0, 4, (5, 6, 7)).astype(np.float32) for _ in range(4))
    g = [part - 1.5 for part in g]
    assert_array_equal(_native.volume_thin(strength, *g, threshold), naive_volumes.thin(strength, g, threshold))


@settings(max_examples=30)
@given(st.integers(0, 999), st.floats(0, 1))
def test_suppression_is_the_definition(seed, overlap):
    rng = np.random.default_rng(seed)
    centres, sides = rng.integers(0, 12, (9, 3)), 2 * rng.integers(0, 5, (9, 3)) + 1
    value = rng.choice([-1, 1], 9).astype(np.float32)
    keep = _native.volume_suppress(centres, sides, value, overlap)
    assert_array_equal(np.flatnonzero(keep), naive_volumes.suppress(centres, sides, value, overlap))


@given(st.integers(0, 99), st.integers(1, 4).map(lambda h: 2 * h + 1))
def test_a_stack_of_one_image_has_the_torque_of_the_image(seed, size):
    """The same sum: a gradient (gy, gx) in one slice is the force (gy, -gx) in the plane."""
    rng = np.random.default_rng(seed)
    gy, gx = rng.integers(-3, 4, (2, 9, 10)).astype(np.float32)
    flat = Surfaces(np.zeros((1, 9, 10)), gy[None], gx[None])
    tau = torque_volume_3d(flat, [size])[0, 0] * 3 * size  # of the volume of the box, by the area of the square
    assert_allclose(tau, 2 * torque_map(Edges(gy, -gx), size), rtol=1e-6, atol=1e-7)


def ball(shape, centre, radius, spacing=(1, 1, 1)):
    grid = np.indices(shape)
    away = sum(((g - c) * s) ** 2 for g, c, s in zip(grid, centre, spacing, strict=True))
    return (away <= radius**2).astype(float)


@pytest.mark.parametrize("spacing", [(1, 1, 1), (2, 1, 1), (1, 1, 1.5)])
def test_torque_of_a_closed_surface_is_the_volume_inside(spacing):
    shape = tuple(round(44 / s) for s in spacing)
    centre = tuple(n // 2 for n in shape)
    volume = ball(shape, centre, 12, spacing)
    surfaces = detect_surfaces(volume, spacing=spacing)
    sides = box_sides([35], spacing)[0]
    enclosed = torque_volume_3d(surfaces, [35], spacing=spacing)[(0, *centre)] * sides.prod()
    assert_allclose(enclosed, volume.sum(), rtol=0.1)


@given(st.integers(0, 99))
def test_torque_of_a_gradient_is_the_sum_inside_wherever_the_centre_is(seed):
    rng = np.random.default_rng(seed)
    volume = np.zeros((17, 18, 19))
    volume[6:10, 6:11, 7:12] = rng.integers(1, 9, (4, 5, 5))
    centre = tuple(rng.integers(7, 10, 3))
    tau = torque_volume_3d(gradient_surfaces(volume), [15])[(0, *centre)]
    assert_allclose(tau * 15**3, volume.sum(), rtol=1e-5)


@given(fields(), st.sampled_from([3, 5]))
def test_swapping_axes_commutes(field, size):
    turned = Surfaces(*(np.transpose(part, (2, 0, 1)) for part in (field.gx, field.gz, field.gy)))
    upright = torque_volume_3d(field, [size])[0]
    assert_allclose(torque_volume_3d(turned, [size])[0], np.transpose(upright, (2, 0, 1)), rtol=1e-6, atol=1e-30)


def test_threads_change_nothing():
    volume = nuclei_volume(0, shape=(24, 40, 50), count=8).volume
    before = imtorque.get_num_threads()
    found = []
    _native.use_all_threads(True)
    try:
        for threads in (1, 4):
            imtorque.set_num_threads(threads)
            found.append(torque_volume_3d(detect_surfaces(volume), [5, 9, 13]))
    finally:
        imtorque.set_num_threads(before)
        _native.use_all_threads(False)
    assert_array_equal(*found)


def test_dark_things_are_the_negative_of_bright_ones():
    volume = ball((30, 30, 30), (15, 14, 16), 7)
    one, two = (torque_volume_3d(detect_surfaces(v), [17]) for v in (volume, -volume))
    assert one.max() > 0.2
    assert two.min() < -0.2


def matched(found, truth, spacing=(1.0, 1.0, 1.0)):
    """Which nuclei are found, one each, within half their radius."""
    places = np.stack([found.z, found.y, found.x], axis=1) * spacing
    return [
        np.min(np.linalg.norm(places - c, axis=1)) <= r / 2 for c, r in zip(truth.centres, truth.radii, strict=True)
    ]


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0)])
def test_nuclei_are_found(spacing):
    truth = nuclei_volume(1, shape=(48, 72, 80), count=14, spacing=spacing)
    found = find_blobs(truth.volume, spacing=spacing, sizes=range(7, 28, 2))
    assert np.mean(matched(found, truth, spacing)) >= 0.9
    assert len(found) <= 1.3 * len(truth.radii)


def test_default_sizes_fit_the_volume():
    chosen = default_sizes((64, 128, 128), (2.0, 1.0, 1.0))
    assert chosen[0] == 5
    assert 50 <= chosen[-1] <= 0.46 * 128
    assert (np.diff(chosen) >= 2).all()


def test_extrema_select_and_write_themselves():
    found = suppress_overlaps(find_extrema(ball((20, 20, 20), (10, 9, 8), 5), [5, 7, 9, 11], sign=1))
    assert len(found[found.value > found.value[0] / 2]) >= 1
    assert found.to_csv().splitlines()[0] == "z,y,x,size,torque"
    assert repr(found[:1]).splitlines()[0] == "VolumeExtrema(1: 1 positive, 0 negative)"
    assert len(find_extrema(np.zeros((5, 5, 5)), [3])) == 0


CUBE = Surfaces(*np.ones((3, 4, 4, 4)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: detect_surfaces(np.zeros((4, 4))), ValueError, r"shape \(Z, Y, X\)"),
        (lambda: detect_surfaces(np.full((4, 4, 4), np.nan)), ValueError, "finite"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4), complex)), TypeError, "real numbers"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4)), sigma=0), ValueError, "sigma must be positive"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4)), low=2, high=1), ValueError, "low must not exceed high"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4)), low=-1), ValueError, "low must not be negative"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4)), spacing=(1, 0, 1)), ValueError, "three positive numbers"),
        (lambda: detect_surfaces(np.zeros((4, 4, 4)), spacing=(1, 1e6, 1)), ValueError, "1000 times"),
        (lambda: Surfaces(*np.ones((2, 4, 4, 4)), np.ones((4, 4, 5))), ValueError, "one shape"),
        (lambda: Surfaces(*np.full((3, 4, 4, 4), np.inf)), ValueError, "finite"),
        (lambda: Surfaces(*np.ones((3, 4, 4))), ValueError, r"gz must have shape \(Z, Y, X\)"),
        (lambda: Surfaces(*np.ones((3, 4, 4, 4), complex)), TypeError, "gz must be real"),
        (lambda: Surfaces(*np.full((3, 4, 4, 4), 1e-28)), ValueError, r"must be 0 or reach 2.6e-26, got at most 1e-28"),
        (
            lambda: torque_volume_3d(Surfaces(*np.full((3, 4, 4, 4), 1e-25)), [99999]),
            ValueError,
            "sizes must be smaller",
        ),
        (lambda: gradient_torque(np.ones((4, 4, 4)), [13101]), ValueError, r"at most 2\^41 voxels"),
        (lambda: find_extrema(np.ones((4, 4, 4)), sizes=[13101]), ValueError, r"at most 2\^41 voxels"),
        (lambda: torque_volume_3d(np.ones((4, 4, 4)), [3]), TypeError, "must be Surfaces"),
        (lambda: torque_volume_3d(CUBE, [4]), ValueError, "odd"),
        (lambda: torque_volume_3d(CUBE, [(3, 3)]), ValueError, "sides of boxes"),
        (lambda: find_extrema(CUBE, sign=2), ValueError, r"\+1, -1 or None"),
        (lambda: find_extrema(CUBE, count=-1), ValueError, "count must not be negative"),
        (lambda: find_extrema(CUBE, threshold=-1), ValueError, "threshold must not be negative"),
        (lambda: find_blobs(np.zeros((4, 4, 4)), source="edges"), ValueError, "got 'edges'"),
    ],
)
def test_refuses_what_cannot_be_meant(call, error, text):
    with pytest.raises(error, match=text):
        call()
