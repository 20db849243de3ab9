"""The verb `classify`: say which class images show, by a model of train-classifier."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imtorque import __version__, datasets, files
from imtorque.cli.batch import failure
from imtorque.cli.options import SAMPLE, Json
from imtorque.cli.runner import Images, one_line_errors
from imtorque.cli.train_classifier import load_recognition

if TYPE_CHECKING:
    from imtorque.recognition import Recogniser, Recognition

BEST_NAMED = 5  # classes named for an image; convention


def classify(
    *,
    images: Images,
    model: Annotated[
        Path, typer.Option("--model", "-m", metavar="MODEL", help="What imtorque train-classifier wrote.")
    ],
    as_json: Json = False,
) -> None:
    """Classify images: the class, the margin over the next one, and the five best classes with their scores.

    Example: [bold]imtorque classify photo.jpg --model photos.model[/bold]
    """
    failed = 0
    told: list[dict[str, Any]] = []
    with one_line_errors():
        recogniser: Recogniser = load_recognition().Recogniser.load(model)
        for path in _named(images):
            row = _recognised(recogniser, path)
            failed += "error" in row
            told.append(row)
            if "error" in row:
                typer.echo(f"imtorque: {row['error']}", err=True)
    if as_json:
        report = {"verb": "classify", "version": __version__, "model": str(model), "images": told}
        typer.echo(json.dumps(report, indent=1))
    else:
        typer.echo(_table([row for row in told if "error" not in row]), nl=False)
    if failed:
        raise typer.Exit(1)


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
        return {"image": path, "error": failure(path, str(error)).error}
    best = zip(found.classes[:BEST_NAMED], found.scores[:BEST_NAMED].tolist(), strict=True)
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
