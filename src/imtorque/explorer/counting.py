"""Objects like those that were clicked: `ObjectFinder`, taught by the clicks on the page."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imtorque.core.types import BoolArray
from imtorque.detection import Blobs, ObjectFinder
from imtorque.explorer.image_store import HeldImage
from imtorque.explorer.settings import Mark, Settings

Numbers = tuple[float, ...]
Objects = list[Numbers]


@dataclass(frozen=True)
class Lesson:
    """An image in which something was clicked: objects, and what is none."""

    image: HeldImage
    objects: Objects
    wrong: list[tuple[int, int]]


def marked_objects(settings: Settings) -> list[Objects]:
    """Return what was clicked in each image, this one last: boxes (y0, x0, y1, x1) or points (y, x).

    They are boxes where a size is known; clicks without one have the usual size of the others.
    """
    every = [
        [mark for mark in marks if not mark.wrong]
        for marks in (*(marks for _, marks in settings.lessons), settings.marks)
    ]
    known = [mark.diameter for marks in every for mark in marks if mark.diameter]
    if not any(every):
        raise ValueError("marks must have an object, got none")
    if not known:
        return [[(mark.y, mark.x) for mark in marks] for marks in every]
    usual = float(np.median(known))
    return [[_box(mark, usual) for mark in marks] for marks in every]


def _box(mark: Mark, usual: float) -> Numbers:
    half = (mark.diameter or usual) / 2
    return mark.y - half, mark.x - half, mark.y + half, mark.x + half


def _lessons_of(image: HeldImage, settings: Settings) -> list[Lesson]:
    """Return what was clicked in which image, this one last."""
    every = (*(marks for _, marks in settings.lessons), settings.marks)
    triples = zip((*settings.teachers, image), marked_objects(settings), every, strict=True)
    lessons = [Lesson(one, objects, wrong_places(marks)) for one, objects, marks in triples]
    return [lesson for lesson in lessons if lesson.objects or lesson.wrong]


def wrong_places(marks: Sequence[Mark]) -> list[tuple[int, int]]:
    """Return where something was clicked that is no object."""
    return [(mark.y, mark.x) for mark in marks if mark.wrong]


def finder_of(image: HeldImage, settings: Settings) -> ObjectFinder:
    """Return the finder that the clicks teach, in this image and in those before it."""
    for one, marks in zip(
        (*settings.teachers, image), (*(marks for _, marks in settings.lessons), settings.marks), strict=True
    ):
        height, width = one.shape
        if any(mark.y >= height or mark.x >= width for mark in marks):
            raise ValueError(f"marks must lie in the image of {height} x {width}, got one outside")
    lessons = _lessons_of(image, settings)
    return image.recall(
        ("finder", settings.lessons, settings.marks),
        lambda: ObjectFinder().fit(
            [lesson.image.image for lesson in lessons],
            [np.array(lesson.objects) for lesson in lessons],
            complete=False,
            negatives=[lesson.wrong for lesson in lessons],
        ),
    )


def found_of(image: HeldImage, settings: Settings) -> Blobs:
    """Return the objects found, without those that were clicked as wrong."""
    finder = finder_of(image, settings)
    found = image.recall(("found", settings.lessons, settings.marks), lambda: finder.predict(image.image))
    places = wrong_places(settings.marks)
    wrong: BoolArray = np.isin(np.arange(1, len(found) + 1), [found.labels[place] for place in places])
    return found[~wrong]


def finder_file(image: HeldImage, settings: Settings) -> bytes:
    """Return the finder as `imtorque count --model` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "objects.finder"
        finder_of(image, settings).save(path)
        return path.read_bytes()


def marks_table(image: HeldImage, settings: Settings) -> str:
    """Return what was clicked as `imtorque teach --clicks --objects` reads it."""
    lessons = _lessons_of(image, settings)
    boxes = any(len(numbers) == 4 for lesson in lessons for numbers in lesson.objects)
    lines = ["image,y0,x0,y1,x1,wrong" if boxes else "image,y,x,wrong"]
    for lesson in lessons:
        name = Path(lesson.image.name).name.replace('"', "")
        wrong = [(y, x, y + 1, x + 1) if boxes else (y, x) for y, x in lesson.wrong]
        for places, is_wrong in ((lesson.objects, 0), (wrong, 1)):
            lines += [f'"{name}",{",".join(f"{number:g}" for number in numbers)},{is_wrong}' for numbers in places]
    return "\n".join(lines) + "\n"


def count_code(image: HeldImage, settings: Settings) -> list[str]:
    """Return the lines of Python that count as the page does."""
    lessons = _lessons_of(image, settings)
    lines = ["", "# Objects like those that were clicked."]
    images, marked = [], []
    for number, lesson in enumerate(lessons, 1):
        here = lesson.image is image
        if not here:
            lines += ["here = image", *lesson.image.recipe, f"image_{number} = image", "image = here"]
        images.append("image" if here else f"image_{number}")
        marked.append(f"marked_{number}")
        lines.append(f"marked_{number} = {lesson.objects!r}")
    given = f"[{', '.join(images)}], [{', '.join(marked)}], complete=False"
    if any(lesson.wrong for lesson in lessons):
        lines.append(f"wrong = {[lesson.wrong for lesson in lessons]!r}  # what was clicked as no object, by image")
        given += ", negatives=wrong"
    lines += [f"finder = imtorque.ObjectFinder().fit({given})", "found = finder.predict(image)"]
    if any(mark.wrong for mark in settings.marks):
        lines += [
            "left_out = [found.labels[place] for place in wrong[-1]]",
            "found = found[[number not in left_out for number in range(1, len(found) + 1)]]",
        ]
    return [*lines, 'print(f"{len(found)} objects")', "print(found.to_csv())"]
