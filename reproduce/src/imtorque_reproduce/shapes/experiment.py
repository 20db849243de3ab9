"""Find a class of shapes: tuned torque beside chamfer matching and the generalised Hough transform.

Drawn silhouettes among others and in clutter; objects of Caltech-101 in their own photographs, and the same objects cut
out and put at random places and sizes into Berkeley photographs. Classes are learned on one half of their outlines and
looked for in the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from imtorque import datasets
from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.torque import default_sizes
from imtorque.core.types import BoolArray, Edges, Image
from imtorque.datasets import CaltechImage
from imtorque.datasets.pasted import BERKELEY, PastedObject
from imtorque.detection.shape_classes import ShapeTorque, shape_edges
from imtorque.detection.shape_classes.examples import contour_mask
from imtorque.jobs.processes import each
from imtorque.synthetic import silhouette, silhouette_scene
from imtorque.synthetic.silhouettes import OUTLINES
from imtorque_reproduce.objects.rows import HIT, bounding_box, overlaps
from imtorque_reproduce.report import Report, Request, checksum, data_folder
from imtorque_reproduce.scoring import Floats, compare, gather
from imtorque_reproduce.shapes.controls import chamfer_boxes, exemplars, hough_boxes

CATEGORIES = ("car_side", "airplanes", "dolphin")
EXAMPLES = 20  # drawn contours that a class is learned from; untuned
SCENES_PER_CLASS = 15  # drawn, of each class; bound: time
MAX_PHOTOGRAPHS = 30  # photographs of each category that are reported on; bound: time
GROUNDS = 60  # Berkeley's training images that stand for what is no such object; bound: time
PROPOSALS = 200  # extrema of plain torque that do not overlap; bound: time
SMALLEST_PROPOSAL = 21  # pixels: of their patches; untuned
FIRST = 10  # boxes that are looked at; convention
MAX_OVERLAP = 0.4  # of boxes of one method; convention: that of ShapeTorque
METHODS = (
    *("shape-torque", "shape-torque-outlines", "torque+shape-torque"),
    *("chamfer", "chamfer-oriented", "generalised-hough", "torque"),
)
MEAN_BOX = "control:mean-box"
CHAMFER_DIRECTIONS = 4  # bins, for oriented chamfer matching; untuned
COMPARED = ("chamfer", "chamfer-oriented", "generalised-hough", "torque", "torque+shape-torque", MEAN_BOX)
NOTES = (
    "first: the share of images whose best box overlaps the object's by half (intersection over union); ten: one of "
    "the ten best. drawn: five classes of silhouettes, one of the class and one of each other in every scene. photo: "
    "Caltech's own photographs. pasted: the same objects cut out, in Berkeley's test images, their boxes 2 to 15 % "
    "of the area. Every second outline of a category is learned from; the others are reported on, 30 at most.",
    "shape-torque: learned from the photographs under the masks against Berkeley's training images (drawn: from "
    "contours alone). shape-torque-outlines: from outlines alone. torque+shape-torque: only near the 200 strongest "
    "extrema of plain torque from 21 pixels on. torque: the strongest extremum's square, in the class's proportions.",
    "chamfer: distance transform, three outlines of the class, truncated at a tenth of the height; oriented: in "
    "four bins of directions. generalised-hough: "
    "OpenCV's (Ballard), the same outlines. All look at the same Canny edges and heights, and know no polarity.",
    "control:mean-box: the mean box of the class's examples, without a look. Caltech's objects stand in the middle.",
)


@dataclass(frozen=True)
class Case:
    """One image to look for a class in: a drawn scene by its seed, a photograph, or an object in another image."""

    source: int | CaltechImage | PastedObject
    kind: str

    def read(self) -> tuple[Image, tuple[int, ...]]:
        """Return the image and the box of its object."""
        if isinstance(self.source, int):
            scene = silhouette_scene(self.source, self.kind)
            return scene.image, tuple(scene.boxes[0])
        if isinstance(self.source, PastedObject):
            made = self.source.read()
            return made.image, made.box
        image = self.source.image()
        return image, bounding_box(self.source.outline().mask((image.shape[0], image.shape[1])))


@dataclass(frozen=True, eq=False)
class Learned:
    """What the methods know of a class."""

    tuned: ShapeTorque
    outlines: ShapeTorque
    masks: list[BoolArray]
    mean_box: Floats  # in parts of height and width


def run(request: Request) -> Report:
    """Learn each class, look for it, report."""
    request.require_options()
    base = data_folder(request.data, "caltech101")
    berkeley = next((request.data / name for name in BERKELEY if (request.data / name).is_dir()), None)
    if berkeley is None:
        raise ValueError(f"{request.data} must hold one of the folders {', '.join(BERKELEY)}, got none")
    grounds = datasets.bsds300(berkeley, "train")[:GROUNDS]
    targets = datasets.bsds300(berkeley, "test")
    found: dict[str, list[dict[str, float]]] = {"drawn": [], "photo": [], "pasted": []}
    used: list[Path] = [ground.image_path for ground in (*grounds, *targets)]
    for kind in OUTLINES:
        seeds = range(min(SCENES_PER_CLASS, request.limit or SCENES_PER_CLASS))
        cases = [Case(seed, kind) for seed in seeds]
        found["drawn"] += each(partial(score, known=learn_drawn(kind)), cases, request.jobs, f"drawn {kind}")
    for category in CATEGORIES:
        images = [image for image in datasets.caltech101(base, [category]) if image.outline_path is not None]
        known = learn_category(images[::2], [ground.image() for ground in grounds])
        shown = images[1::2][: min(MAX_PHOTOGRAPHS, request.limit or MAX_PHOTOGRAPHS)]
        pasted = [PastedObject(i.name, i, targets[k % len(targets)], (7, k)) for k, i in enumerate(shown)]
        for name, sources in (("photo", shown), ("pasted", pasted)):
            cases = [Case(source, category) for source in sources]
            found[name] += each(partial(score, known=known), cases, request.jobs, f"{name} {category}")
        used += [path for image in images for path in (image.image_path, image.outline_path) if path]
    scored = {name: {key: np.array(hits) for key, hits in gather(one).items()} for name, one in found.items()}
    pairs = [("shape-torque", other) for other in COMPARED]
    return Report(
        data="drawn silhouettes, Caltech-101 outlines, BSDS300",
        data_sha256=checksum(used, request.data),
        split="test",
        images=sum(len(cases) for cases in found.values()),
        settings={"categories": CATEGORIES, "hit": HIT, "proposals": PROPOSALS, "examples": EXAMPLES},
        rows=_rows(scored),
        differences=[
            one
            for name, hits in scored.items()
            for one in compare({m: hits[f"{m}/first"] for m in _methods(name)}, pairs, f"first_{name}")
        ],
        notes=NOTES,
    )


def learn_drawn(kind: str) -> Learned:
    """Learn a drawn class from contours."""
    rng = np.random.default_rng(12345)
    contours = [40 * silhouette(kind, rng) for _ in range(EXAMPLES)]
    tuned = ShapeTorque.fit(contours)
    return Learned(tuned, tuned, [contour_mask(c) for c in contours], np.array([0.35, 0.35, 0.65, 0.65]))


def learn_category(images: Sequence[CaltechImage], grounds: Sequence[Image]) -> Learned:
    """Learn a category from photographs with outlines."""
    checked_images = [image.image() for image in images]
    shapes = [(checked.shape[0], checked.shape[1]) for checked in checked_images]
    masks = [image.outline().mask(shape) for image, shape in zip(images, shapes, strict=True)]
    boxes = [bounding_box(mask) / np.array([*mask.shape, *mask.shape]) for mask in masks]
    tuned = ShapeTorque.fit(masks, images=checked_images, background=grounds)
    return Learned(tuned, ShapeTorque.fit(masks), masks, np.mean(boxes, axis=0))


def score(case: Case, known: Learned) -> dict[str, float]:
    """Return for every method whether its best box hits, and whether one of its ten best does."""
    image, box = case.read()
    edges = shape_edges(image)
    sizes = default_sizes(edges.shape, smallest=min(SMALLEST_PROPOSAL, 2 * (min(edges.shape) // 5) + 1))
    proposals = suppress_overlaps(find_extrema(edges, sizes))[:PROPOSALS]
    shapes = exemplars(known.masks)
    height, width = edges.shape
    found = {
        "shape-torque": known.tuned.detect(edges, count=FIRST).as_array(),
        "shape-torque-outlines": known.outlines.detect(edges, count=FIRST).as_array(),
        "torque+shape-torque": known.tuned.detect(edges, count=FIRST, proposals=proposals).as_array(),
        "chamfer": _distinct(chamfer_boxes(edges, shapes, 20)),
        "chamfer-oriented": _distinct(chamfer_boxes(edges, shapes, 20, CHAMFER_DIRECTIONS)),
        "generalised-hough": _distinct(hough_boxes(edges, shapes, 20)),
        "torque": _distinct(_bottom_up(edges, known.tuned.aspect)),
        MEAN_BOX: known.mean_box[None] * np.array([height, width, height, width]),
    }
    hits: dict[str, float] = {}
    for method, boxes in found.items():
        right = [overlap(candidate, box) >= HIT for candidate in boxes[:FIRST]]
        hits |= {f"{method}/first": float(any(right[:1])), f"{method}/ten": float(any(right))}
    return hits


def overlap(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float:
    """Return the intersection over union of two boxes."""
    return float(overlaps(np.asarray([a], float), np.asarray([b], float))[0, 0])


def _bottom_up(edges: Edges, aspect: float) -> Floats:
    """Return the squares of the strongest extrema of plain torque, widened to the proportions of the class."""
    found = find_extrema(edges, count=100)
    high, wide = found.size * np.sqrt(aspect) / 2, found.size / np.sqrt(aspect) / 2
    return np.stack([found.y - high, found.x - wide, found.y + high, found.x + wide, np.abs(found.value)], axis=1)


def _distinct(rows: Floats) -> list[Floats]:
    """Return the first boxes that overlap none before them."""
    kept: list[Floats] = []
    for row in rows[:, :4]:
        if all(overlap(row, other) < MAX_OVERLAP for other in kept):
            kept.append(row)
        if len(kept) == FIRST:
            break
    return kept


def _methods(name: str) -> list[str]:
    """Return the methods that a set has."""
    blind = ("shape-torque-outlines", MEAN_BOX) if name == "drawn" else ()
    return [method for method in (*METHODS, MEAN_BOX) if method not in blind]


def _rows(scored: dict[str, dict[str, Floats]]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {method: {"method": method} for method in (*METHODS, MEAN_BOX)}
    for name, hits in scored.items():
        for method in _methods(name):
            rows[method] |= {f"{k}_{name}": float(hits[f"{method}/{k}"].mean()) for k in ("first", "ten")}
    return list(rows.values())
