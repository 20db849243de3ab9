"""Train a finder in the viewer: mark a few objects, train and count, mark what is wrong, and train again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from magicgui.widgets import ComboBox, Container, FileEdit, Label, PushButton
from napari.layers import Image, Points
from napari.viewer import Viewer
from numpy.typing import NDArray

from imtorque import Blobs, ObjectFinder
from imtorque.detection import find_clicked
from imtorque.detection.clicks import trained_on_clicks
from napari_imtorque.planes import Stack, lie_of, stack_of
from napari_imtorque.results import Steps, blob_layers
from napari_imtorque.work import Worker, start

MARKED, WRONG = "#55ff77", "#ff3399"
MARK_SIZE = 6  # pixels


class Train(Container):  # type: ignore[misc]
    """Chooses an image layer; marks in two points layers of it, objects and what is none, teach a finder."""

    def __init__(self, napari_viewer: Viewer) -> None:
        """Make the form, and keep its list of images up to date."""
        super().__init__()
        self.viewer = napari_viewer
        self.image = ComboBox(label="image", choices=self._images)
        self.mark = PushButton(text="Mark objects")
        self.train = PushButton(text="Train and count")
        self.file = FileEdit(label="save as", mode="w", filter="*.finder")
        self.save = PushButton(text="Save the finder")
        self.said = Label(value="Mark a few objects, then train.")
        self.extend([self.image, self.mark, self.train, self.file, self.save, self.said])
        self.finder: ObjectFinder | None = None
        self.marks: dict[str, Points] = {}
        self.found: list[str] = []  # names of the layers that the last training brought
        for button, call in ((self.mark, self.begin), (self.train, self.learn), (self.save, self.write)):
            button.changed.connect(call)
        napari_viewer.layers.events.inserted.connect(self.image.reset_choices)
        napari_viewer.layers.events.removed.connect(self.image.reset_choices)

    def begin(self) -> None:
        """Add the two layers for marks, the one for objects ready to be clicked into."""
        image = self.image.value
        if image is None:
            self.said.value = "open an image first"
            return
        for name, colour in (("no objects", WRONG), ("objects", MARKED)):
            layer = self.marks.get(name)
            if layer is None or layer not in self.viewer.layers:
                style = {"face_color": colour, "size": MARK_SIZE, "ndim": len(stack_of(image).shape), **lie_of(image)}
                self.marks[name] = self.viewer.add_points(name=f"{image.name} marked: {name}", **style)
        self.marks["objects"].mode = "add"
        self.viewer.layers.selection.active = self.marks["objects"]

    def learn(self) -> Worker | None:
        """Train with all marks, and count in every plane; what was counted before is replaced."""
        if "objects" not in self.marks or not len(self.marks["objects"].data):
            self.said.value = "mark a few objects first"
            return None
        image, objects, none = self.image.value, self.marks["objects"].data, self.marks["no objects"].data
        self.said.value = "learning ..."
        worker = start(image, lambda stack: self._steps(stack, np.array(objects), np.array(none), image.name))
        worker.returned.connect(self._show)
        worker.errored.connect(self._failed)
        return worker

    def write(self) -> None:
        """Save the finder, for `imtorque count --model` and for Count with a finder."""
        if self.finder is None:
            self.said.value = "train first"
            return
        self.finder.save(self.file.value)
        self.said.value = f"saved: {self.file.value}"

    def _steps(self, stack: Stack, objects: NDArray[Any], none: NDArray[Any], name: str) -> Steps:
        """Learn from the planes that have marks, then count in all."""
        clicks = {place: _clicks(objects, none, place) for place in sorted({_place(point) for point in objects})}
        first, *others = ((stack.plane(place), marks) for place, marks in clicks.items())
        self.finder = finder = trained_on_clicks(*first, others)
        places = iter(np.ndindex(*stack.places))

        def find(plane: NDArray[Any]) -> Blobs:
            here = next(places)
            if here not in clicks:
                return finder.predict(plane)
            return find_clicked(plane, clicks[here], [one for one in (first, *others) if one[1] is not clicks[here]])

        return (yield from blob_layers(stack, find, f"{name} counted"))

    def _show(self, layers: list[Any]) -> None:
        """Put what was counted in the place of what was counted before."""
        for name in self.found:
            if name in self.viewer.layers:
                self.viewer.layers.remove(name)
        self.found = [self.viewer.add_layer(_layer(one)).name for one in layers]
        for points in self.marks.values():
            self.viewer.layers.move(self.viewer.layers.index(points), len(self.viewer.layers))
        count = len(layers[-1][0]) if layers else 0
        self.said.value = f"{count} counted. Mark what is missing or none, and train again."

    def _failed(self, error: Exception) -> None:
        self.said.value = str(error)

    def _images(self, _: Any) -> list[Image]:
        return [layer for layer in self.viewer.layers if isinstance(layer, Image)]


def _layer(one: tuple[Any, dict[str, Any], str]) -> Any:
    from napari.layers import Layer

    return Layer.create(*one)


def _place(point: Sequence[float]) -> tuple[int, ...]:
    """Return the plane that a mark lies in."""
    return tuple(round(float(i)) for i in point[:-2])


def _clicks(
    objects: NDArray[Any], none: NDArray[Any], place: tuple[int, ...]
) -> list[tuple[float, float, float, bool]]:
    """Return the marks in a plane as clicks: those on objects first, then corrections."""
    marks = [(point, wrong) for points, wrong in ((objects, False), (none, True)) for point in points]
    return [(float(y), float(x), 0.0, wrong) for (*at, y, x), wrong in marks if _place((*at, y, x)) == place]
