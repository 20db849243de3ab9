"""What is made of the pixels of a layer, without napari."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import roifile
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
from imtorque import synthetic
from imtorque.video import FrameExtrema
from napari_imtorque.outlines import write_outlines
from napari_imtorque.planes import Stack
from napari_imtorque.results import blob_layers, edge_layers, made, map_layers, track_layers, volume_layers
from napari_imtorque.samples import discs, stack


def find(plane):
    return imtorque.find_blobs(plane, sizes=(12, 50))


@pytest.fixture(scope="module")
def of_stack():
    return made(blob_layers(Stack(stack()[0][0]), find, "objects"))


def test_an_image_gives_the_librarys_own_blobs():
    image = discs()[0][0]
    labels, outlines, centres = made(blob_layers(Stack(image), find, "objects"))
    blobs = find(image)
    assert len(blobs) == 6
    assert_array_equal(labels[0], blobs.labels)
    assert_allclose(centres[0], np.stack([blobs.y, blobs.x], axis=1))
    assert_allclose(outlines[0][0], blobs.outline[0])
    assert_allclose(centres[1]["features"]["diameter"], blobs.diameter)


def test_colour_images_are_one_plane():
    image = np.repeat(discs()[0][0][:, :, np.newaxis], 3, axis=2)
    labels, *_ = made(blob_layers(Stack(image, rgb=True), find, "objects"))
    assert labels[0].shape == image.shape[:2]


def test_objects_are_numbered_through_a_stack(of_stack):
    labels, outlines, centres = of_stack
    table = centres[1]["features"]
    assert_array_equal(table["label"], np.arange(1, len(centres[0]) + 1))
    assert len(outlines[0]) == len(centres[0]) == len(np.unique(labels[0])) - 1
    for (z, y, x), number in zip(np.rint(centres[0]).astype(int), table["label"], strict=True):
        assert labels[0][z, y, x] == number


def test_each_plane_is_searched_by_itself(of_stack):
    planes = stack()[0][0]
    _, _, centres = of_stack
    alone = [find(plane) for plane in planes]
    assert_array_equal(centres[1]["features"]["axis 0"], np.repeat(np.arange(3), [len(found) for found in alone]))
    assert_allclose(centres[0][:, 1], np.concatenate([found.y for found in alone]))


def test_the_labels_table_begins_with_the_background(of_stack):
    features = of_stack[0][1]["features"]
    assert features["index"][0] == 0
    assert np.isnan(features["diameter"][0])


def test_an_image_without_objects_gives_no_layers():
    assert made(blob_layers(Stack(np.zeros((40, 50), np.uint8)), find, "objects")) == []


def test_tracks_are_the_librarys_own():
    frames = np.stack([synthetic.disc((60, 80), (30, 20 + 4 * k), 9) for k in range(5)])
    ((rows, arguments, kind),) = made(track_layers(Stack(frames), FrameExtrema(), "video"))
    assert kind == "tracks"
    assert arguments["name"] == "video tracks"
    assert_array_equal(rows, [[1, k, 30, 20 + 4 * k] for k in range(5)])
    assert made(track_layers(Stack(np.zeros((3, 40, 50))), FrameExtrema(), "video")) == []
    with pytest.raises(ValueError, match="one axis, time"):
        made(track_layers(Stack(frames[0]), FrameExtrema(), "image"))


def test_objects_of_a_volume_are_the_librarys_own():
    z, y, x = np.mgrid[:24, :40, :40]
    ball = 200.0 * ((z - 12) ** 2 + (y - 20) ** 2 + (x - 18) ** 2 <= 49)
    ((labels, arguments, kind),) = made(volume_layers(Stack(ball), (8, 20), 1, (1, 1, 1), "balls"))
    assert kind == "labels"
    assert len(arguments["features"]["index"]) == labels.max() == 1
    assert_allclose(np.mean(np.nonzero(labels), axis=1), (12, 20, 18), atol=0.5)
    with pytest.raises(ValueError, match="axes z, y and x"):
        made(volume_layers(Stack(ball[0]), (8, 20), 1, (1, 1, 1), "plane"))


def test_maps_are_the_librarys_own():
    planes = stack()[0][0]
    sizes = np.array([5, 15, 31])
    (scale, _, _), (value, arguments, _) = made(map_layers(Stack(planes), sizes, "square", "stack"))
    expected = imtorque.value_and_scale_maps(imtorque.detect_edges(planes[1]), sizes)
    assert_array_equal(value[1], expected[0])
    assert_array_equal(scale[1], expected[1])
    assert arguments["contrast_limits"][0] == -arguments["contrast_limits"][1]


def test_arrows_are_centred_on_edge_pixels_and_lie_along_the_edge():
    image = np.zeros((40, 40), np.float32)
    image[:, 20:] = 1
    ((vectors, _, _),) = made(edge_layers(Stack(image), 1.5, "step"))
    middle = vectors[:, 0] + vectors[:, 1] / 2
    assert set(np.rint(middle[:, 1]).astype(int)) <= {19, 20}
    assert_allclose(vectors[:, 1, 1], 0, atol=1e-4)  # along y
    assert np.all(vectors[:, 1, 0] < 0)  # upwards: the brighter side is on the right


@pytest.fixture
def layer(of_stack):
    outlines, arguments, _ = of_stack[1]
    return SimpleNamespace(data=outlines, features=pd.DataFrame(arguments["features"]))


def test_outlines_are_saved_for_qupath(layer, tmp_path):
    features = json.loads(write_outlines(layer, tmp_path / "a.geojson").read_text())["features"]
    assert len(features) == len(layer.data)
    last = features[-1]
    assert last["geometry"]["plane"] == {"c": -1, "z": 2, "t": 0}
    ring = np.array(last["geometry"]["coordinates"][0][:-1])
    assert_allclose(ring[:, ::-1] - 0.5, layer.data[-1][:, 1:], atol=1e-3)
    assert last["properties"]["measurements"]["diameter"] > 10


def test_outlines_are_saved_for_imagej(layer, tmp_path):
    regions = roifile.roiread(write_outlines(layer, tmp_path / "a.zip"))
    assert [region.position for region in regions] == [int(points[0, 0]) + 1 for points in layer.data]
    assert_allclose(regions[0].coordinates()[:, ::-1] - 0.5, layer.data[0][:, 1:], atol=1e-3)


def test_other_endings_are_refused(layer, tmp_path):
    with pytest.raises(ValueError, match=r"must end in .geojson or .zip, got '.txt'"):
        write_outlines(layer, tmp_path / "a.txt")
