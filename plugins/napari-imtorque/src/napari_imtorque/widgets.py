"""The tools with a form and a button: each works in a thread of its own, and its layers come when it is done."""

from pathlib import Path
from typing import Literal

import numpy as np
from magicgui import magic_factory
from napari.layers import Image, Shapes
from napari.qt.threading import FunctionWorker
from napari.types import LayerDataTuple

import imtorque
from imtorque.core.torque import default_sizes
from imtorque.video import FrameExtrema
from napari_imtorque.outlines import write_outlines
from napari_imtorque.planes import Stack
from napari_imtorque.results import Steps, blob_layers, edge_layers, map_layers, track_layers, volume_layers
from napari_imtorque.work import start

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
    options = {"sizes": _range(smallest, largest), "sign": SIGNS[kind], "min_score": min_score or None}
    return start(
        image, lambda stack: blob_layers(stack, lambda plane: imtorque.find_blobs(plane, **options), "objects")
    )


@magic_factory(call_button="Count", finder={"label": "finder", "filter": "*.finder", "mode": "r"})
def count_objects(image: Image, finder: Path) -> Worker:
    """Count what a finder was trained to find: centres, outlines and labels with measurements."""
    trained = imtorque.ObjectFinder.load(finder)
    return start(image, lambda stack: blob_layers(stack, trained.predict, Path(finder).stem))


@magic_factory(
    call_button="Track",
    smallest={"label": "smallest size", "min": 0, "max": 100000},
    largest={"label": "largest size", "min": 0, "max": 100000, "tooltip": "0: the 50 that stand out, of any size"},
    kind={"choices": list(SIGNS)},
)
def track_objects(image: Image, smallest: int = 0, largest: int = 0, kind: str = "bright and dark") -> Worker:
    """Find objects in every plane of a video, its first axis being time, and follow them: tracks."""
    sizes = _range(smallest, largest)
    listed = None if sizes is None else tuple(default_sizes((1, 1), smallest=2 * (smallest // 2) + 1, largest=largest))
    finder = FrameExtrema(sizes=listed, sign=SIGNS[kind])
    return start(image, lambda stack: track_layers(stack, finder, image.name))


@magic_factory(
    call_button="Find",
    smallest={"label": "smallest diameter", "min": 0, "max": 100000},
    largest={"label": "largest diameter", "min": 0, "max": 100000, "tooltip": "0: any size"},
    kind={"choices": list(SIGNS), "value": "bright"},
)
def find_in_volume(image: Image, smallest: int = 0, largest: int = 0, kind: str = "bright") -> Worker:
    """Find objects in a stack as one volume, its planes as far apart as the layer's scale says: labels."""
    sizes, spacing = _range(smallest, largest), image.scale
    return start(image, lambda stack: volume_layers(stack, sizes, SIGNS[kind], spacing, image.name))


@magic_factory(
    call_button="Compute",
    largest={"label": "largest size", "min": 0, "max": 100000, "tooltip": "0: half the image's shorter side"},
)
def torque_maps(image: Image, largest: int = 0, patch: Literal["square", "disk"] = "square") -> Worker:
    """Compute at each pixel the strongest torque over all sizes, and the size it was found at."""

    def maps(stack: Stack) -> Steps:
        sizes = imtorque.default_sizes(stack.shape[-2:])
        chosen = sizes[sizes <= largest] if largest else sizes
        if not len(chosen):
            raise ValueError(f"the largest size must be at least {sizes[0]}, got {largest}")
        return map_layers(stack, np.asarray(chosen), patch, image.name)

    return start(image, maps)


@magic_factory(call_button="Detect", sigma={"min": 0.5, "max": 50.0, "step": 0.25})
def edges(image: Image, sigma: float = 1.5) -> Worker:
    """Detect edges, as arrows with the brighter side on their right."""
    return start(image, lambda stack: edge_layers(stack, sigma, image.name))


@magic_factory(call_button="Save", file={"mode": "w", "filter": "*.geojson *.zip"})
def save_outlines(outlines: Shapes, file: Path) -> None:
    """Save outlines for QuPath (.geojson) or for ImageJ's ROI Manager (.zip)."""
    write_outlines(outlines, file)


def _range(smallest: int, largest: int) -> tuple[float, float] | None:
    """Return the range that two fields of a form give, None where they are 0."""
    if largest and not 0 < smallest <= largest:
        raise ValueError(f"diameters must rise from above 0, or both be 0, got {smallest} to {largest}")
    return (smallest, largest) if largest else None
