"""The page of `count --preview`: every overlay, those to be looked at first, and how large the objects are."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from imtorque.cli.options import number_of

UNLIKE = "than in the annotated images"  # after what a trained detector says of an image that is not like them
SHOWN_SIDE = 1000  # pixels of an overlay's longer side in the page, at most; convention
BINS, BAR_HEIGHT, BAR_WIDTH = 30, 120, 20  # of the histogram; convention
# Robust z-score (Iglewicz, Hoaglin 1993) from which a count or a size is unlike those of the others; convention.
UNUSUAL = 3.5
LEAST_SPREAD = 0.1  # of the logarithm, added to that of the images: small differences are none; untuned
MIN_COMPARED = 5  # images, from which they are compared; untuned
LOW_SCORE = 0.7  # mean score of an image's objects, below which they are doubtful; convention
STYLE = """body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1000px;padding:0 1rem;color:#222}
figure{margin:2rem 0}img{max-width:100%}.look{color:#a33;font-weight:600}
svg{width:100%;height:auto;background:#f6f6f6}"""


def preview_page(results: Mapping[str, Mapping[str, Any]], overlays: Mapping[str, Path]) -> str:
    """Return a page that needs no other file: a histogram of diameters and each image with its outlines.

    Parameters
    ----------
    results
        Of each image, as `count` records them.
    overlays
        The image of each with its outlines, where there is one.
    """
    reasons = {name: why_look(result, list(results.values())) for name, result in results.items()}
    order = sorted(results, key=lambda name: (not results[name].get("warning"), -len(reasons[name])))
    diameters = np.array([row["diameter"] for result in results.values() for row in result["objects"]])
    unusual = sum(map(bool, reasons.values()))
    body = [
        f"<h1>{number_of(len(diameters), 'object')} in {number_of(len(results), 'image')}</h1>",
        f"<p>{number_of(unusual, 'image')} to look at first.</p>" if unusual else "",
        histogram(diameters),
        *(part for name in order for part in _figure(name, results[name], reasons[name], overlays.get(name))),
    ]
    title = "<title>imtorque count</title>"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8">{title}<style>{STYLE}</style>'
    return head + "\n".join(filter(None, body)) + "</html>\n"


def why_look(result: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why a result is to be looked at: what it says itself, and how it differs from the others."""
    reasons = [f"{result['warning']} {UNLIKE}"] if result.get("warning") else []
    reasons += [result["note"]] if result.get("note") else []
    if not result["objects"]:
        return [*reasons, "no objects"]
    scores = [row["score"] for row in result["objects"] if "score" in row]  # objects of volumes have none
    if scores and float(np.mean(scores)) < LOW_SCORE:
        reasons.append(f"low scores, {np.mean(scores):.2f} in the mean")
    counts = [len(other["objects"]) for other in results]
    reasons += _unlike("count", len(result["objects"]), counts)
    sizes = [other["mean_diameter"] for other in results if other["objects"]]
    return [*reasons, *_unlike("mean diameter", result["mean_diameter"], sizes)]


def _unlike(what: str, value: float, values: Sequence[float]) -> Iterator[str]:
    """Yield that a value is unlike the others, where it is, by the robust z-score of its logarithm."""
    if len(values) < MIN_COMPARED:
        return
    logs = np.log1p(values)
    middle = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - middle))) + LEAST_SPREAD  # 1.4826: that of a normal distribution
    if abs(np.log1p(value) - middle) > UNUSUAL * spread:
        yield f"{what} {value:.4g}, of most images about {np.expm1(middle):.4g}"


def histogram(diameters: np.ndarray[Any, Any]) -> str:
    """Return a histogram of diameters, in equal ratios, as SVG; nothing of none."""
    if not len(diameters):
        return ""
    low, high = float(diameters.min()), float(max(diameters.max(), 1.2 * diameters.min()))
    heights, _ = np.histogram(np.log(diameters), BINS, (np.log(low), np.log(high)))
    width, ground = BINS * BAR_WIDTH, BAR_HEIGHT + 10
    bars = "".join(
        f'<rect x="{k * BAR_WIDTH + 1}" y="{ground - h}" width="{BAR_WIDTH - 2}" height="{h}" fill="#287"/>'
        for k, h in enumerate(np.rint(BAR_HEIGHT * heights / heights.max()).astype(int).tolist())
    )
    marks = "".join(
        f'<text x="{share * width:.0f}" y="{ground + 18}" text-anchor="{anchor}" font-size="14">{size:.3g} px</text>'
        for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end"))
        for size in [low * (high / low) ** share]
    )
    return f'<h2>Diameters</h2><svg viewBox="0 0 {width} {ground + 26}" role="img">{bars}{marks}</svg>'


def _figure(name: str, result: Mapping[str, Any], reasons: Sequence[str], overlay: Path | None) -> Iterator[str]:
    """Yield an image of the page, with its count and why it is to be looked at."""
    count = number_of(len(result["objects"]), "object")
    yield f"<figure><figcaption><b>{html.escape(name)}</b>: {count}"
    yield f'<div class="look">{html.escape("; ".join(reasons))}</div>' if reasons else ""
    yield "</figcaption>"
    if overlay is not None and overlay.is_file():
        yield f'<img alt="{html.escape(name)} with outlines" src="data:image/jpeg;base64,{_embedded(overlay)}">'
    yield "</figure>"


def _embedded(path: Path) -> str:
    """Return an image, reduced to fit the page, as text."""
    with PillowImage.open(path) as image:
        shown = image.convert("RGB")
    shown.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    content = io.BytesIO()
    shown.save(content, "JPEG", quality=85)
    return base64.b64encode(content.getvalue()).decode()
