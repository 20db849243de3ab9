"""Strengthened edges and saliency of an image at a level are those of the reduced image in memory."""

import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import imtorque
from imtorque import datasets
from imtorque.core.resizing import shrink_image
from imtorque.tiling import levels, process_image
from imtorque.tiling.source import ArraySource, scaled

NAMES = ["strengthened", "saliency"]


def image():
    return np.ascontiguousarray(datasets.sample("hopper")[100:361, 40:393])


@pytest.mark.parametrize(("level", "tile"), [(0, 150), (1, 97)])
def test_both_are_those_of_the_reduced_image(tmp_path, level, tile):
    found = process_image(image(), tmp_path / "out", outputs=NAMES, level=level, tile=tile, jobs=1)
    small = shrink_image(image(), 2**level)
    maps = zarr.open_group(tmp_path / "out" / "maps.zarr", mode="r")
    assert_array_equal(maps["strengthened"][:], imtorque.boundary_strength(small))
    assert_array_equal(maps["saliency"][:], imtorque.torque_saliency(small))
    assert (found.level, found.extrema) == (level, None)


def test_the_level_is_the_first_that_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(levels, "SALIENCY_PIXELS", 10_000)
    source = ArraySource.of(image(), scaled((1.0, 1.0), "micrometer"))
    found = process_image(source, tmp_path / "out", outputs=["saliency"], jobs=1)
    assert found.level == 2
    maps = zarr.open_group(tmp_path / "out" / "maps.zarr", mode="r")
    steps = maps.attrs["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    assert [step.get("scale") or step.get("translation") for step in steps] == [[4.0, 4.0], [1.5, 1.5]]
    with pytest.raises(ValueError, match="level must be at least 2 for the saliency of"):
        process_image(source, tmp_path / "other", outputs=["saliency"], level=1, jobs=1)
