"""The tools with a form and a button: each works in a thread of its own, and its layers come when it is done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from magicgui import magic_factory
from napari.layers import Image, Shapes
from napari.qt.threading import FunctionWorker, thread_worker
from napari.types import LayerDataTuple
from qtpy.QtCore import QTimer

import imtorque
from napari_imtorque.outlines import write_outlines
from napari_imtorque.planes import Stack, lie_of, stack_of
from napari_imtorque.results import Layer, blob_layers, edge_layer, map_layers

SIGNS = {"bright and dark": None, "bright": 1, "dark": -1}
Worker = FunctionWorker[list[LayerDataTuple]]


@magic_factory(
    call_button="Find",
    smallest={"label": "smallest diameter", "min": 0, "max": 100000},
    largest={"label": "largest diameter", "min": 0, "max": 100000, "tooltip": "0: find out by itself"},
    kind={"choices": list(SIGNS)},
    min_score={"label": "least score", "min": 0.0, "max": 1.0, "step": 0.05, "tooltip": "0: as usual"},
)
def find_objects(
    image: Image, smallest: int = 0, largest: int = 0, kind: str = "bright and dark", min_score: float = 0.0
) -> Worker:
    """Find bright and dark objects: centres, outlines and labels with measurements."""
    if largest and not 0 < smallest <= largest:
        raise ValueError(f"diameters must rise from above 0, or both be 0, got {smallest} to {largest}")
    options = {"sizes": (smallest, largest) if largest else None, "sign": SIGNS[kind], "min_score": min_score or None}
    return _work(
        image, lambda stack: blob_layers(stack, lambda plane: imtorque.find_blobs(plane, **options), "objects")
    )


@magic_factory(call_button="Count", finder={"label": "finder", "filter": "*.finder", "mode": "r"})
def count_objects(image: Image, finder: Path) -> Worker:
    """Count what a finder was trained to find: centres, outlines and labels with measurements."""
    trained = imtorque.ObjectFinder.load(finder)
    return _work(image, lambda stack: blob_layers(stack, trained.predict, Path(finder).stem))


@magic_factory(
    call_button="Compute",
    largest={"label": "largest size", "min": 0, "max": 100000, "tooltip": "0: half the image's shorter side"},
)
def torque_maps(image: Image, largest: int = 0, patch: Literal["square", "disk"] = "square") -> Worker:
    """Compute at each pixel the strongest torque over all sizes, and the size it was found at."""

    def maps(stack: Stack) -> list[Layer]:
        sizes = imtorque.default_sizes(stack.shape[-2:])
        chosen = sizes[sizes <= largest] if largest else sizes
        if not len(chosen):
            raise ValueError(f"the largest size must be at least {sizes[0]}, got {largest}")
        return map_layers(stack, np.asarray(chosen), patch, image.name)

    return _work(image, maps)


@magic_factory(call_button="Detect", sigma={"min": 0.5, "max": 50.0, "step": 0.25})
def edges(image: Image, sigma: float = 1.5) -> Worker:
    """Detect edges, as arrows with the brighter side on their right."""
    return _work(image, lambda stack: [edge_layer(stack, sigma, image.name)])


@magic_factory(call_button="Save", file={"mode": "w", "filter": "*.geojson *.zip"})
def save_outlines(outlines: Shapes, file: Path) -> None:
    """Save outlines for QuPath (.geojson) or for ImageJ's ROI Manager (.zip)."""
    write_outlines(outlines, file)


def _work(image: Image, make: Callable[[Stack], list[Layer]]) -> Worker:
    """Make layers from the pixels of one, in a thread; they lie where it lies."""
    stack, lie = stack_of(image), lie_of(image)

    @thread_worker(progress=True)  # type: ignore[untyped-decorator]
    def work() -> list[Any]:
        return [(data, {**lie, **arguments}, kind) for data, arguments, kind in make(stack)]

    worker = work()
    QTimer.singleShot(0, worker.start)  # not at once: napari has yet to connect what becomes of the result
    return worker
