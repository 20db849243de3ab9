"""The verb `train-classifier`: learn the classes of a folder that holds a folder of images for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from imtorque import __version__, files
from imtorque.cli.options import Json, Overwrite, number_of
from imtorque.cli.runner import on_terminal, one_line_errors, refuse_other, with_progress
from imtorque.core.threads import available_cores
from imtorque.jobs.processes import each as parallel_each

CORES = available_cores()
BAD_NAMED = 5  # bad images that an error names; convention


def train_classifier(
    *,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", show_default=False, help="A folder that holds a folder of images per class."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="File for the model.")],
    method: Annotated[
        str, typer.Option(metavar="NAME", help="Features: sift, torque, torque-paper, sift+torque, ...")
    ] = "sift+torque",
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Learn from the first N images of each class.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over images that cannot be read or are too small.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Images worked on at a time.")] = CORES,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep features here; by default in $IMTORQUE_CACHE or ~/.cache.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Train a classifier of images: the classes of a folder that holds a folder of images for each.

    What was computed for an image is kept on disk, so that the same command, stopped and given again, goes on where it
    was.

    Example: [bold]imtorque train-classifier photos --out photos.model[/bold]
    """
    with one_line_errors():
        recognition = load_recognition()
        refuse_other(out, recognition.Recogniser.load, overwrite)
        classes = class_images(folder, most)
        bad = unusable(classes)
        if bad and not skip_bad:
            told = "; ".join(text for _, text in bad[:BAD_NAMED])
            more = f" (and {len(bad) - BAD_NAMED} more)" if len(bad) > BAD_NAMED else ""
            raise ValueError(f"{told}{more}; --skip-bad passes over such images")
        for path, text in bad:
            typer.echo(f"imtorque: passed over: {text}", err=True)
            classes = {name: [p for p in own if p != path] for name, own in classes.items()}
        kept = cache if cache is not None else recognition.cache_folder()
        model = recognition.train_recogniser(classes, method=method, folder=kept, each=_going_through(jobs))
        path = model.save(out)
    result = {
        "verb": "train-classifier",
        "version": __version__,
        "model": str(path),
        "method": method,
        "classes": dict(zip(model.classes, model.counts, strict=True)),
        "passed_over": [str(path) for path, _ in bad],
    }
    total = sum(model.counts)
    typer.echo(
        json.dumps(result, indent=1)
        if as_json
        else f"{path}: {len(model.classes)} classes, {number_of(total, 'image')}"
    )


def class_images(folder: Path, most: int | None) -> dict[str, list[Path]]:
    """Return the images of each class: those of the folders in a folder."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: must be a folder that holds a folder of images for each class")
    found: dict[str, list[Path]] = {}
    for own in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        try:
            found[own.name] = files.find_images([own])[:most]
        except ValueError:
            raise ValueError(f"{own}: every class must have images, got none; remove the folder or fill it") from None
    if len(found) < 2:
        raise ValueError(f"{folder}: must hold folders of at least 2 classes, got {len(found)}")
    return found


def unusable(classes: dict[str, list[Path]]) -> list[tuple[Path, str]]:
    """Return the images that cannot be read or are too small, and what is wrong with each."""
    from imtorque.recognition import WorkingImage

    bad = []
    for path in (path for own in classes.values() for path in own):
        try:
            _ = WorkingImage(files.read_image(path)).grey
        except (OSError, ValueError, TypeError) as error:
            text = str(error)
            bad.append((path, text if str(path) in text else f"{path}: {text}"))
    return bad


def _going_through(jobs: int) -> Callable[..., Iterable[Any]]:
    """Return how to go through images: several at a time, with a bar on a terminal."""

    def each(function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterator[Any]:
        yield from with_progress(parallel_each(function, items, jobs), len(items), label)
        if not on_terminal():
            typer.echo(f"{label}: {number_of(len(items), 'image')}", err=True)

    return each


def load_recognition() -> Any:
    """Return the package that needs scikit-learn, or say how to install that."""
    try:
        from imtorque import recognition
    except ImportError as error:
        raise ValueError(str(error)) from error
    return recognition
