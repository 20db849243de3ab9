"""Objects like those that were clicked: `ObjectFinder`, taught by the clicks on the page."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np

from imtorque._types import BoolArray
from imtorque.explorer.held import HeldPicture
from imtorque.explorer.settings import Settings
from imtorque.finding import Blobs, ObjectFinder

Numbers = tuple[float, ...]


def marked_objects(settings: Settings) -> list[Numbers]:
    """Return what was clicked: boxes (y0, x0, y1, x1) where a size is known, else points (y, x).

    Clicks without a size have the usual one of the others.
    """
    objects = [mark for mark in settings.marks if not mark.wrong]
    if not objects:
        raise ValueError("marks must have an object, got none")
    known = [mark.diameter for mark in objects if mark.diameter]
    if not known:
        return [(mark.y, mark.x) for mark in objects]
    usual = float(np.median(known))
    half = [(mark.diameter or usual) / 2 for mark in objects]
    return [(m.y - h, m.x - h, m.y + h, m.x + h) for m, h in zip(objects, half, strict=True)]


def wrong_places(settings: Settings) -> list[tuple[int, int]]:
    """Return where something was clicked that is no object."""
    return [(mark.y, mark.x) for mark in settings.marks if mark.wrong]


def finder_of(picture: HeldPicture, settings: Settings) -> ObjectFinder:
    """Return the finder that the clicks teach."""
    marked = marked_objects(settings)
    shape = picture.shape
    if any(not (0 <= mark.y < shape[0] and 0 <= mark.x < shape[1]) for mark in settings.marks):
        raise ValueError(f"marks must lie in the image of {shape[0]} x {shape[1]}, got one outside")
    return picture.recall(
        ("finder", tuple(marked)), lambda: ObjectFinder().fit([picture.image], [np.array(marked)], complete=False)
    )


def found_of(picture: HeldPicture, settings: Settings) -> Blobs:
    """Return the objects found, without those that were clicked as wrong."""
    finder = finder_of(picture, settings)
    found = picture.recall(("found", tuple(marked_objects(settings))), lambda: finder.predict(picture.image))
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
    marked = marked_objects(settings)
    file = io.StringIO()
    file.write("image,y0,x0,y1,x1\n" if len(marked[0]) == 4 else "image,y,x\n")
    name = Path(picture.name).name.replace('"', "")
    for numbers in marked:
        file.write(f'"{name}",{",".join(f"{number:g}" for number in numbers)}\n')
    return file.getvalue()


def count_code(settings: Settings) -> list[str]:
    """Return the lines of Python that count as the page does."""
    lines = [
        "",
        "# Objects like those that were clicked.",
        f"marked = {marked_objects(settings)!r}",
        "finder = imtorque.ObjectFinder().fit([image], [marked], complete=False)",
        "found = finder.predict(image)",
    ]
    wrong = wrong_places(settings)
    if wrong:
        lines += [
            f"wrong = [found.labels[place] for place in {wrong!r}]",
            "found = found[[number not in wrong for number in range(1, len(found) + 1)]]",
        ]
    return [*lines, 'print(f"{len(found)} objects")', "print(found.to_csv())"]
