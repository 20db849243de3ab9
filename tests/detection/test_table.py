"""The table of objects: rows, labels and what other programs take."""

import csv
import io
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from detection.scenes import discs, ellipse
from imtorque import Blobs, Extrema, find_blobs

CENTRES = [(30, 30), (32.4, 90.7), (80, 60)]


@pytest.fixture(scope="module")
def image():
    contrasts = (100, 60, 80)
    layers = [c * discs((110, 120), [centre], 25) for c, centre in zip(contrasts, CENTRES, strict=True)]
    return (100 + sum(layers)).astype(np.uint8)


@pytest.fixture(scope="module")
def blobs(image):
    return find_blobs(image)


def row_at(blobs, centre):
    return int(np.argmin(np.hypot(blobs.y - centre[0], blobs.x - centre[1])))


def test_each_row_has_place_size_shape_and_contrast_in_the_images_values(blobs):
    assert len(blobs) == 3
    row = row_at(blobs, CENTRES[1])
    assert_allclose((blobs.y[row], blobs.x[row]), CENTRES[1], atol=0.25)
    assert_allclose(blobs.diameter[row], 25, atol=0.8)
    assert_allclose(blobs.area[row], np.pi * 12.5**2, rtol=0.06)
    assert_allclose(blobs.contrast[row], 60, rtol=0.06)
    assert_allclose(blobs.intensity[row], 160, rtol=0.04)
    assert blobs.eccentricity[row] < 0.3
    box = [int(getattr(blobs, side)[row]) for side in ("top", "left", "bottom", "right")]
    assert_allclose(box, [20, 78, 45, 103], atol=2)


def test_labels_have_the_numbers_of_the_rows(blobs):
    for row in range(3):
        y, x = (round(float(v[row])) for v in (blobs.y, blobs.x))
        assert blobs.labels[y, x] == row + 1
    assert_allclose(np.bincount(blobs.labels.ravel())[1:], blobs.area, rtol=0.05)


def test_masks_follow_the_outline_of_a_thing_that_is_not_round():
    truth = ellipse((100, 110), (50, 55), (36, 14), 0.5)
    found = find_blobs(truth).labels > 0
    assert np.sum(found & (truth > 0.5)) / np.sum(found | (truth > 0.5)) > 0.93


def test_selecting_rows_selects_labels(blobs):
    chosen = blobs[blobs.contrast < 90]
    assert isinstance(chosen, Blobs)
    assert isinstance(chosen, Extrema)
    assert len(chosen) == 2
    assert set(np.unique(chosen.labels)) == {0, 1, 2}
    assert_array_equal(chosen.labels == 1, blobs.labels == 1 + int(np.flatnonzero(blobs.contrast < 90)[0]))
    assert len(blobs[:0]) == 0
    assert blobs[:0].labels.max() == 0
    assert len(blobs[[]]) == 0


def test_rows_come_strongest_first(blobs):
    assert np.all(np.diff(np.abs(blobs.value)) <= 0)


def test_the_csv_holds_every_column(blobs, tmp_path):
    text = blobs.to_csv(tmp_path / "blobs.csv")
    assert (tmp_path / "blobs.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["label"] for row in rows] == ["1", "2", "3"]
    assert_allclose([float(row["torque"]) for row in rows], blobs.value, rtol=1e-5)
    assert {"y", "x", "size", "diameter", "area", "eccentricity", "contrast", "snr", "intensity"} <= set(rows[0])


def test_points_and_shapes_are_what_napari_takes(blobs):
    centres, arguments = blobs.to_points()
    assert centres.shape == (3, 2)
    assert_array_equal(arguments["size"], blobs.diameter)
    outlines, arguments = blobs.to_shapes()
    assert len(outlines) == len(arguments["features"]["label"]) == 3
    assert outlines[0].shape[1] == 2


def test_a_dataframe_needs_pandas_and_says_so(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        blobs.to_dataframe()
