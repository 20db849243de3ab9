"""With exact=True every function gives the library's bits, for every type of tensor."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import imtorque
import imtorque.torch as tensors

KINDS = ("sparse", "dense", "eighths", "towers", "whole", "faint", "none")
SIZES = (3, 5, 7, 13, 31, 93)
BOXES = ((3, 5), (7, 5), (9, 31), (33, 33))


def field(kind, seed, height, width):
    """Forces of many kinds: each is rounded by another rule."""
    rng = np.random.default_rng(seed)
    forces = rng.normal(size=(2, height, width))
    there = rng.random((height, width)) < 0.1
    if kind in ("sparse", "towers", "faint"):
        forces *= there
    if kind == "eighths":
        angle = rng.integers(0, 8, (height, width)) * np.pi / 4
        forces = np.stack([np.cos(angle), np.sin(angle)]) * there
    if kind == "towers":
        forces[:, height // 2, width // 2] = 1e6
    if kind == "whole":
        forces = np.round(3 * forces)
    if kind == "faint":
        forces *= 1e-20
    return (forces * (kind != "none")).astype(np.float32)


fields = st.builds(field, st.sampled_from(KINDS), st.integers(0, 999), st.integers(1, 40), st.integers(1, 40))


def image(seed, height, width, channels, dtype):
    """Blots with noise, of any type."""
    rng = np.random.default_rng(seed)
    low = rng.random((height // 6 + 1, width // 6 + 1, channels)).repeat(6, 0).repeat(6, 1)[:height, :width]
    values = low + 0.05 * rng.random((height, width, channels))
    return (values * 200).astype(dtype) if dtype == "uint8" else values.astype(dtype)


images = st.builds(
    image,
    st.integers(0, 999),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from((1, 3)),
    st.sampled_from(("uint8", "float16", "float32", "float64")),
)


def edges_of(forces):
    return imtorque.Edges(*np.asarray(forces, np.float32))


def batch_of(array):
    """An array (C, H, W) as a batch of one."""
    return torch.from_numpy(np.ascontiguousarray(array))[None]


def batch_of_image(image):
    return batch_of(np.moveaxis(image, 2, 0))


def assert_same_edges(found, wanted):
    assert_array_equal(found[0], np.stack([wanted.fx, wanted.fy]))


def assert_same_extrema(found, wanted, row=0):
    count = len(wanted)
    for name in ("y", "x", "size", "value"):
        assert_array_equal(getattr(found, name)[row, :count], getattr(wanted, name))
    assert not found.value[row, count:].any()


@given(fields)
def test_the_volume_is_the_librarys(forces):
    edges = edges_of(forces)
    for sizes in (SIZES, BOXES):
        found = tensors.torque_volume(batch_of(forces), sizes, alpha=1.5, exact=True)
        assert_array_equal(found[0], imtorque.torque_volume(edges, sizes, alpha=1.5).tau)


@given(fields)
def test_one_map_is_the_librarys(forces):
    for size in (9, (5, 11)):
        found = tensors.torque_map(batch_of(forces), size, exact=True)
        assert_array_equal(found[0], imtorque.torque_map(edges_of(forces), size))


@given(fields)
def test_value_and_scale_are_the_librarys(forces):
    for sizes in (SIZES, BOXES, None):
        if sizes is None and min(forces.shape[1:]) < 12:
            continue
        found = tensors.value_and_scale_maps(batch_of(forces), sizes, exact=True)
        for tensor, array in zip(found, imtorque.value_and_scale_maps(edges_of(forces), sizes), strict=True):
            assert_array_equal(tensor[0], array)


@settings(max_examples=30)
@given(
    fields,
    st.sampled_from((None, 1, -1)),
    st.sampled_from((None, 0, 4)),
    st.booleans(),
    st.sampled_from(("box", "cross")),
    st.booleans(),
)
def test_extrema_are_the_librarys(forces, sign, count, end_scales, neighbourhood, inside):
    for sizes in (SIZES, BOXES, [7]):
        options = {"sign": sign, "count": count, "end_scales": end_scales}
        options |= {"neighbourhood": neighbourhood, "inside": inside}
        found = tensors.find_extrema(batch_of(forces), sizes, exact=True, **options)
        assert_same_extrema(found, imtorque.find_extrema(edges_of(forces), sizes, **options))


@given(fields, st.sampled_from((None, 4)))
def test_extrema_of_a_least_torque_are_the_librarys(forces, count):
    asked = {"count": count, "threshold": 0.05}
    found = tensors.find_extrema(batch_of(forces), SIZES, exact=True, **asked)
    wanted = imtorque.find_extrema(edges_of(forces), SIZES, **asked)
    assert_same_extrema(found, wanted)
    assert count is not None or found.value.shape[1] == len(wanted)


def test_plateaus_of_extrema_are_one():
    forces = np.tile(np.random.default_rng(0).integers(-1, 2, size=(2, 8, 8)), (1, 5, 5)).astype(np.float32)
    found = tensors.find_extrema(batch_of(forces), SIZES, exact=True)
    assert_same_extrema(found, imtorque.find_extrema(edges_of(forces), SIZES))


@given(fields)
def test_coherence_is_the_librarys(forces):
    for size in (3, 17):
        found = tensors.torque_coherence(batch_of(forces), size, exact=True)
        assert_array_equal(found[0], imtorque.torque_coherence(edges_of(forces), size))


@given(fields)
def test_the_dense_contribution_is_the_librarys(forces):
    found = tensors.dense_contribution(batch_of(forces), (5, 31), exact=True)
    assert_array_equal(found[0], imtorque.dense_contribution(edges_of(forces), (5, 31)))


OPTIONS = (
    {},
    {"low": 0.02, "high": 0.05},
    {"low": 0.03},
    {"low": 0.6, "high": 0.9, "use_quantiles": True},
    {"force": "strength"},
    {"force": "strength", "strength_scale": 0.1, "value_range": (0.0, 2.0)},
    {"directions": 8},
    {"length_correction": True, "sigma": 3.0},
    {"directions": 8, "force": "strength", "length_correction": True},
)


@given(images, st.sampled_from(OPTIONS))
def test_edges_are_the_librarys(image, options):
    found = tensors.detect_edges(batch_of_image(image), exact=True, **options)
    assert_same_edges(found, imtorque.detect_edges(image, **options))


def test_the_edges_of_a_photograph_are_the_librarys():
    image = imtorque.datasets.sample("hopper")
    assert_same_edges(tensors.detect_edges(batch_of_image(image), exact=True), imtorque.detect_edges(image))


@pytest.mark.parametrize("image", [np.zeros((9, 9, 1), np.uint8), (np.indices((30, 30)).sum(0) // 9 % 2)[..., None]])
def test_edges_of_flat_images_and_masks_are_the_librarys(image):
    image = image.astype(np.uint8)
    assert_same_edges(tensors.detect_edges(batch_of_image(image), exact=True), imtorque.detect_edges(image))


@given(images)
def test_the_whole_gradient_is_the_librarys(image):
    assert_same_edges(tensors.gradient_edges(batch_of_image(image), exact=True), imtorque.gradient_edges(image))


@given(images)
def test_gradient_torque_is_the_librarys(image):
    for sizes in ((3, 9, 61), BOXES):
        found = tensors.gradient_torque(batch_of_image(image), sizes, exact=True)
        assert_array_equal(found[0], imtorque.gradient_torque(image, sizes).tau)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_forces_of_every_type_are_taken_as_float32(dtype):
    given = batch_of(field("sparse", 1, 30, 40)).to(dtype)
    value, scale = tensors.value_and_scale_maps(given, SIZES, exact=True)
    wanted = imtorque.value_and_scale_maps(edges_of(given[0].float()), SIZES)
    assert value.dtype == torch.float32
    assert_array_equal(value[0], wanted[0])
    assert_array_equal(scale[0], wanted[1])


def test_each_image_of_a_batch_is_rounded_by_itself():
    kinds = [field(kind, 2, 30, 40) for kind in ("sparse", "dense", "towers", "whole")]
    found = tensors.torque_volume(torch.from_numpy(np.stack(kinds)), SIZES, exact=True)
    for tau, forces in zip(found, kinds, strict=True):
        assert_array_equal(tau, imtorque.torque_volume(edges_of(forces), SIZES).tau)


def test_a_tensor_need_not_be_contiguous():
    forces = batch_of(field("dense", 3, 30, 40))
    strided = torch.zeros(1, 40, 60, 2).permute(0, 3, 2, 1)[:, :, ::2].copy_(forces)
    assert not strided.is_contiguous()
    for function in (tensors.torque_volume, tensors.find_extrema):
        pairs = zip(function(strided, SIZES, exact=True), function(forces, SIZES, exact=True), strict=True)
        for found, wanted in pairs:
            assert_array_equal(found, wanted)


def test_a_volume_is_written_where_it_is_asked_for():
    forces = batch_of(field("dense", 3, 30, 40))
    out = torch.empty(1, len(SIZES), 30, 40)
    assert tensors.torque_volume(forces, SIZES, out=out, exact=True) is out
    assert_array_equal(out, tensors.torque_volume(forces, SIZES, exact=True))


def test_bands_of_rows_do_not_show():
    forces = field("sparse", 4, 150, 20)
    found = tensors.value_and_scale_maps(batch_of(forces), SIZES, exact=True)[0]
    assert_array_equal(found[0], imtorque.value_and_scale_maps(edges_of(forces), SIZES)[0])


@given(fields)
def test_without_gradients_memory_of_this_machine_is_the_librarys_business(forces):
    """Tensors of 32 bits on the CPU go to the library's kernels, also where exact=True does not ask for its bits."""
    batch, edges = batch_of(forces), edges_of(forces)
    assert_array_equal(tensors.torque_volume(batch, SIZES)[0], imtorque.torque_volume(edges, SIZES).tau)
    assert_array_equal(tensors.value_and_scale_maps(batch, BOXES)[0][0], imtorque.value_and_scale_maps(edges, BOXES)[0])
    assert_same_extrema(tensors.find_extrema(batch, SIZES, count=5), imtorque.find_extrema(edges, SIZES, count=5))


def test_forces_that_are_not_finite_or_too_faint_are_left_to_floats():
    forces = torch.zeros(1, 2, 9, 9)
    forces[0, 0, 3, 4] = float("nan")
    assert torch.isnan(tensors.torque_volume(forces, [3])[0, 0, 4, 4])
    forces[0, 0, 3, 4] = 1e-35
    assert tensors.torque_volume(forces, [3])[0, 0, 4, 4] != 0
