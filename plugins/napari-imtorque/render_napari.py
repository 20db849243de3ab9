"""Draw the plugin at work, for the docs: `make napari-screenshot`."""

import sys

import napari

from imtorque import find_blobs
from napari_imtorque import samples, widgets
from napari_imtorque.click import CutOut
from napari_imtorque.planes import Stack
from napari_imtorque.results import blob_layers, edge_layers, made
from napari_imtorque.train import Train


def main() -> None:
    """Open the drawn discs with what is found in them, and save an image of the window."""
    viewer = napari.Viewer(show=True)
    viewer.window._qt_window.resize(1300, 860)
    data, arguments, _ = samples.discs()[0]
    viewer.add_image(data, **arguments)
    stack = Stack(data)
    layers = [
        *made(edge_layers(stack, 1.5, "discs")),
        *made(blob_layers(stack, lambda plane: find_blobs(plane, sizes=(12, 50)), "objects")),
    ]
    for values, options, kind in layers:
        getattr(viewer, f"add_{kind}")(values, **options)
    tool = CutOut(viewer)
    viewer.window.add_dock_widget(widgets.find_objects(), name="Find objects")
    viewer.window.add_dock_widget(tool, name="Cut out by click")
    viewer.window.add_dock_widget(Train(viewer), name="Train a finder")
    viewer.layers["objects labels"].visible = False
    tool.on.value = True
    tool.cut((70, 150))
    viewer.window.add_dock_widget(_table(viewer.layers["objects centres"].features), name="features", area="bottom")
    viewer.reset_view()
    napari.utils.notifications.notification_manager.records.clear()
    for _ in range(20):
        viewer.window._qt_window.repaint()
        napari.qt.get_qapp().processEvents()
        viewer.reset_view()
    viewer.window.screenshot(sys.argv[1], canvas_only=False, flash=False)
    viewer.close()


def _table(features):  # type: ignore[no-untyped-def]
    """Return the measurements as a table widget."""
    from magicgui.widgets import Table

    columns = ["label", "y", "x", "diameter", "area", "eccentricity", "contrast", "score"]
    return Table(value=features[columns].round(2))


if __name__ == "__main__":
    main()
