"""The settings of a request, parsed from its query: every value is checked, unknown names are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from imtorque.core.patches import SHAPES
from imtorque.core.patterns import PATTERNS, Pattern, Polarity
from imtorque.core.types import Patch
from imtorque.detection.clicks import Click
from imtorque.edges import DEFAULT_DETECTOR, DETECTORS, SQRT2, CannyOptions, EdgeRecipe, find_recipe
from imtorque.edges.canny import Force
from imtorque.explorer.image_store import StoredImage

LAYERS = ("value", "scale", "edges", "saliency", "strengthened")
# Bound: on the work of one request; the page enforces the same ones.
MAX_EXTREMA = 200
MAX_CLICKS = 50  # bound: likewise
MAX_ANNOTATIONS = 100  # bound: likewise
MAX_TRAINING_IMAGES = 8  # bound: likewise
MAX_SIZE = 4095  # bound: covers an image of image_store.MAX_SIDE


@dataclass(frozen=True)
class CutClick:
    """One click of the cut-out: its place, and whether it starts a figure, adds to it or removes from it."""

    operation: str
    y: int
    x: int


@dataclass(frozen=True)
class Settings:
    """The state of the page that results depend on; `read_settings` parses it."""

    sigma: float = SQRT2
    low: float | None = None
    high: float | None = None
    force: Force = "unit"
    detector: str = DEFAULT_DETECTOR
    alpha: float = 2.0
    patch: Patch = "square"
    pattern: Pattern = "circle"
    polarity: Polarity = "signed"
    smallest: int = 5
    largest: int | None = None
    count: int = 12
    nms: bool = True
    layers: tuple[str, ...] = ()
    range: float = 99.0
    number: int | None = None
    y: int | None = None
    x: int | None = None
    size: int | None = None
    clicks: tuple[CutClick, ...] = ()
    figure_size: str = "any"
    annotations: tuple[Click, ...] = ()
    min_score: float | None = None
    pixel_size: float | None = None
    contrast: float = 0.0  # per cent of the pixels that are shown black, and white
    training: tuple[tuple[str, tuple[Click, ...]], ...] = ()  # keys of other images, and the annotations there
    training_images: tuple[StoredImage, ...] = ()  # those images, which the server looks up

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low must not exceed high, got low {self.low:g} and high {self.high:g}")
        if self.largest is not None and self.smallest > self.largest:
            raise ValueError(f"smallest must not exceed largest, got {self.smallest} and {self.largest}")
        if len({self.y is None, self.x is None, self.size is None}) > 1:
            raise ValueError("y, x and size must be given together, or none of them")

    @property
    def annotations_by_image(self) -> tuple[tuple[Click, ...], ...]:
        """The annotations of each training image, and of this image last."""
        return (*(points for _, points in self.training), self.annotations)

    @property
    def has_objects(self) -> bool:
        """Whether any image has an annotated object."""
        return any(not point.negative for points in self.annotations_by_image for point in points)

    @property
    def edge_options(self) -> dict[str, Any]:
        """The arguments of `detect_edges` that differ from its defaults."""
        return _non_defaults(self, ("sigma", "low", "high", "force"))

    @property
    def recipe(self) -> EdgeRecipe | None:
        """The recipe of the detector; None for Canny's edges, which have the options of the page."""
        recipe = find_recipe(self.detector)
        return None if isinstance(recipe.options, CannyOptions) else recipe

    @property
    def recipe_options(self) -> dict[str, Any]:
        """The arguments of `canny_recipe` that differ from its defaults."""
        return _non_defaults(self, ("sigma", "low", "high"))

    @property
    def patch_options(self) -> dict[str, Any]:
        """The arguments of the torque functions that differ from their defaults."""
        return _non_defaults(self, ("patch", "alpha", "pattern", "polarity"))

    @property
    def contribution_options(self) -> dict[str, Any]:
        """The arguments of `contribution_map` that differ from its defaults."""
        return _non_defaults(self, ("patch", "pattern", "polarity"))

    @property
    def size_options(self) -> dict[str, Any]:
        """The arguments of `default_sizes` that differ from its defaults."""
        return _non_defaults(self, ("smallest", "largest"))


def read_settings(query: Mapping[str, str]) -> Settings:
    """Read the settings from a query; what is left out has its default.

    Examples
    --------
    >>> read_settings({"sigma": "2", "layers": "value,edges"}).layers
    ('value', 'edges')
    >>> read_settings({"sigma": "wide"})
    Traceback (most recent call last):
    ...
    ValueError: sigma must be a number from 0.3 to 20, got 'wide'
    """
    unknown = sorted(set(query) - set(_READERS))
    if unknown:
        raise ValueError(f"parameters must be among {', '.join(_READERS)}, got {unknown[0][:40]!r}")
    return Settings(**{name: _READERS[name](name, text) for name, text in query.items()})


