"""The tools as people use them, in a real viewer."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from napari.utils import progress
from napari.utils.notifications import notification_manager
from npe2 import PluginManifest
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
import napari_imtorque
from imtorque import synthetic
from napari_imtorque import samples, widgets
from napari_imtorque.click import CutOut
from napari_imtorque.train import Train
from napari_imtorque.work import start

MANIFEST = Path(napari_imtorque.__file__).with_name("napari.yaml")


@pytest.fixture
def viewer(make_napari_viewer):
    return make_napari_viewer()


@pytest.fixture
def discs(viewer):
    data, arguments, _ = samples.discs()[0]
    return viewer.add_image(data, **arguments)


def pressed(qtbot, viewer, widget, more):
    """Press the widget's button and wait for so many new layers."""
    before = len(viewer.layers)
    viewer.window.add_dock_widget(widget)
    widget()
    qtbot.waitUntil(lambda: len(viewer.layers) == before + more, timeout=120_000)


def test_every_command_of_the_manifest_is_there():
    manifest = PluginManifest.from_file(MANIFEST)
    manifest.validate_imports()
    assert manifest.name == "napari-imtorque"
    assert len(manifest.contributions.widgets) == 9


def test_finding_adds_labels_outlines_and_centres(qtbot, viewer, discs):
    widget = widgets.find_objects()
    widget.smallest.value, widget.largest.value = 12, 50
    pressed(qtbot, viewer, widget, 3)
    centres, labels = viewer.layers["objects centres"], viewer.layers["objects labels"]
    assert len(centres.data) == len(viewer.layers["objects outlines"].data) == 6
    assert_array_equal(labels.data, imtorque.find_blobs(discs.data, sizes=(12, 50)).labels)
    assert {"diameter", "area", "contrast"} <= set(centres.features.columns) & set(labels.features.columns)


def test_results_lie_where_the_image_lies(qtbot, viewer):
    planes, _, _ = samples.stack()[0]
    viewer.add_image(planes, name="stack", scale=(5, 0.5, 0.5), translate=(1, 2, 3))
    widget = widgets.find_objects()
    widget.smallest.value, widget.largest.value = 12, 50
    pressed(qtbot, viewer, widget, 3)
    for layer in list(viewer.layers)[1:]:
        assert_allclose(layer.scale, (5, 0.5, 0.5))
        assert_allclose(layer.translate, (1, 2, 3))
        assert layer.ndim == 3


def test_wrong_sizes_are_refused(viewer, discs):
    widget = widgets.find_objects()
    viewer.window.add_dock_widget(widget)
    with pytest.raises(ValueError, match="diameters must rise"):
        widget(discs, 30, 20)


def test_it_says_where_nothing_is_found(qtbot, viewer):
    viewer.add_image(np.zeros((40, 50), np.uint8), name="empty")
    widget = widgets.find_objects()
    viewer.window.add_dock_widget(widget)
    said = []
    notification_manager.notification_ready.connect(lambda one: said.append(one.message))
    widget()
    qtbot.waitUntil(lambda: len(said) > 0, timeout=120_000)
    assert said[0].startswith("Nothing was found in empty")
    assert len(viewer.layers) == 1


def test_work_is_cancelled_between_planes(qtbot, viewer):
    planes, _, _ = samples.stack()[0]
    image = viewer.add_image(planes, name="stack")
    seen = []

    def make(stack):
        for place, _ in stack.planes():
            seen.append(place)
            for bar in progress._all_instances:
                bar.cancel()
            yield
        return []

    worker = start(image, make)
    with qtbot.waitSignal(worker.aborted, timeout=120_000):
        pass
    assert seen == [(0,)]


def test_tracks_and_volumes_become_layers(qtbot, viewer):
    frames = np.stack([synthetic.disc((60, 80), (30, 20 + 4 * k), 9) for k in range(5)])
    viewer.add_image(frames, name="video", scale=(1, 2, 2))
    pressed(qtbot, viewer, widgets.track_objects(), 1)
    tracks = viewer.layers["video tracks"]
    assert_array_equal(tracks.data, [[1, k, 30, 20 + 4 * k] for k in range(5)])
    assert_allclose(tracks.scale, (1, 2, 2))
    viewer.layers.clear()
    z, y, x = np.mgrid[:12, :40, :40]
    viewer.add_image(200.0 * (4 * (z - 6) ** 2 + (y - 20) ** 2 + (x - 18) ** 2 <= 49), name="ball", scale=(2, 1, 1))
    widget = widgets.find_in_volume()
    widget.smallest.value, widget.largest.value = 8, 20
    pressed(qtbot, viewer, widget, 1)
    labels = viewer.layers["ball objects"]
    assert labels.data.max() == 1
    assert_allclose(labels.scale, (2, 1, 1))


def trained(qtbot, tool):
    with qtbot.waitSignal(tool.learn().finished, timeout=300_000):
        pass
    qtbot.waitUntil(lambda: "counted" in tool.said.value, timeout=120_000)


