"""The verb `train-detector`: learn which objects are meant from annotations of a few images."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque.cli.options import Opening, Overwrite, number_of, parse_range
from imtorque.cli.runner import one_line_errors, refuse_other
from imtorque.core.types import Image
from imtorque.detection import ObjectFinder
from imtorque.detection.annotations import read_annotations
from imtorque.files import SUFFIXES, find_images, read_image

NAPARI = {"axis-0": "y", "axis-1": "x"}
BOXES, POINTS = ("y0", "x0", "y1", "x1"), ("y", "x")
NEXT_NAMED = 5  # images named that are worth annotating next; convention


def train_detector(
    *,
    images: Annotated[
        list[str],
        typer.Argument(
            metavar="IMAGE", show_default=False, help="Annotated images and others: files, folders, quoted patterns."
        ),
    ],
    annotations: Annotated[
        Path,
        typer.Option(
            exists=True,
            help="A CSV table with image,y0,x0,y1,x1 or image,y,x (with 1 in a column wrong: what is no object), or "
            "points as napari, Fiji or a spreadsheet saves them; or a folder of label images.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The detector to write.")],
    clicks: Annotated[
        bool, typer.Option("--clicks", help="Only some of the objects are annotated; what is not may be one as well.")
    ] = False,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="20-60",
            help="Least and largest diameter of the objects, in pixels; by default as annotated, of points as outlined "
            "around them.",
        ),
    ] = None,
    opening: Opening,
    overwrite: Overwrite = False,
) -> None:
    """Learn from a few annotated images what to count; say which of the other images to annotate next.

    Says how far the detector is to be trusted, by cross-validation over the annotated images, or over parts of a lone
    one.

    Example: [bold]imtorque train-detector cells/ --annotations annotations.csv --out cells.finder[/bold]
    """
    with one_line_errors():
        refuse_other(out, ObjectFinder.load, overwrite)
        paths = find_images(images)
        annotated = match_images(paths, load_annotations(annotations), annotations)
        if opening.reduce == 1:
            opening = replace(opening, reduce=_common_factor(annotated, annotations))
    diameters = None if sizes is None else _diameters(sizes, opening.reduce)
    with one_line_errors():
        learned = {path: opening.read(path) for path in annotated}
        given = [_reduced_to(path, learned[path], own, opening.reduce) for path, own in annotated.items()]
        out.parent.mkdir(parents=True, exist_ok=True)  # before it learns: nothing is lost then
        typer.echo(f"learning from {number_of(len(given), 'image')}, which takes up to a minute ...", err=True)
        finder = ObjectFinder()
        objects, wrong = zip(*given, strict=True)
        finder.fit(list(learned.values()), objects, complete=not clicks, negatives=wrong, sizes=diameters)
        finder.reduce = opening.reduce
        finder.save(out)
        if diameters is None and all(part.ndim == 2 and part.shape[1] == 2 for part in objects if part.size):
            typer.echo(
                f"objects are taken as {finder.diameters[1] * opening.reduce:.3g} px across; --sizes overrides that"
            )
        typer.echo(f"{out}: {_trust(finder, clicks, len(given))}")
        rest = [path for path in paths if path not in annotated]
        if rest:
            order = finder.query(opening.read_both(path)[0] for path in rest)[:NEXT_NAMED]
            typer.echo(f"annotate next: {', '.join(rest[k].name for k in order)}")


def _common_factor(annotated: dict[Path, Annotation], place: Path) -> int:
    """Return the factor by which images were shrunk where they were annotated: one, as they have one magnification."""
    factors = sorted({own.reduce for own in annotated.values()})
    if len(factors) > 1:
        raise ValueError(f"{place}: must have one factor in the column reduce, got {factors[0]} and {factors[1]}")
    return factors[0]


def _diameters(text: str, factor: int) -> tuple[float, float]:
    """Return the smallest and the largest diameter of a text such as 20-60, in an image reduced by a factor."""
    low, high, in_micrometres = parse_range(text)
    if in_micrometres:
        raise typer.BadParameter(f"sizes must be in pixels, as in 20-60, got {text!r}", param_hint="--sizes")
    return low / factor, high / factor


def _reduced_to(path: Path, image: Image, own: Annotation, factor: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the objects of an image and what is none, reduced as it is; what is wrong with them is told by name."""
    objects, wrong = _reduced(own.objects, factor), _reduced(own.wrong, factor)
    try:
        read_annotations(objects, (image.shape[0], image.shape[1]), negatives=wrong)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return objects, wrong


