"""Options that verbs share, declared once, and the groups of them that a verb takes as one parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from imtorque.core.resizing import shrink_image
from imtorque.core.types import LARGEST_SIZE, Edges, Image, Patch, check_sizes
from imtorque.edges import DETECTORS, SQRT2, detect_edges
from imtorque.edges.canny import Force
from imtorque.files import read_image

DEFAULT_OUT = Path("imtorque-out")
SAMPLE = "sample:"
FILE_PANEL = "Which image of a file"
CANNY_PANEL = "Canny's edges"
BATCH_PANEL = "Batches and clusters"

Sign = Literal["auto", "both", "bright", "dark"]
SIGNS: Mapping[Sign, Literal[1, -1, 0] | None] = {"bright": 1, "dark": -1, "both": 0, "auto": None}


def detector_option(text: str) -> Any:
    """Return an option that takes a registered base detector; its help is a sentence, and a line about each."""
    notes = (
        f"{name}: {', '.join(filter(None, (one.description.rstrip('.'), one.duration)))}."
        for name, one in DETECTORS.items()
    )
    return typer.Option(parser=detector_name, metavar="|".join(DETECTORS), help=" ".join((text, *notes)))


def detector_name(text: str) -> str:
    """Return the name of a registered base detector, or refuse it."""
    if text not in DETECTORS:
        raise typer.BadParameter(f"must be one of {', '.join(DETECTORS)}, got {text!r}")
    return text


Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the outputs.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output, and nothing else there.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that this verb did not write, or that were changed since.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="Images, or parts of one, worked on at a time; as many as cores by default.",
        rich_help_panel=BATCH_PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:8786",
        help="Work on a dask cluster instead of on this machine.",
        rich_help_panel=BATCH_PANEL,
    ),
]
Page = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Page of files that hold several (stacks, animations), from 0.",
        rich_help_panel=FILE_PANEL,
    ),
]
Channel = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="Channel to work on, from 0; of a colour image, too.", rich_help_panel=FILE_PANEL
    ),
]
PatchSizes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZES",
        help="Patch sizes in pixels, odd: 3-91 for all from 3 to 91, or a list such as 5,21,45. "
        "By default about 6 % apart, up to 21 % of the image's area.",
    ),
]
PatchShape = Annotated[Patch, typer.Option(help="Shape of the patches.")]


@dataclass(frozen=True)
class Opening:
    """How images are opened: one page, one channel, reduced by a whole factor."""

    page: Page = None
    channel: Channel = None
    reduce: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Average N x N pixels first. Places and sizes are then those of the reduced image; count keeps to the "
            "file's own.",
            rich_help_panel=FILE_PANEL,
        ),
    ] = 1

    def read(self, path: Path) -> Image:
        """Read the image of a file, reduced."""
        return self.read_both(path)[1]

    def read_both(self, path: Path) -> tuple[Image, Image]:
        """Read the image of a file, as it is and reduced."""
        image = read_image(path, self.page, self.channel)
        try:
            return image, self.reduced(image)
        except ValueError:
            height, width = image.shape[:2]
            raise ValueError(
                f"{path}: --reduce must be at most the shorter side of {height} x {width}, got {self.reduce}"
            ) from None

    def reduced(self, image: Image) -> Image:
        """Return an image at the size that is worked at."""
        return image if self.reduce == 1 else shrink_image(image, self.reduce)


@dataclass(frozen=True)
class Canny:
    """How edges are detected by Canny's method."""

    sigma: Annotated[
        float,
        typer.Option(
            show_default="1.414",
            help="Smoothing before edges are detected, in pixels.",
            rich_help_panel=CANNY_PANEL,
        ),
    ] = SQRT2
    low: Annotated[
        float | None,
        typer.Option(
            help="Lower hysteresis threshold: a change per pixel, in parts of the range from black to white.",
            rich_help_panel=CANNY_PANEL,
        ),
    ] = None
    high: Annotated[
        float | None,
        typer.Option(
            help="Upper hysteresis threshold; by default the value 70 % of pixels stay below.",
            rich_help_panel=CANNY_PANEL,
        ),
    ] = None
    force: Annotated[
        Force,
        typer.Option(
            help="Every edge pixel pulls alike, or in proportion to its gradient.", rich_help_panel=CANNY_PANEL
        ),
    ] = "unit"

    def detect(self, image: Image) -> Edges:
        """Detect the edges of an image with these options."""
        return detect_edges(image, sigma=self.sigma, low=self.low, high=self.high, force=self.force)


def expand(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with an option for every field of the dataclasses among its parameters.

    Examples
    --------
    >>> def show(*, count: int = 1, opening: Opening) -> None:
    ...     print(count, opening.page)
    >>> list(inspect.signature(expand(show)).parameters)
    ['count', 'page', 'channel', 'reduce']
    >>> expand(show)(count=2, page=7, channel=None, reduce=1)
    2 7
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def run(**given: Any) -> None:
        held = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        verb(**given, **held)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = parameter.empty if field.default is MISSING else field.default
            parameters.append(
                inspect.Parameter(field.name, parameter.KEYWORD_ONLY, default=default, annotation=types[field.name])
            )
    paragraphs = inspect.cleandoc(verb.__doc__ or "").split("\n\n")
    run.__name__, run.__doc__ = verb.__name__, "\n\n".join(" ".join(text.split()) for text in paragraphs)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def refuse(why: str, **given: object) -> None:
    """Refuse options that were given: neither None, nor False, nor empty."""
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            raise typer.BadParameter(why, param_hint=f"--{name.replace('_', '-')}")


def parse_sizes(option: str, text: str | None) -> tuple[int, ...] | None:
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


def parse_range(text: str) -> tuple[float, float, bool]:
    """Return the smallest and the largest diameter of a text such as 20-60 or 5-12um, and whether in micrometres."""
    match = re.fullmatch(r"([0-9.]+)-([0-9.]+)\s*(um|µm|μm|)", text.strip())
    try:
        low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    except ValueError:
        low = high = 0.0
    if match is None or not 0 < low <= high < 1e9:
        raise typer.BadParameter(f"sizes must be like 20-60 or 5-12um, got {text!r}", param_hint="--sizes")
    return low, high, bool(match[3])


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Read settings such as name=value."""
    options = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"--set must be like name=value, got {text}")
        options[name] = value
    return options


def number_of(count: int, name: str) -> str:
    """Return how many there are in words: 1 object, 2 objects."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
