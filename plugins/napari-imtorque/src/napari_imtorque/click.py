"""Cut out by click: each click on an object paints it into a labels layer, under the next number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from magicgui.widgets import CheckBox, ComboBox, Container, Label
from napari.layers import Image, Labels
from napari.viewer import Viewer

import imtorque
from napari_imtorque.planes import lie_of, stack_of

FARTHEST = 3  # pixels the mouse may move between press and release of a click


class CutOut(Container):  # type: ignore[misc]
    """Chooses an image layer; while it is on, clicks into its labels layer cut objects out."""

    def __init__(self, napari_viewer: Viewer) -> None:
        """Make the form, and keep its list of images up to date."""
        super().__init__()
        self.viewer = napari_viewer
        self.image = ComboBox(label="image", choices=self._images)
        self.on = CheckBox(text="cut out what is clicked", value=False)
        self.said = Label(value="")
        self.extend([self.image, self.on, self.said])
        self.layer: Labels | None = None
        self.on.changed.connect(self._switch)
        napari_viewer.layers.events.inserted.connect(self.image.reset_choices)
        napari_viewer.layers.events.removed.connect(self.image.reset_choices)

    def cut(self, position: tuple[float, ...]) -> int:
        """Cut out the object at a place in the labels layer's own pixels, and return its number; 0 where none is."""
        if self.layer is None:
            raise ValueError("cutting out must be switched on first")
        stack = stack_of(self.image.value)
        where = tuple(round(float(i)) for i in position)
        if any(not 0 <= i < n for i, n in zip(where, stack.shape, strict=True)):
            return 0
        mask = imtorque.segment_figure(stack.plane(where[:-2]), where[-2:])
        number = int(np.max(self.layer.data)) + 1
        self.layer.data[where[:-2]][mask] = number
        self.layer.refresh()
        self.layer.selected_label = number
        self.said.value = f"{number}: {int(mask.sum())} pixels" if mask.any() else "nothing there"
        return number if mask.any() else 0

    def _images(self, _: Any) -> list[Image]:
        return [layer for layer in self.viewer.layers if isinstance(layer, Image)]

    def _switch(self, on: bool) -> None:
        """Make a labels layer over the image and listen to clicks, or stop listening."""
        if self.layer is not None and self._clicked in self.layer.mouse_drag_callbacks:
            self.layer.mouse_drag_callbacks.remove(self._clicked)
        if not on:
            return
        image = self.image.value
        if image is None:
            self.said.value = "open an image first"
            self.on.value = False
            return
        if self.layer is None or self.layer not in self.viewer.layers or self.layer.data.shape != stack_of(image).shape:
            empty = np.zeros(stack_of(image).shape, np.int32)
            self.layer = self.viewer.add_labels(empty, name=f"{image.name} cut out", **lie_of(image))
        self.layer.mouse_drag_callbacks.append(self._clicked)
        self.viewer.layers.selection.active = self.layer

    def _clicked(self, layer: Labels, event: Any) -> Iterator[None]:
        """Cut out where the mouse is pressed and released again in one place; what is dragged moves the image."""
        start = np.asarray(event.pos)
        yield
        while event.type == "mouse_move":
            yield
        if np.abs(np.asarray(event.pos) - start).max() <= FARTHEST:
            self.cut(tuple(layer.world_to_data(event.position)))
