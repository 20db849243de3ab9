"""Example images of figure-ground experiments, with the fixation as a dot, as the paper shows them."""

from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw

from imtorque.core.types import BoolArray
from imtorque.render.figures import ADDED, figure_overlay
from imtorque.render.torque import Bytes
from imtorque_reproduce.figure_ground.ablation import Way
from imtorque_reproduce.figure_ground.cases import Scene, Source, read_scene
from imtorque_reproduce.figure_ground.rows import Cutter
from imtorque_reproduce.plots import sheet_png
from imtorque_reproduce.scoring import evenly

SHOWN = (
    "canny-binary",
    "canny-binary+torque",
    "canny-magnitude",
    "canny-magnitude+torque",
    "control:grabcut-centred-box",
)
FIGURE_EXAMPLES = 6  # scenes on the sheet; convention
WIDTH = 170  # pixels of an image on the sheet; convention


def figure_sheet(sources: Sequence[Source], ways: Mapping[str, Way], shown: Sequence[str] = SHOWN) -> bytes:
    """Draw the truth and some rows' figures of a few scenes, spread over all, each with its overlap."""
    return sheet_png([_row(read_scene(source), ways, shown) for source in evenly(sources, FIGURE_EXAMPLES)], 200)


def _row(scene: Scene, ways: Mapping[str, Way], shown: Sequence[str]) -> list[tuple[str, Bytes]]:
    cutter = Cutter(scene)
    cells = [("truth", _small(scene, scene.figure))]
    for name in shown:
        mask = cutter.cut(ways[name])
        cells.append((f"{name.removeprefix('control:')} {scene.iou(mask):.2f}", _small(scene, mask)))
    return cells


def _small(scene: Scene, mask: BoolArray) -> Bytes:
    drawn = PillowImage.fromarray(figure_overlay(scene.image, [mask]))
    height = max(1, round(drawn.height * WIDTH / drawn.width))
    drawn = drawn.resize((WIDTH, height), PillowImage.Resampling.LANCZOS)
    scale = WIDTH / scene.image.shape[1]
    place = ((scene.fixation[1] + 0.5) * scale, (scene.fixation[0] + 0.5) * scale)
    draw = ImageDraw.Draw(drawn)
    draw.circle(place, 4, fill="black")
    draw.circle(place, 3, fill=ADDED)
    return np.asarray(drawn)