def _number(low: float, high: float) -> Callable[[str, str], float]:
    def read(name: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {text[:40]!r}")
        return value

    return read


def _integer(low: int, high: int, *, odd: bool = False) -> Callable[[str, str], int]:
    def read(name: str, text: str) -> int:
        value = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else low - 1
        if not low <= value <= high or (odd and value % 2 == 0):
            raise ValueError(
                f"{name} must be {'odd' if odd else 'an integer'}, from {low} to {high}, got {text[:40]!r}"
            )
        return value

    return read


def _choice(*options: str) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if text not in options:
            raise ValueError(f"{name} must be one of {', '.join(options)}, got {text[:40]!r}")
        return text

    return read


def _pattern(name: str, text: str) -> Pattern:
    """Read the name of a pattern, or an angle in degrees."""
    if text in PATTERNS:
        named: Pattern = text  # type: ignore[assignment]  # one of its names
        return named
    try:
        return math.radians(_number(-360, 360)(name, text))
    except ValueError:
        known = ", ".join(PATTERNS)
        raise ValueError(f"{name} must be one of {known} or degrees from -360 to 360, got {text[:40]!r}") from None


def _layers(name: str, text: str) -> tuple[str, ...]:
    read = _choice(*LAYERS)
    return tuple(dict.fromkeys(read(name, part) for part in text.split(",") if part))


def _points(name: str, text: str, maximum: int, signs: str) -> list[tuple[str, list[int]]]:
    """Read points such as "80,120 +40,60 -10,20": the sign of each, empty where it has none, and its numbers."""
    parts = text.split()
    if len(parts) > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {len(parts)}")
    coordinate = _integer(0, MAX_SIZE)
    signed = [(part[0], part[1:]) if part[0] in signs else ("", part) for part in parts]
    return [(sign, [coordinate(name, number) for number in numbers.split(",")]) for sign, numbers in signed]


def _clicks(name: str, text: str) -> tuple[CutClick, ...]:
    """Read clicks such as "80,120 +40,60 -10,20": y,x each, + to add and - to remove."""
    points = _points(name, text, MAX_CLICKS, "+-")
    if any(len(numbers) != 2 for _, numbers in points):
        raise ValueError(f'{name} must be like "80,120 +40,60 -10,20" (y,x), got {text[:40]!r}')
    if any((sign == "") != (k == 0) for k, (sign, _) in enumerate(points)):
        raise ValueError(f"{name} must be a plain one first and then added or removed ones, got {text[:40]!r}")
    operations = {"": "new", "+": "add", "-": "remove"}
    return tuple(CutClick(operations[sign], *numbers) for sign, numbers in points)


def _annotations(name: str, text: str) -> tuple[Click, ...]:
    """Read annotations such as "80,120,34 40,60 -10,20": y,x and where known the diameter; - for a negative."""
    points = _points(name, text, MAX_ANNOTATIONS, "-")
    if any(len(numbers) not in ((2,) if sign else (2, 3)) for sign, numbers in points):
        raise ValueError(f'{name} must be like "80,120,34 40,60 -10,20" (y,x,diameter), got {text[:40]!r}')
    return tuple(Click(y, x, size[0] if size else 0, bool(sign)) for sign, (y, x, *size) in points)


def _training(name: str, text: str) -> tuple[tuple[str, tuple[Click, ...]], ...]:
    """Read the annotations of other images, such as "KEY 80,120,34 40,60;KEY 9,9"."""
    images = [part.strip().partition(" ") for part in text.split(";") if part.strip()]
    if len(images) > MAX_TRAINING_IMAGES:
        raise ValueError(f"{name} must be of at most {MAX_TRAINING_IMAGES} images, got {len(images)}")
    return tuple((key, _annotations(name, text)) for key, _, text in images)


def _non_defaults(settings: Settings, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(settings, name)) != getattr(_DEFAULTS, name)}


_DEFAULTS = Settings()
_READERS: dict[str, Callable[[str, str], Any]] = {
    "sigma": _number(0.3, 20),
    "low": _number(0, 10),
    "high": _number(0, 10),
    "force": _choice("unit", "strength"),
    "detector": lambda name, text: _choice(*DETECTORS)(name, text),  # as registered now
    "alpha": _number(0, 4),
    "patch": _choice(*SHAPES),
    "pattern": _pattern,
    "polarity": _choice("signed", "free"),
    "smallest": _integer(3, MAX_SIZE, odd=True),
    "largest": _integer(3, MAX_SIZE, odd=True),
    "count": _integer(0, MAX_EXTREMA),
    "nms": lambda name, text: _choice("0", "1")(name, text) == "1",
    "layers": _layers,
    "range": _number(50, 100),
    "number": _integer(1, MAX_EXTREMA),
    "y": _integer(0, MAX_SIZE),
    "x": _integer(0, MAX_SIZE),
    "size": _integer(1, MAX_SIZE, odd=True),
    "clicks": _clicks,
    "figure_size": _choice("any", "torque"),
    "annotations": _annotations,
    "min_score": _number(0, 1),
    "pixel_size": _number(1e-6, 1e6),
    "contrast": _number(0, 10),
    "training": _training,
}
