"""The verbs that take pictures: options in, a task over many files, lines or JSON out."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from imtorque._types import LARGEST_SIZE, check_sizes
from imtorque.cli import tasks
from imtorque.cli.opening import Channel, Depth, Opening, Page, Reduce
from imtorque.cli.rois import Rois
from imtorque.cli.running import DEFAULT_OUT, Images, Jobs, Json, Out, run_task
from imtorque.edges import SQRT2
from imtorque.patterns import Pattern, pattern_matrix

SIGNS: dict[str, Literal[1, -1] | None] = {"bright": 1, "dark": -1, "both": None}


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
    """Which blobs are looked for."""

    both = "both"
    bright = "bright"
    dark = "dark"


class Method(StrEnum):
    """How saliency is computed."""

    blend = "blend"
    torque = "torque"
    gbvs = "gbvs"
    itti = "itti"


Sizes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZES",
        help="Patch sizes in pixels, odd: 3-91 for all from 3 to 91, or a list such as 5,21,45. "
        "By default about 12 % apart, up to 21 % of the picture's area.",
    ),
]
Sigma = Annotated[float, typer.Option(show_default="1.414", help="Smoothing before edges are detected, in pixels.")]
Low = Annotated[float | None, typer.Option(help="Lower threshold of Canny's method, in grey values per pixel.")]
High = Annotated[float | None, typer.Option(help="Upper threshold; by default the value 70 % of pixels stay below.")]
Forces = Annotated[Force, typer.Option(help="Every edge pixel pulls alike, or in proportion to its gradient.")]


def maps(
    images: Images,
    out: Out = DEFAULT_OUT,
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
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Write the value map and the scale map: how strongly edges circle each pixel, and at which patch size.

    Red is positive (bright object), blue negative (dark object). With --polarity free red is what edges circle, and
    blue what they point to.

    Example: [bold]imtorque maps sample:hopper --at 5,21,45,81[/bold]
    """
    forms = {"both": ("npy", "tiff"), "none": ()}.get(arrays, (str(arrays),))
    task = tasks.DrawMaps(
        edges=tasks.FindEdges(sigma, low, high, force.value, Opening(page, channel, reduce)),
        sizes=_parse_sizes("--sizes", sizes),
        at=_parse_sizes("--at", at) or (),
        patch=patch.value,
        alpha=alpha,
        pattern=_parse_pattern(pattern),
        polarity=polarity.value,
        extrema=extrema,
        arrays=forms,
    )
    run_task(task, images, out, jobs, as_json, _describe_maps)


def blobs(
    images: Images,
    out: Out = DEFAULT_OUT,
    sizes: Sizes = None,
    sign: Annotated[Sign, typer.Option(help="Which blobs to look for.")] = Sign.both,
    threshold: Annotated[
        float | None, typer.Option(min=0, help="Smallest |torque| of an outline; 1 is a strong edge all around.")
    ] = None,
    sure: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least score of a blob: how much it looks like a thing.")
    ] = None,
    overlap: Annotated[
        float, typer.Option(min=0, help="Largest part of its area a blob may share with a stronger one of like size.")
    ] = 0.4,
    count: Annotated[int | None, typer.Option(min=0, metavar="N", help="Keep the N strongest of each picture.")] = None,
    mask: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Count inside a region: a picture, white inside; or a folder with one of each input's name.",
        ),
    ] = None,
    overlay: Annotated[bool, typer.Option(help="Write the picture with numbered blobs.")] = True,
    labels: Annotated[bool, typer.Option(help="Write a TIFF whose pixels hold the number of their blob.")] = True,
    rois: Rois = None,
    depth: Depth = False,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Find bright and dark things: a table of place, size, shape and contrast, labels, and a picture with numbers.

    Example: [bold]imtorque blobs sample:hopper --count 10[/bold]
    """
    task = tasks.FindBlobs(
        sizes=_parse_sizes("--sizes", sizes),
        sign=SIGNS[sign],
        threshold=threshold,
        sure=sure,
        overlap=overlap,
        count=count,
        mask=None if mask is None else str(mask),
        overlay=overlay,
        labels=labels,
        opening=Opening(page, channel, reduce),
        depth=depth,
        rois=rois,
    )
    run_task(task, images, out, jobs, as_json, _describe_blobs)


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
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Detect edges: a picture of them, and their forces (fx, fy) as an array.

    With --strengthen also how likely each is to be the boundary of an object: a 16-bit picture, an array, and a picture
    of before and after. Forces are then those of strength, and --low is 0.004 where it is not given.

    Example: [bold]imtorque edges sample:hopper --strengthen[/bold]
    """
    if strengthen:
        strengthened = tasks.StrengthenEdges(sigma, low, high, opening=Opening(page, channel, reduce))
        run_task(strengthened, images, out, jobs, as_json, _describe_strengthened)
        return
    task = tasks.FindEdges(sigma, low, high, force.value, Opening(page, channel, reduce))
    run_task(task, images, out, jobs, as_json, lambda result: f"{result['edge_pixels']} edge pixels")


def saliency(
    images: Images,
    out: Out = DEFAULT_OUT,
    method: Annotated[Method, typer.Option(help="blend is GBVS and torque together.")] = Method.blend,
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
    """Predict where people look: a heat map over the picture, the map in grey and as an array, a table of fixations.

    Example: [bold]imtorque saliency sample:hopper --fixations 5[/bold]
    """
    task = tasks.PredictFixations(str(method), share, fixations, Opening(page, channel, reduce))
    run_task(task, images, out, jobs, as_json, _describe_saliency)


def _parse_sizes(option: str, text: str | None) -> tuple[int, ...] | None:
    """Read sizes such as 3-91 or 5,21,45."""
    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        # A last size beyond all that is allowed is refused with the rest, without a list of all up to it.
        end = min(int(last), LARGEST_SIZE + 2) if dash else 0
        chosen = list(range(int(first), end + 1, 2)) if dash else [int(part) for part in text.split(",")]
    except (ValueError, OverflowError):
        chosen = []
    if not chosen:
        raise typer.BadParameter(f"sizes must be like 3-91 or 5,21,45, got {text!r}", param_hint=option)
    try:
        return tuple(check_sizes(chosen).tolist())
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _parse_pattern(text: str) -> Pattern:
    """Read the name of a pattern, or an angle in degrees."""
    try:
        pattern: Any = math.radians(float(text))
    except ValueError:
        pattern = text
    try:
        pattern_matrix(pattern)
    except ValueError as error:
        message = str(error).replace("radians", "degrees")
        raise typer.BadParameter(message, param_hint="--pattern") from None
    chosen: Pattern = pattern
    return chosen


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
