"""Objects like the annotated ones: an `ObjectFinder` trained by the clicks on the page."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imtorque.core.types import BoolArray
from imtorque.detection import Blobs, ObjectFinder
from imtorque.explorer.image_store import StoredImage
from imtorque.explorer.settings import Annotation, Settings

Numbers = tuple[float, ...]
Objects = list[Numbers]


@dataclass(frozen=True)
class TrainingImage:
    """An annotated image: boxes (y0, x0, y1, x1) or points (y, x) of objects, and the places of negatives."""

    image: StoredImage
    objects: Objects
    negatives: list[tuple[int, int]]


def training_images(image: StoredImage, settings: Settings) -> list[TrainingImage]:
    """Return the annotated images, this one last.

    Objects are boxes where any has a size; those without one get the median size of the others.
    """
    images = (*settings.training_images, image)
    for stored, points in zip(images, settings.annotations_by_image, strict=True):
        height, width = stored.shape
        if any(point.y >= height or point.x >= width for point in points):
            raise ValueError(f"annotations must lie in the image of {height} x {width}, got one outside")
    if not settings.has_objects:
        raise ValueError("annotations must have an object, got none")
    sizes = [point.diameter for points in settings.annotations_by_image for point in points if point.diameter]
    median = float(np.median(sizes)) if sizes else None
    annotated = [
        TrainingImage(
            stored,
            [_box_or_point(point, median) for point in points if not point.negative],
            [(point.y, point.x) for point in points if point.negative],
        )
        for stored, points in zip(images, settings.annotations_by_image, strict=True)
    ]
    return [one for one in annotated if one.objects or one.negatives]


def _box_or_point(point: Annotation, median: float | None) -> Numbers:
    if median is None:
        return point.y, point.x
    half = (point.diameter or median) / 2
    return point.y - half, point.x - half, point.y + half, point.x + half


def finder_of(image: StoredImage, settings: Settings) -> ObjectFinder:
    """Return the finder trained by the annotations of this image and of those before it."""
    annotated = training_images(image, settings)
    return image.cached(
        ("finder", settings.training, settings.annotations),
        lambda: ObjectFinder().fit(
            [one.image.image for one in annotated],
            [np.array(one.objects) for one in annotated],
            complete=False,
            negatives=[one.negatives for one in annotated],
        ),
    )


def objects_of(image: StoredImage, settings: Settings) -> Blobs:
    """Return the objects found, without those annotated as negatives."""
    finder = finder_of(image, settings)
    found = image.cached(("objects", settings.training, settings.annotations), lambda: finder.predict(image.image))
    negatives = [found.labels[point.y, point.x] for point in settings.annotations if point.negative]
    is_negative: BoolArray = np.isin(np.arange(1, len(found) + 1), negatives)
    return found[~is_negative]


def finder_file(image: StoredImage, settings: Settings) -> bytes:
    """Return the finder as `imtorque count --model` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "objects.finder"
        finder_of(image, settings).save(path)
        return path.read_bytes()


def annotations_table(image: StoredImage, settings: Settings) -> str:
    """Return the annotations as a table that `imtorque train-detector --clicks` reads."""
    annotated = training_images(image, settings)
    boxes = any(len(numbers) == 4 for one in annotated for numbers in one.objects)
    lines = ["image,y0,x0,y1,x1,wrong" if boxes else "image,y,x,wrong"]
    for one in annotated:
        name = Path(one.image.name).name.replace('"', "")
        negatives = [(y, x, y + 1, x + 1) if boxes else (y, x) for y, x in one.negatives]
        for places, is_negative in ((one.objects, 0), (negatives, 1)):
            lines += [f'"{name}",{",".join(f"{number:g}" for number in numbers)},{is_negative}' for numbers in places]
    return "\n".join(lines) + "\n"


def count_code(image: StoredImage, settings: Settings) -> list[str]:
    """Return the lines of Python that count as the page does."""
    annotated = training_images(image, settings)
    lines = ["", "# Objects like the annotated ones."]
    images, objects = [], []
    for number, one in enumerate(annotated, 1):
        if one.image is image:
            images.append("image")
        else:
            lines += ["current = image", *one.image.recipe, f"image_{number} = image", "image = current"]
            images.append(f"image_{number}")
        objects.append(f"objects_{number}")
        lines.append(f"objects_{number} = {one.objects!r}")
    arguments = f"[{', '.join(images)}], [{', '.join(objects)}], complete=False"
    if any(one.negatives for one in annotated):
        lines.append(f"negatives = {[one.negatives for one in annotated]!r}  # clicked as no object, by image")
        arguments += ", negatives=negatives"
    lines += [f"finder = imtorque.ObjectFinder().fit({arguments})", "found = finder.predict(image)"]
    if any(point.negative for point in settings.annotations):
        lines += [
            "removed = [found.labels[place] for place in negatives[-1]]",
            "found = found[[number not in removed for number in range(1, len(found) + 1)]]",
        ]
    return [*lines, 'print(f"{len(found)} objects")', "print(found.to_csv())"]
