"""Lazy arrays of dask and xarray have the bits of arrays in memory, whatever their chunks."""

import dask
import dask.array as da
import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import imtorque
from imtorque import datasets
from imtorque import tiling as scale

RANGE = {"threshold": 0.02, "value_range": (0, 255)}


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def drawn_image(height=100, width=130):
    return np.ascontiguousarray(datasets.sample("hopper")[150 : 150 + height, 100 : 100 + width])


@settings(max_examples=4)
@given(st.integers(40, 140), st.integers(40, 140), st.sampled_from(["square", "disk"]))
def test_edges_and_torque_of_any_chunks(rows, columns, patch):
    edges = imtorque.detect_edges(drawn_image(), low=0.02, high=0.02, value_range=(0, 255))
    forces = scale.detect_edges(da.from_array(drawn_image(), chunks=(rows, columns, 3)), **RANGE).persist()
    assert_array_equal(forces.compute(), np.stack([edges.fx, edges.fy]))
    steps = scale.survey(forces).steps
    assert steps == edges.steps
    volume = scale.torque_volume(forces, [5, 11, 21], steps=steps, patch=patch)
    assert_array_equal(volume.compute(), imtorque.torque_volume(edges, [5, 11, 21], patch=patch).tau)
    maps = scale.value_and_scale_maps(forces, [5, 11, 21], steps=steps, patch=patch)
    expected = imtorque.value_and_scale_maps(edges, [5, 11, 21], patch=patch)
    for lazy, whole in zip(dask.compute(*maps), expected, strict=True):
        assert_array_equal(lazy, whole)


def test_floats_are_levelled_by_the_bounds_of_the_whole_image():
    image = drawn_image()[:, :, 0].astype(np.float32) / 300 + 5
    edges = imtorque.detect_edges(image, low=0.02, high=0.02, value_range=(5, 6))
    lazy = da.from_array(image, chunks=50)
    forces = scale.detect_edges(lazy, threshold=0.02, value_range=(5, 6), bounds=(image.min(), image.max()))
    assert_array_equal(forces.compute()[0], edges.fx)
    with pytest.raises(ValueError, match="bounds must be given with floats"):
        scale.detect_edges(lazy, threshold=0.02, value_range=(5, 6))


def test_coordinates_are_kept():
    image = xarray.DataArray(
        da.from_array(drawn_image()[:, :, 0], chunks=64),
        dims=("lat", "lon"),
        coords={"lat": np.linspace(50, 51, 100), "lon": np.linspace(8, 9, 130), "time": 7},
    )
    forces = scale.detect_edges(image, **RANGE)
    volume = scale.torque_volume(forces, [5, 11], steps=4096.0)
    value, size = scale.value_and_scale_maps(forces, [5, 11], steps=4096.0)
    assert (forces.dims, volume.dims, value.dims) == (
        ("force", "lat", "lon"),
        ("size", "lat", "lon"),
        ("lat", "lon"),
    )
    assert volume.sel(size=11, lat=50, method="nearest").dims == ("lon",)
    assert_array_equal(size.coords["lon"], image.coords["lon"])
    assert value.coords["time"] == 7


def test_corners_that_need_more_rounds_are_told():
    forces = scale.detect_edges(da.from_array(drawn_image(), chunks=(70, 70, 3)), **RANGE, rounds=0)
    with pytest.raises(ValueError, match="rounds must be more than 0"):
        forces.compute()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scale.detect_edges(drawn_image(), **RANGE), "array must be lazy"),
        (lambda: scale.detect_edges(da.zeros((4, 5, 6, 7)), **RANGE), "image must be grey"),
        (lambda: scale.torque_volume(da.zeros((3, 5, 6)), [3], steps=1.0), "forces must be fx and fy"),
    ],
)
def test_what_is_no_lazy_image_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
