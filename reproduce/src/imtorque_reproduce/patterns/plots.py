"""A drawn scene of each kind with what signed torque, closure and a control find first."""

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw

from imtorque.render.torque import MAXIMUM_COLOUR, MINIMUM_COLOUR, Bytes
from imtorque_reproduce.objects.rows import Boxes
from imtorque_reproduce.patterns.rows import drawn_boxes
from imtorque_reproduce.patterns.scenes import KINDS, DrawnScene, draw_scene
from imtorque_reproduce.plots import sheet_png

SHOWN = ("torque", "closure", "control:radial-symmetry-free")
SEED = 1  # of the scenes on the sheet; convention


def drawn_sheet() -> bytes:
    """Draw the truth and the first squares of some methods, as many as there are objects."""
    return sheet_png([_row(kind) for kind in KINDS], 128)


def _row(kind: str) -> list[tuple[str, Bytes]]:
    scene = draw_scene(kind, SEED)
    cells = [(kind, _marked(scene, scene.boxes, MAXIMUM_COLOUR))]
    for method in SHOWN:
        found = drawn_boxes(method, scene.image)[: len(scene.boxes)]
        cells.append((method.removeprefix("control:"), _marked(scene, found, MINIMUM_COLOUR)))
    return cells


def _marked(scene: DrawnScene, boxes: Boxes, colour: str) -> Bytes:
    grey = np.rint(255 * scene.image).astype(np.uint8)
    canvas = PillowImage.fromarray(np.repeat(grey[:, :, None], 3, axis=2))
    draw = ImageDraw.Draw(canvas)
    for y0, x0, y1, x1 in boxes.tolist():
        draw.rectangle((x0, y0, x1 - 1, y1 - 1), outline="black", width=3)
        draw.rectangle((x0 + 1, y0 + 1, x1 - 2, y1 - 2), outline=colour, width=1)
    return np.asarray(canvas)
