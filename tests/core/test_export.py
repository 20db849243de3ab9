"""Every result leaves the library in the same ways."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import imtorque
from imtorque import synthetic, volumes
from imtorque.core.boxes import Boxes
from imtorque.video import Trajectories, track_extrema


def disc():
    return synthetic.disc((60, 80), (30, 40), 11)


RESULTS = {
    "extrema": lambda: imtorque.find_extrema(imtorque.detect_edges(disc()), count=3),
    "rectangles": lambda: imtorque.find_extrema(imtorque.detect_edges(disc()), [(9, 5), (11, 13)], count=3),
    "blobs": lambda: imtorque.find_blobs(disc()),
    "boxes": lambda: Boxes(*np.arange(8).reshape(4, 2), np.array([0.5, 0.25])),
    "volume": lambda: volumes.find_extrema(np.pad(np.ones((9, 9, 9)), 8), count=3),
    "tracks": lambda: Trajectories.of(track_extrema([disc()] * 2)),
}
LAYERS = {"blobs": "shapes", "boxes": "shapes", "tracks": "tracks"}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_table_and_a_layer(tmp_path, name):
    found = RESULTS[name]()
    assert len(found) > 0
    text = found.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == text == found.to_csv()
    assert text.count("\n") == len(found) + 1
    data, arguments, kind = found.to_napari()
    assert kind == LAYERS.get(name, "points")
    assert len(data) == len(found)
    assert arguments["name"]
    pandas = pytest.importorskip("pandas")
    table = found.to_dataframe()
    assert isinstance(table, pandas.DataFrame)
    assert {*text.split("\n")[0].split(",")} - {"label", "torque"} <= {*table.columns}


@pytest.mark.parametrize("name", ["extrema", "rectangles", "blobs", "boxes"])
def test_flat_results_are_geojson(tmp_path, name):
    found = RESULTS[name]()
    text = found.to_geojson(tmp_path / "a.geojson")
    assert (tmp_path / "a.geojson").read_text() == text
    assert len(json.loads(text)["features"]) == len(found)


def test_a_patch_is_a_polygon_around_its_pixels():
    found = imtorque.Extrema([10], [20], [[3, 5]], [0.5])
    feature = json.loads(found.to_geojson())["features"][0]
    assert feature["geometry"]["coordinates"] == [[[18, 9], [23, 9], [23, 12], [18, 12], [18, 9]]]
    assert feature["properties"]["measurements"] == {"y": 10, "x": 20, "height": 3, "width": 5, "torque": 0.5}


def test_boxes_lie_around_their_pixels_in_napari():
    corners = Boxes(*np.array([[2], [3], [4], [6]]), np.ones(1)).to_napari()[0][0]
    assert_array_equal(corners, [[1.5, 2.5], [1.5, 5.5], [3.5, 5.5], [3.5, 2.5]])
