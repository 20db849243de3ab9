"""The verbs that count: teach a finder by examples, and count with it or without."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from numpy.typing import NDArray

from imtorque.cli import tasks
from imtorque.cli.batch import Outcome
from imtorque.cli.counting_tasks import CountObjects, Marked, marks_of, object_columns, read_objects
from imtorque.cli.many import Many, Paths, Retry, Scheduler, Table
from imtorque.cli.opening import Channel, Opening, Page, Reduce
from imtorque.cli.rois import Rois
from imtorque.cli.running import DEFAULT_OUT, Images, ImagesIfAny, Jobs, Json, OutIfAny, one_line_errors, run_table_task
from imtorque.cli.torque import SIGNS, Sign, SignOfThings
from imtorque.core.types import Image
from imtorque.detection import ObjectFinder
from imtorque.detection.annotations import read_annotations
from imtorque.files import find_images, write_text

LENGTHS = {"nm": 1e-3, "um": 1.0, "µm": 1.0, "μm": 1.0, "mm": 1e3, "": 1.0}  # micrometres
SHOWN = 5  # images named that are to be marked next
SUMMARY = ["image", "count", "mean_diameter", "mean_diameter_um", "pixel_size_um", "height", "width"]


def teach(
    images: Images,
    objects: Annotated[
        Path,
        typer.Option(
            exists=True,
            help="What is marked: a CSV table with image,y0,x0,y1,x1 or image,y,x (with 1 in a column wrong: "
            "what is no object); or a folder of label images.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The finder to write.")],
    clicks: Annotated[
        bool, typer.Option("--clicks", help="Only some of the objects are marked; what is not may be one as well.")
    ] = False,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
) -> None:
    """Learn from a few marked images what to count. Images without marks are ranked: which to mark next.

    Says how far the finder is to be trusted, by cross-validation over the marked images, or parts of a lone one.

    Example: [bold]imtorque teach cells/ --objects objects.csv --out cells.finder[/bold]
    """
    opening = Opening(page, channel, reduce)
    with one_line_errors():
        paths = find_images(images)
        marked = marks_of(paths, read_objects(objects), objects)
        checked_images = {path: opening.read(path) for path in marked}
        lessons = [_lesson(path, checked_images[path], marks, reduce) for path, marks in marked.items()]
        out.parent.mkdir(parents=True, exist_ok=True)  # before it learns: nothing is lost then
        typer.echo(f"learning from {len(lessons)} images, which takes up to a minute ...", err=True)
        finder = ObjectFinder()
        taught, wrong = zip(*lessons, strict=True)
        finder.fit(list(checked_images.values()), taught, complete=not clicks, negatives=wrong)
        finder.save(out)
        typer.echo(f"{out}: {_trust(finder, clicks, len(lessons))}")
        rest = [path for path in paths if path not in marked]
        if rest:
            order = finder.query([opening.read(path) for path in rest])[:SHOWN]
            typer.echo(f"mark next: {', '.join(rest[k].name for k in order)}")


def count(
    images: ImagesIfAny = None,
    out: OutIfAny = None,
    model: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A finder that `imtorque teach` wrote.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="20-60", help="Diameters to look for, in pixels, or as in 5-12um. Without a model only."),
    ] = None,
    sign: SignOfThings = Sign.auto,
    sure: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least score of an object: how much it looks like one. Without a model only."),
    ] = None,
    pixel_size: Annotated[
        str | None, typer.Option(metavar="0.32um", help="Of a pixel's side; by default what the file says.")
    ] = None,
    rois: Rois = None,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    paths: Paths = None,
    table: Table = None,
    scheduler: Scheduler = None,
    retry: Retry = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Count objects, with a finder or by size alone: counts.csv, objects.csv, and for each image its objects.

    Places, diameters and areas come in pixels, and in micrometres where the size of a pixel is known.

    Example: [bold]imtorque count cells/ --model cells.finder --pixel-size 0.32um[/bold]

    Of very many, into one table instead: [bold]imtorque count --paths list.txt --table all.parquet[/bold]
    """
    if model is not None and (sizes is not None or sure is not None or sign is not Sign.auto):
        raise typer.BadParameter("a model knows sizes, signs and scores itself; leave out --sizes, --sign and --sure")
    low, high, micrometres = _range(sizes) if sizes is not None else (0.0, 0.0, False)
    many = Many(paths, table, scheduler, retry)
    task = CountObjects(
        model=None if model is None else many.shared(model),
        sizes=None if sizes is None else (low, high),
        in_micrometres=micrometres,
        sign=SIGNS[sign],
        pixel=None if pixel_size is None else _length("--pixel-size", pixel_size),
        sure=sure,
        opening=Opening(page, channel, reduce),
        rois=rois,
    )
    if table is not None:
        run_table_task(task, images, out, jobs, as_json, _describe, many=many)
        return
    tables = _Tables(out or DEFAULT_OUT)
    try:
        run_table_task(task, images, out, jobs, as_json, _describe, many=many, collect=tables.add)
    finally:
        tables.write()