def _reduced(marked: Any, factor: int) -> Any:
    """Return annotations of an image whose blocks of pixels became one; of a label image every factor-th pixel."""
    if factor == 1 or not marked.size:
        return marked
    if marked.shape[-1] in (2, 4) and marked.dtype.kind == "f":
        return (marked - (factor - 1) / 2) / factor if marked.shape[-1] == 2 else marked / factor
    height, width = (side // factor * factor for side in marked.shape[:2])
    return marked[factor // 2 : height : factor, factor // 2 : width : factor]


def _trust(finder: ObjectFinder, clicks: bool, images: int) -> str:
    found = finder.best_params_
    kinds = " and ".join(found.kinds)
    if clicks:
        return f"found {found.f1:.0%} of the clicked objects again, with proposals by {kinds}"
    error = found.count_error / max(found.mean_count, 1)
    judged = "cross-validated" if images > 1 else "each quarter of the one image by the others: annotate another one"
    return (
        f"F1 {found.f1:.2f} by place, {found.f1_iou:.2f} by overlap, counts off by {error:.0%} in the mean "
        f"({judged}), with proposals by {kinds}"
    )


@contextmanager
def _reading_table(place: Path) -> Iterator[None]:
    """Name the file that is no table."""
    try:
        yield
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{place}: must be a CSV table in UTF-8, got: {error}") from None


@dataclass(frozen=True)
class Annotation:
    """What people marked in one image: boxes, points or a label image, and points (n, 2) of what is no object.

    `reduce` is the factor by which the image was shrunk where it was annotated.
    """

    objects: NDArray[Any]
    wrong: NDArray[np.float64]
    reduce: int = 1


def load_annotations(place: Path) -> dict[str, Annotation]:
    """Return annotations by file name: boxes or points of a CSV table, or the label images of a folder.

    A row is image,y0,x0,y1,x1 (y1 and x1 just beyond the box) or image,y,x; 1 in a column `wrong` marks what is no
    object; a column `reduce` has the factor by which the image was shrunk. Tables of napari (index,axis-0,axis-1), Fiji
    (Label,X,Y) and spreadsheets (semicolons or tabs, decimal commas) are read as well, in capitals or not; one without
    image names, under "", is of the image of its own name.
    Label images are named as their images.
    """
    if place.is_dir():
        paths = [path for path in sorted(place.iterdir()) if path.suffix.lower() in SUFFIXES]
        found = {path.name: Annotation(read_image(path), np.zeros((0, 2))) for path in paths}
        if not found:
            raise ValueError(f"{place}: must hold label images, got none")
        return found
    with _reading_table(place):
        columns, rows = _table(place.read_text(encoding="utf-8-sig"))
        names = next((names for names in (BOXES, POINTS) if {*names} <= columns), None)
        if names is None:
            raise ValueError(f"{place}: must have the columns image,y0,x0,y1,x1 or image,y,x, got {sorted(columns)}")
        marked: dict[str, list[list[float]]] = {}
        wrong: dict[str, list[list[float]]] = {}
        factors: dict[str, int] = {}
        for number, row in enumerate(rows, start=2):
            try:
                image = str(Path(row["image"])) if "image" in columns else ""
                numbers = [float(row[name]) for name in names]
                is_wrong = {"": False, "0": False, "1": True}[(row.get("wrong") or "").strip()]
                factors[image] = max(1, int(row.get("reduce") or 1))
            except (KeyError, TypeError, ValueError):
                must = f"numbers in {', '.join(names)}, and in wrong 0 or 1"
                raise ValueError(f"{place}: line {number} must hold {must}, got {row}") from None
            (wrong if is_wrong else marked).setdefault(image, []).append(_middle(numbers) if is_wrong else numbers)
    return {
        image: Annotation(
            np.array(marked.get(image, [])), np.array(wrong.get(image, [])).reshape(-1, 2), factors[image]
        )
        for image in sorted({*marked, *wrong})
    }


def _table(text: str) -> tuple[set[str], list[dict[str, Any]]]:
    """Return the columns and rows of a table, whatever program wrote it, under the names used here."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if text else [[]]
    written = [name.strip().lower() for name in header]
    aliases = NAPARI | ({"label": "image"} if "image" not in written else {})
    names = [aliases.get(name, name) for name in written]
    if delimiter == ";":  # where numbers may have decimal commas
        lines = [[field.replace(",", ".") if _is_number(field) else field for field in line] for line in lines]
    rows: list[dict[str, Any]] = [dict(zip_longest(names, line)) for line in lines if line]
    if "label" in aliases:  # Fiji adds the region or the slice to the image's name
        for row in rows:
            row["image"] = re.sub(r"(\.\w{3,4}):.*", r"\1", row.get("image") or "")
    return set(names), rows


def _is_number(field: str) -> bool:
    return re.fullmatch(r"\s*[-+]?\d+,\d+\s*", field) is not None


def match_images(paths: list[Path], annotations: dict[str, Annotation], place: Path) -> dict[Path, Annotation]:
    """Return the annotation of each image that has one, in the order of the images.

    Names must be the same, with folders where both have them, or less the ending: label images may be TIFF files beside
    JPEG images, and tables may leave the ending out. A table without names is of the image of its own name, or of the
    only one there is.
    """
    found: dict[Path, Annotation] = {}
    for image, own in annotations.items():
        name = Path(image or place.stem)
        same = [path for path in paths if path.parts[-len(name.parts) :] == name.parts]
        same = same or [path for path in paths if path.name == name.name]
        same = same or [path for path in paths if path.stem == name.stem]
        if not image and not same:
            if len(paths) > 1:
                raise ValueError(f"{place}: must have a column image, or the name of its image, got neither")
            same = paths
        if len(same) > 1:
            raise ValueError(f"{place}: {image} must be the name of one image, got {same[0]} and {same[1]}")
        if same and same[0] in found:
            raise ValueError(f"{place}: must annotate {same[0].name} under one name, got a second one, {image}")
        found.update((path, own) for path in same)
    if not found:
        raise ValueError(f"{place}: must annotate the images given, got none of {paths[0].name} ...")
    return {path: found[path] for path in paths if path in found}


def _middle(numbers: list[float]) -> list[float]:
    """Return the middle of a box, or a point itself."""
    return numbers if len(numbers) == 2 else [(numbers[i] + numbers[i + 2] - 1) / 2 for i in (0, 1)]
