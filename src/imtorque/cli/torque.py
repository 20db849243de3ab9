"""The verbs that take images: options in, a task over many files, lines or JSON out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from imtorque.cli import tasks
from imtorque.cli.blob_tasks import FindBlobs
from imtorque.cli.boundary_tasks import (
    Boundaries,
    DetectBoundaries,
    PaperEdges,
    PaperForm,
    detector_option,
)
from imtorque.cli.many import Many, Paths, Retry, Scheduler, Table
from imtorque.cli.opening import Channel, Depth, Opening, Page, Reduce
from imtorque.cli.parsing import parse_pattern, parse_sizes
from imtorque.cli.rois import Rois
from imtorque.cli.running import DEFAULT_OUT, Images, ImagesIfAny, Jobs, Json, Out, OutIfAny, run_table_task, run_task
from imtorque.edges import DEFAULT_DETECTOR, DETECTORS, SQRT2, CannyOptions
from imtorque.saliency import METHODS

SIGNS: dict[str, Literal[1, -1, 0] | None] = {"bright": 1, "dark": -1, "both": 0, "auto": None}


class Force(StrEnum):
    """How hard an edge pixel pulls."""

    unit = "unit"
    strength = "strength"


class Patch(StrEnum):
    """Shape of the patches."""

    square = "square"
    disk = "disk"


class Polarity(StrEnum):
    """Whether bright and dark objects have opposite signs."""

    signed = "signed"
    free = "free"


class Arrays(StrEnum):
    """Forms in which maps are written as numbers."""

    npy = "npy"
    tiff = "tiff"
    both = "both"
    none = "none"


class Sign(StrEnum):
    """Which objects are looked for; auto: both, but the kind that explains fewer edges scores less."""

    auto = "auto"
    both = "both"
    bright = "bright"
    dark = "dark"


if TYPE_CHECKING:
    Method = str
else:
    Method = StrEnum("Method", {name: name for name in METHODS})


Sizes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZES",
        help="Patch sizes in pixels, odd: 3-91 for all from 3 to 91, or a list such as 5,21,45. "
        "By default about 6 % apart, up to 21 % of the image's area.",
    ),
]
Sigma = Annotated[float, typer.Option(show_default="1.414", help="Smoothing before edges are detected, in pixels.")]
Low = Annotated[
    float | None,
    typer.Option(
        help="Lower threshold of Canny's method: a change per pixel, in parts of the range from black to white."
    ),
]
High = Annotated[float | None, typer.Option(help="Upper threshold; by default the value 70 % of pixels stay below.")]
SignOfThings = Annotated[
    Sign,
    typer.Option(
        help="Which objects to look for. auto takes both, but the kind that explains fewer of the edges, likely what "
        "lies between objects, scores less."
    ),
]
Forces = Annotated[Force, typer.Option(help="Every edge pixel pulls alike, or in proportion to its gradient.")]


def maps(
    images: ImagesIfAny = None,
    out: OutIfAny = None,
    sizes: Sizes = None,
    at: Annotated[str | None, typer.Option(metavar="SIZES", help="Sizes to write the torque map of as well.")] = None,
    arrays: Annotated[Arrays, typer.Option(help="Form in which the maps are also written as numbers.")] = Arrays.npy,
    patch: Annotated[Patch, typer.Option(help="Shape of the patches.")] = Patch.square,
    alpha: Annotated[float, typer.Option(help="Exponent of the normalisation; below 2 favours larger patches.")] = 2.0,
    pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="What edges are to form around a pixel: circle, star, spiral, saddle, saddle-diagonal, or an angle in "
            "degrees, 0 for circles, 90 for stars, spirals between.",
        ),
    ] = "circle",
    polarity: Annotated[
        Polarity, typer.Option(help="free: how closed edges are, whichever of their sides is brighter.")
    ] = Polarity.signed,
    extrema: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write a table of the N strongest extrema, too.")
    ] = 0,
    sigma: Sigma = SQRT2,
    low: Low = None,
    high: High = None,
    force: Forces = Force.unit,
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
    """Write the value map and the scale map: how strongly edges circle each pixel, and at which patch size.

    Red is positive (bright object), blue negative (dark object). With --polarity free red is what edges circle, and
    blue what they point to.

    Example: [bold]imtorque maps sample:hopper --at 5,21,45,81[/bold]

    Of very many: [bold]imtorque maps --paths list.txt --extrema 20 --table all.parquet[/bold]
    """
    forms = {"both": ("npy", "tiff"), "none": ()}.get(arrays, (str(arrays),))
    task = tasks.DrawMaps(
        edges=tasks.FindEdges(sigma, low, high, force.value, Opening(page, channel, reduce)),
        sizes=parse_sizes("--sizes", sizes),
        at=parse_sizes("--at", at) or (),
        patch=patch.value,
        alpha=alpha,
        pattern=parse_pattern(pattern),
        polarity=polarity.value,
        extrema=extrema,
        arrays=forms,
    )
    run_table_task(task, images, out, jobs, as_json, _describe_maps, many=Many(paths, table, scheduler, retry))


def blobs(
    images: ImagesIfAny = None,
    out: OutIfAny = None,
    sizes: Sizes = None,
    sign: SignOfThings = Sign.auto,
    threshold: Annotated[
        float | None, typer.Option(min=0, help="Smallest |torque| of an outline; 1 is a strong edge all around.")
    ] = None,
    sure: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least score of a blob: how much it looks like an object.")
    ] = None,
    overlap: Annotated[
        float, typer.Option(min=0, help="Largest part of its area a blob may share with a stronger one of like size.")
    ] = 0.4,
    count: Annotated[int | None, typer.Option(min=0, metavar="N", help="Keep the N strongest of each image.")] = None,
    mask: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Count inside a region: an image, white inside; or a folder with one of each input's name.",
        ),
    ] = None,
    overlay: Annotated[bool, typer.Option(help="Write the image with numbered blobs.")] = True,
    labels: Annotated[bool, typer.Option(help="Write a TIFF whose pixels hold the number of their blob.")] = True,
    rois: Rois = None,
    detector: Boundaries = None,
    depth: Depth = False,
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
    """Find bright and dark objects: a table of place, size, shape and contrast, labels, and an image with numbers.

    Example: [bold]imtorque blobs sample:hopper --count 10[/bold]

    Of very many: [bold]imtorque blobs --paths list.txt --table all.parquet --scheduler tcp://HOST:8786[/bold]
    """
    if depth and detector is not None:
        raise typer.BadParameter("depth has jumps, not boundaries: leave out one of the two", param_hint="--detector")
    many = Many(paths, table, scheduler, retry)
    task = FindBlobs(
        sizes=parse_sizes("--sizes", sizes),
        sign=SIGNS[sign],
        threshold=threshold,
        sure=sure,
        overlap=overlap,
        count=count,
        mask=None if mask is None else many.shared(mask),
        overlay=overlay,
        labels=labels,
        opening=Opening(page, channel, reduce),
        depth=depth,
        rois=rois,
        detector=detector,
    )
    run_table_task(task, images, out, jobs, as_json, _describe_blobs, many=many)


def edges(
    images: Images,
    out: Out = DEFAULT_OUT,
    sigma: Sigma = SQRT2,
    low: Low = None,
    high: High = None,
    force: Forces = Force.unit,
    strengthen: Annotated[
        bool, typer.Option("--strengthen", help="Re-weigh edges by torque: boundaries of objects up, texture down.")
    ] = False,
    detector: Annotated[
        str, detector_option("What finds edges; --sigma, --low, --high and --force are Canny's.")
    ] = DEFAULT_DETECTOR,
    paper: PaperForm = False,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Detect edges: an image of them, and their forces (fx, fy) as an array.

    With --strengthen also how likely each is to be the boundary of an object: a 16-bit image, an array, and an image
    of before and after. Forces are then those of strength, and --low is 0.004 where it is not given.

    With --detector also how likely each is, for imtorque evaluate boundaries; of ucm contours at double size as well.

    Example: [bold]imtorque edges sample:hopper --strengthen[/bold]
    """
    if not isinstance(DETECTORS[detector].options, CannyOptions):
        if (sigma, low, high, force, paper) != (SQRT2, None, None, Force.unit, False):
            raise typer.BadParameter("--sigma, --low, --high, --force and --paper are Canny's", param_hint="--detector")
        boundaries = DetectBoundaries(detector, strengthen, Opening(page, channel, reduce))
        run_task(boundaries, images, out, jobs, as_json, _describe_strengthened)
        return
    if paper or strengthen:
        form = PaperEdges if paper else tasks.StrengthenEdges
        strengthened = form(sigma, low, high, opening=Opening(page, channel, reduce))
        run_task(strengthened, images, out, jobs, as_json, _describe_strengthened)
        return
    task = tasks.FindEdges(sigma, low, high, force.value, Opening(page, channel, reduce))
    run_task(task, images, out, jobs, as_json, lambda result: f"{result['edge_pixels']} edge pixels")


