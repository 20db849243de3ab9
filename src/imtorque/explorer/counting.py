"""Objects like those that were clicked: `ObjectFinder`, taught by the clicks on the page."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from imtorque._types import BoolArray
from imtorque.explorer.held import HeldPicture
from imtorque.explorer.settings import Mark, Settings
from imtorque.finding import Blobs, ObjectFinder

Numbers = tuple[float, ...]


Objects = list[Numbers]


def marked_objects(settings: Settings) -> list[Objects]:
    """Return what was clicked in each picture, this one last: boxes (y0, x0, y1, x1) or points (y, x).

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


def _lessons_of(picture: HeldPicture, settings: Settings) -> list[tuple[HeldPicture, Objects]]:
    """Return the pictures in which something was clicked, and what."""
    pairs = zip((*settings.teachers, picture), marked_objects(settings), strict=True)
    return [(one, objects) for one, objects in pairs if objects]


def wrong_places(settings: Settings) -> list[tuple[int, int]]:
    """Return where something was clicked that is no object."""
    return [(mark.y, mark.x) for mark in settings.marks if mark.wrong]


def finder_of(picture: HeldPicture, settings: Settings) -> ObjectFinder:
    """Return the finder that the clicks teach, in this picture and in those before it."""
    for one, marks in zip(
        (*settings.teachers, picture), (*(marks for _, marks in settings.lessons), settings.marks), strict=True
    ):
        height, width = one.shape
        if any(mark.y >= height or mark.x >= width for mark in marks):
            raise ValueError(f"marks must lie in the image of {height} x {width}, got one outside")
    lessons = _lessons_of(picture, settings)
    return picture.recall(
        ("finder", settings.lessons, settings.marks),
        lambda: ObjectFinder().fit(
            [one.image for one, _ in lessons], [np.array(objects) for _, objects in lessons], complete=False
        ),
    )


def found_of(picture: HeldPicture, settings: Settings) -> Blobs:
    """Return the objects found, without those that were clicked as wrong."""
    finder = finder_of(picture, settings)
    found = picture.recall(("found", settings.lessons, settings.marks), lambda: finder.predict(picture.image))
    wrong: BoolArray = np.isin(np.arange(1, len(found) + 1), [found.labels[place] for place in wrong_places(settings)])
    return found[~wrong]


def finder_file(picture: HeldPicture, settings: Settings) -> bytes:
    """Return the finder as `imtorque count --model` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "objects.finder"
        finder_of(picture, settings).save(path)
        return path.read_bytes()


def marks_table(picture: HeldPicture, settings: Settings) -> str:
    """Return what was clicked as `imtorque teach --clicks --objects` reads it."""
    lessons = _lessons_of(picture, settings)
    lines = ["image,y0,x0,y1,x1" if len(lessons[0][1][0]) == 4 else "image,y,x"]
    for one, objects in lessons:
        name = Path(one.name).name.replace('"', "")
        lines += [f'"{name}",{",".join(f"{number:g}" for number in numbers)}' for numbers in objects]
    return "\n".join(lines) + "\n"


def count_code(picture: HeldPicture, settings: Settings) -> list[str]:
    """Return the lines of Python that count as the page does."""
    lessons = _lessons_of(picture, settings)
    lines = ["", "# Objects like those that were clicked."]
    names = []
    for number, (one, objects) in enumerate(lessons, 1):
        if one is not picture:
            lines += ["here = image", *one.recipe, f"picture_{number} = image", "image = here"]
        names.append((f"picture_{number}" if one is not picture else "image", f"marked_{number}"))
        lines.append(f"marked_{number} = {objects!r}")
    pictures, marked = (", ".join(name) for name in zip(*names, strict=True))
    lines += [
        f"finder = imtorque.ObjectFinder().fit([{pictures}], [{marked}], complete=False)",
        "found = finder.predict(image)",
    ]
    wrong = wrong_places(settings)
    if wrong:
        lines += [
            f"wrong = [found.labels[place] for place in {wrong!r}]",
            "found = found[[number not in wrong for number in range(1, len(found) + 1)]]",
        ]
    return [*lines, 'print(f"{len(found)} objects")', "print(found.to_csv())"]
