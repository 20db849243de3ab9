"""The verbs `imtorque train` and `imtorque predict`: learn classes from folders of images, and recognise others."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imtorque import __version__, datasets, files
from imtorque.cli.running import SAMPLE, Images, Json, one_line_errors, with_progress
from imtorque.core.threads import available_cores
from imtorque.jobs.processes import each as parallel_each

if TYPE_CHECKING:
    from imtorque.recognition import Recogniser, Recognition

SHOWN = 5  # classes told for an image
CORES = available_cores()
FEW = 5  # names told of many

Folder = Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="A folder of images for each class.")]
ModelOut = Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="File for the model.")]
Model = Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="What `imtorque train` wrote.")]
Method = Annotated[str, typer.Option(metavar="NAME", help="Features: sift, torque, torque-paper, sift+torque, ...")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Images worked on at a time.")]
Cache = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep features here; by default in $IMTORQUE_CACHE or ~/.cache.")
]
Most = Annotated[int | None, typer.Option(min=1, metavar="N", help="Learn from the first N images of each class.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Pass over images that cannot be read or are too small.")]


def train(
    folder: Folder,
    out: ModelOut,
    method: Method = "sift+torque",
    most: Most = None,
    skip_bad: SkipBad = False,
    jobs: Jobs = CORES,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Learn to recognise the classes of a folder that holds a folder of images for each.

    What was computed for an image is kept on disk, so that the same command, stopped and given again, goes on where it
    was.

    Example: [bold]imtorque train photos --out photos.model[/bold]
    """
    with one_line_errors():
        recognition = _recognition()
        classes = class_images(folder, most)
        bad = unusable(classes)
        if bad and not skip_bad:
            told = "; ".join(text for _, text in bad[:FEW])
            more = f" (and {len(bad) - FEW} more)" if len(bad) > FEW else ""
            raise ValueError(f"{told}{more}; --skip-bad passes over such images")
        for path, text in bad:
            typer.echo(f"imtorque: passed over: {text}", err=True)
            classes = {name: [p for p in own if p != path] for name, own in classes.items()}
        kept = cache if cache is not None else recognition.cache_folder()
        model = recognition.train_recogniser(classes, method=method, folder=kept, each=_going_through(jobs))
        path = model.save(out)
    result = {
        "verb": "train",
        "version": __version__,
        "model": str(path),
        "method": method,
        "classes": dict(zip(model.classes, model.counts, strict=True)),
        "passed_over": [str(path) for path, _ in bad],
    }
    total = sum(model.counts)
    typer.echo(json.dumps(result, indent=1) if as_json else f"{path}: {len(model.classes)} classes, {total} images")


def predict(images: Images, model: Model, as_json: Json = False) -> None:
    """Say what images show: the class, the margin over the next one, and the five best classes with their scores.

    Example: [bold]imtorque predict photo.jpg --model photos.model[/bold]
    """
    failed = 0
    told: list[dict[str, Any]] = []
    with one_line_errors():
        recogniser: Recogniser = _recognition().Recogniser.load(model)
        for path in _named(images):
            row = _recognised(recogniser, path)
            failed += "error" in row
            told.append(row)
            if "error" in row:
                typer.echo(f"imtorque: {row['error']}", err=True)
    if as_json:
        typer.echo(
            json.dumps({"verb": "predict", "version": __version__, "model": str(model), "images": told}, indent=1)
        )
    else:
        typer.echo(_table([row for row in told if "error" not in row]), nl=False)
    if failed:
        raise typer.Exit(1)


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


def _named(images: Sequence[str]) -> Iterator[str]:
    """Yield the images that arguments name, and samples as they are."""
    for image in images:
        if image.startswith(SAMPLE):
            yield image
        else:
            yield from (str(path) for path in files.find_images([image]))


def _recognised(recogniser: Recogniser, path: str) -> dict[str, Any]:
    try:
        sample = path.startswith(SAMPLE)
        image = datasets.sample(path.removeprefix(SAMPLE)) if sample else files.read_image(path)
        found: Recognition = recogniser.recognise(image)
    except (OSError, ValueError, TypeError) as error:
        text = str(error)
        return {"image": path, "error": text if path in text else f"{path}: {text}"}
    best = zip(found.classes[:SHOWN], found.scores[:SHOWN].tolist(), strict=True)
    return {
        "image": path,
        "class": found.name,
        "margin": found.margin,
        "best": [{"class": c, "score": s} for c, s in best],
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Return images with their class, margin and the classes that follow, in columns."""
    if not rows:
        return ""
    wide = max(len(row["image"]) for row in rows)
    name = max(len(row["class"]) for row in rows)
    lines = [f"{'image':{wide}}  {'class':{name}}  margin  scores of the best"]
    for row in rows:
        scores = ", ".join(f"{one['class']} {one['score']:+.2f}" for one in row["best"])
        lines.append(f"{row['image']:{wide}}  {row['class']:{name}}  {row['margin']:6.3f}  {scores}")
    return "\n".join(lines) + "\n"


def _going_through(jobs: int) -> Callable[..., Iterable[Any]]:
    """Return how to go through images: several at a time, with a bar on a terminal."""

    def each(function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterator[Any]:
        yield from with_progress(parallel_each(function, items, jobs), len(items), label)
        if not sys.stderr.isatty():
            typer.echo(f"{label}: {len(items)} images", err=True)

    return each


def _recognition() -> Any:
    try:
        from imtorque import recognition
    except ImportError as error:
        raise ValueError(str(error)) from error
    return recognition