def saliency(
    images: Images,
    out: Out = DEFAULT_OUT,
    method: Annotated[
        Method,
        typer.Option(help="; ".join(f"{name}: {method.title}" for name, method in METHODS.items())),
    ] = "blend",
    share: Annotated[float, typer.Option(min=0, max=1, help="Share of torque in the blend; the paper's is 0.3.")] = 0.4,
    fixations: Annotated[
        int, typer.Option(min=0, max=1000, metavar="N", help="Places to predict, in the order of looking.")
    ] = 10,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Predict where people look: a heat map over the image, the map in grey and as an array, a table of fixations.

    Example: [bold]imtorque saliency sample:hopper --fixations 5[/bold]
    """
    task = tasks.PredictFixations(str(method), share, fixations, Opening(page, channel, reduce))
    run_task(task, images, out, jobs, as_json, _describe_saliency)


def _describe_maps(result: dict[str, Any]) -> str:
    best = result["strongest"]
    if best["torque"] == 0:
        return "no torque anywhere"
    return f"strongest torque {best['torque']:+.2f} at y {best['y']}, x {best['x']}, size {best['size']}"


def _describe_saliency(result: dict[str, Any]) -> str:
    if not result["fixations"]:
        return "no fixations" if result["salient"] else "nothing is salient"
    first = result["fixations"][0]
    return f"{len(result['fixations'])} fixations, the first at y {first['y']}, x {first['x']}"


def _describe_strengthened(result: dict[str, Any]) -> str:
    return f"{result['edge_pixels']} edge pixels, {result['likely']} more likely than not on a boundary"


def _describe_blobs(result: dict[str, Any]) -> str:
    return f"{result['count']} blobs ({result['bright']} bright, {result['dark']} dark)"