def test_marks_train_a_finder_that_counts_and_learns_from_corrections(qtbot, viewer, tmp_path):
    scene = synthetic.spot_scene(0, frames=1, count=40, shape=(200, 260), size=(11.0, 13.0), contrast=(60.0, 80.0))
    viewer.add_image(next(scene.frames()), name="cells")
    tool = Train(viewer)
    assert tool.learn() is None
    assert tool.said.value == "mark a few objects first"
    tool.begin()
    tool.marks["objects"].data = np.stack([scene.y[0, :6], scene.x[0, :6]], axis=1)
    trained(qtbot, tool)
    first = len(viewer.layers["cells counted centres"].data)
    assert 36 <= first <= 44
    away = viewer.layers["cells counted centres"].data[-1]
    tool.marks["no objects"].data = away[np.newaxis]
    trained(qtbot, tool)
    again = viewer.layers["cells counted centres"].data
    assert np.hypot(*(again - away).T).min() > 3
    assert [layer.name for layer in viewer.layers].count("cells counted centres") == 1
    tool.file.value = tmp_path / "cells.finder"
    tool.write()
    assert len(imtorque.ObjectFinder.load(tmp_path / "cells.finder").predict(viewer.layers["cells"].data)) > 10


def test_maps_and_edges_become_layers(qtbot, viewer, discs):
    pressed(qtbot, viewer, widgets.torque_maps(), 2)
    assert viewer.layers["discs value"].data.shape == discs.data.shape
    pressed(qtbot, viewer, widgets.edges(), 1)
    assert len(viewer.layers["discs edges"].data) > 100


def test_counting_uses_a_finder_that_was_taught(qtbot, viewer, discs, monkeypatch):
    def load(path):
        assert Path(path).name == "cells.finder"
        return SimpleNamespace(predict=lambda plane: imtorque.find_blobs(plane, sizes=(12, 50), sign=1))

    monkeypatch.setattr(imtorque.ObjectFinder, "load", load)
    widget = widgets.count_objects()
    widget.finder.value = "cells.finder"
    pressed(qtbot, viewer, widget, 3)
    assert len(viewer.layers["cells centres"].data) == 3
    assert viewer.layers["cells labels"].data.shape == discs.data.shape


@pytest.mark.usefixtures("discs")
def test_outlines_are_saved(qtbot, viewer, tmp_path):
    widget = widgets.find_objects()
    widget.smallest.value, widget.largest.value = 12, 50
    pressed(qtbot, viewer, widget, 3)
    widgets.save_outlines()(viewer.layers["objects outlines"], tmp_path / "a.geojson")
    saved = json.loads((tmp_path / "a.geojson").read_text())["features"]
    assert len(saved) == len(viewer.layers["objects outlines"].data)


def click(layer, position):
    """Press and release the mouse at a place of the world, as the tool sees it."""
    event = SimpleNamespace(type="mouse_press", pos=(10, 10), position=position)
    for callback in layer.mouse_drag_callbacks:
        if getattr(callback, "__func__", None) is not CutOut._clicked:
            continue  # napari's own
        run = callback(layer, event)
        next(run)
        event.type = "mouse_release"
        with pytest.raises(StopIteration):
            next(run)


def test_clicks_cut_objects_out_under_rising_numbers(viewer, discs):
    tool = CutOut(viewer)
    tool.on.value = True
    click(tool.layer, (30.0, 40.0))
    click(tool.layer, (95.0, 95.0))
    first, second = ((tool.layer.data == number).sum() for number in (1, 2))
    assert_allclose([first, second], [np.pi * 14**2, np.pi * 12**2], rtol=0.15)
    assert_array_equal(tool.layer.data == 1, imtorque.segment_figure(discs.data, (30, 40)))


def test_clicks_in_a_stack_paint_the_plane_they_are_in(viewer):
    planes, _, _ = samples.stack()[0]
    viewer.add_image(planes, scale=(2, 0.5, 0.5))
    tool = CutOut(viewer)
    tool.on.value = True
    click(tool.layer, (2.0, 15.0, 20.0))
    assert tool.layer.data[1].any()
    assert not tool.layer.data[[0, 2]].any()


@pytest.mark.usefixtures("discs")
def test_nothing_is_cut_out_once_it_is_switched_off(viewer):
    tool = CutOut(viewer)
    tool.on.value = True
    tool.on.value = False
    click(tool.layer, (30.0, 40.0))
    assert not tool.layer.data.any()


@pytest.mark.usefixtures("discs")
def test_a_click_beside_the_image_is_none(viewer):
    tool = CutOut(viewer)
    tool.on.value = True
    assert tool.cut((500, 500)) == 0
    assert not tool.layer.data.any()


def test_without_an_image_it_says_so(viewer):
    tool = CutOut(viewer)
    tool.on.value = True
    assert tool.said.value == "open an image first"
    assert not tool.on.value
