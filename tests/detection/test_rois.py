"""Outlines as other programs read them."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from imtorque import find_blobs
from imtorque.cli import app
from imtorque.files import write_image

roifile = pytest.importorskip("roifile")


def draw():
    y, x = np.indices((90, 110))
    image = np.full((90, 110), 100, np.uint8)
    image[(y - 30) ** 2 + (x - 35) ** 2 <= 12**2] = 200
    image[(y - 60) ** 2 + (x - 80) ** 2 <= 15**2] = 20
    return image


@pytest.fixture(scope="module")
def blobs():
    found = find_blobs(draw(), sizes=(15, 40))
    assert len(found) == 2
    return found


def test_geojson_holds_closed_polygons_counted_from_the_corner_of_a_pixel(blobs):
    features = json.loads(blobs.to_geojson())["features"]
    for feature, outline in zip(features, blobs.outline, strict=True):
        (ring,) = feature["geometry"]["coordinates"]
        assert ring[0] == ring[-1]
        assert_allclose(np.array(ring[:-1])[:, ::-1] - 0.5, outline, atol=6e-4)


def test_geojson_holds_measurements_and_classes_as_qupath_has_them(blobs):
    features = json.loads(blobs.to_geojson())["features"]
    assert {feature["properties"]["classification"]["name"] for feature in features} == {"bright", "dark"}
    assert all(feature["properties"]["objectType"] == "detection" for feature in features)
    measured = [feature["properties"]["measurements"]["diameter"] for feature in features]
    assert_allclose(measured, blobs.diameter, rtol=1e-5)


def test_geojson_leaves_out_what_is_not_a_number(blobs):
    unknown = blobs[:]
    object.__setattr__(unknown, "snr", np.full(2, np.nan))
    text = unknown.to_geojson()
    assert "NaN" not in text
    assert "snr" not in json.loads(text)["features"][0]["properties"]["measurements"]


def test_imagej_opens_the_same_outlines(blobs, tmp_path):
    path = tmp_path / "objects.zip"
    blobs.to_imagej_rois(path)
    regions = roifile.roiread(path)
    assert [region.name for region in regions] == ["00001", "00002"]
    for region, outline in zip(regions, blobs.outline, strict=True):
        assert_allclose(region.coordinates()[:, ::-1] - 0.5, outline, atol=1e-4)


def test_the_same_things_give_the_same_archive(blobs):
    assert blobs.to_imagej_rois() == blobs.to_imagej_rois()


def test_outlines_can_be_given_in_the_pixels_of_a_larger_image(blobs):
    once, twice = (json.loads(blobs.to_geojson(scale=scale))["features"][0]["geometry"] for scale in (1, 2))
    assert_allclose(np.array(twice["coordinates"]), 2 * np.array(once["coordinates"]), atol=2e-3)


def test_no_things_make_an_empty_collection_and_an_empty_archive(blobs):
    assert json.loads(blobs[:0].to_geojson()) == {"type": "FeatureCollection", "features": []}
    assert zipfile.ZipFile(io.BytesIO(blobs[:0].to_imagej_rois())).namelist() == []


def test_regions_need_roifile_and_say_so(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "roifile", None)
    with pytest.raises(ImportError, match=r"pip install 'imtorque\[rois\]'"):
        blobs.to_imagej_rois()


def test_the_command_line_says_in_plain_words_what_is_to_be_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "roifile", None)
    write_image(tmp_path / "a.png", draw())
    command = ["count", str(tmp_path / "a.png"), "--out", str(tmp_path / "out"), "--rois", "imagej", "--sizes", "15-41"]
    told = CliRunner().invoke(app, command).output
    assert "imagej needs roifile: pip install 'imtorque[rois]'" in " ".join(told.replace("│", "").split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("form", "ending"), [("geojson", "geojson"), ("imagej", "rois.zip")])
def test_the_command_line_writes_them(tmp_path, form, ending):
    write_image(tmp_path / "a.png", draw())
    command = ["count", f"{tmp_path / 'a.png'}", "--out", f"{tmp_path / 'out'}", "--rois", form, "--sizes", "15-41"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    (written,) = (tmp_path / "out").glob(f"*.{ending}")
    found = roifile.roiread(written) if form == "imagej" else json.loads(written.read_text())["features"]
    assert len(found) == 2