class _Tables:
    """One table of all images, and one of all objects."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.results: dict[str, dict[str, Any]] = {}

    def add(self, outcome: Outcome) -> None:
        if outcome.status != "failed":
            self.results[outcome.input] = outcome.result

    def write(self) -> None:
        if not self.results:
            return
        names = Counter(Path(path).name for path in self.results)  # images of one name are told by their paths
        shown = {Path(path).name if names[Path(path).name] == 1 else path: own for path, own in self.results.items()}
        counts = [{"image": name, **{key: own.get(key) for key in SUMMARY[1:]}} for name, own in shown.items()]
        objects = [{"image": name, **row} for name, own in shown.items() for row in own["objects"]]
        known = any(row["pixel_size_um"] is not None for row in counts)
        write_text(self.out / "counts.csv", tasks.table(SUMMARY, counts))
        write_text(self.out / "objects.csv", tasks.table(["image", *object_columns(known)], objects))


def _lesson(path: Path, image: Image, marks: Marked, factor: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the objects of an image and what is none; what is wrong with them is told with its name."""
    objects, wrong = _reduced(marks.objects, factor), _reduced(marks.wrong, factor)
    try:
        read_annotations(objects, (image.shape[0], image.shape[1]), negatives=wrong)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return objects, wrong


def _reduced(marked: Any, factor: int) -> Any:
    """Return marks on an image whose blocks of pixels became one; of a label image every so many-th pixel."""
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
        return f"found {found.f1:.0%} of the clicked objects again, with candidates by {kinds}"
    error = found.count_error / max(found.mean_count, 1)
    judged = "cross-validated" if images > 1 else "each quarter of the one image by the others: mark another one"
    return (
        f"F1 {found.f1:.2f} by place, {found.f1_iou:.2f} by overlap, counts off by {error:.0%} in the mean "
        f"({judged}), with candidates by {kinds}"
    )


def _describe(result: dict[str, Any]) -> str:
    size = f", {result['mean_diameter']:.3g} pixels across in the mean" if result["count"] else ""
    return f"{result['count']} objects{size}"


def _length(option: str, text: str) -> float:
    match = re.fullmatch(r"([0-9.]+(?:e-?[0-9]+)?)\s*(nm|um|µm|μm|mm|)", text.strip())
    try:
        length = float(match[1]) * LENGTHS[match[2]] if match else 0.0
    except ValueError:
        length = 0.0
    if not 0 < length < 1e9:
        raise typer.BadParameter(f"must be like 0.32um, 320nm or 0.32, got {text!r}", param_hint=option)
    return length


def _range(text: str) -> tuple[float, float, bool]:
    """Return the smallest and the largest diameter of a text such as 20-60 or 5-12um, and whether in micrometres."""
    match = re.fullmatch(r"([0-9.]+)-([0-9.]+)\s*(um|µm|μm|)", text.strip())
    try:
        low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    except ValueError:
        low = high = 0.0
    if match is None or not 0 < low <= high < 1e9:
        raise typer.BadParameter(f"sizes must be like 20-60 or 5-12um, got {text!r}", param_hint="--sizes")
    return low, high, bool(match[3])
