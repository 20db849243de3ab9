"""Example images of the objects experiment: the first masks of a few images beside the true object."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image as PillowImage

from imtorque.core.types import BoolArray
from imtorque.render.figures import figure_overlay
from imtorque.render.saliency import labelled_sheet
from imtorque.render.torque import Bytes
from imtorque_reproduce.objects.cases import Finding, Truth, read_truth

EXAMPLES = 6
WIDTH = 170  # pixels of an image on the sheet


def object_sheet(sources: Sequence[Finding], find: Callable[[Truth], Sequence[BoolArray]]) -> bytes:
    """Draw a true object, the largest, and the masks that are found, each with its best overlap with any object."""
    places = np.linspace(0, len(sources) - 1, min(EXAMPLES, len(sources))).round().astype(int)
    rows = [_row(read_truth(sources[k]), find) for k in places]
    longest = max(len(row) for row in rows)
    sheet = labelled_sheet([row + [("", np.full_like(row[0][1], 255))] * (longest - len(row)) for row in rows])
    png = io.BytesIO()
    PillowImage.fromarray(sheet).quantize(200).save(png, "PNG", optimize=True)
    return png.getvalue()


def _row(truth: Truth, find: Callable[[Truth], Sequence[BoolArray]]) -> list[tuple[str, Bytes]]:
    largest = truth.objects[truth.objects.sum(axis=(1, 2)).argmax()]
    cells = [("truth", _small(truth, largest))]
    masks = find(truth)
    for k, best in enumerate(truth.overlaps(masks).max(axis=1, initial=0.0)):
        cells.append((f"{k + 1}: {best:.2f}", _small(truth, masks[k])))
    return cells


def _small(truth: Truth, mask: BoolArray) -> Bytes:
    drawn = PillowImage.fromarray(figure_overlay(truth.image, [mask]))
    height = max(1, round(drawn.height * WIDTH / drawn.width))
    return np.asarray(drawn.resize((WIDTH, height), PillowImage.Resampling.LANCZOS))
