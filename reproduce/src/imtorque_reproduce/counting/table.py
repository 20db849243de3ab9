"""Write the table of the counting experiment into a page of the docs, from the results alone.

    python -m imtorque_reproduce.counting.table docs/results/counting/results.json docs/measured/counting.md

It stands between two markers; the images drawn beside the results are shown below it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from imtorque.io.atomic import write_text

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
SETS = {
    "blood_cells": "blood cells",
    "nuclei-fluorescence": "nuclei, fluorescence",
    "marrow": "marrow",
    "nuclei-grey": "nuclei, grey",
    "nuclei-stained": "nuclei, stained",
}
METHODS = {
    "learned": "**learned**, best kinds of candidates",
    "learned-torque": "learned, torque alone",
    "control:learned-threshold": "learned, regions of thresholds",
    "control:learned-radial": "learned, radial symmetry",
    "control:pixel-forest": "pixel forest + watershed",
    "control:centre-regression": "regression of centres",
    "torque-sizes": "**find_blobs**, sizes known",
    "torque-default": "find_blobs, nothing known",
    "control:threshold-watershed": "threshold + watershed",
    "control:radial-symmetry": "radial symmetry",
    "control:blob-log": "blob_log",
    "control:simple-blob": "SimpleBlobDetector",
    "control:hough": "Hough circles",
}
CHANGES = ("plain", "ramp", "dim", "noise", "texture", "blur")
ORACLES = {
    "as-is": "as it is",
    "best-threshold": "best threshold of each image",
    "perfect-ranking": "perfect ranking",
    "perfect-outlines": "perfect outlines",
}
IMAGES = {
    "learning.png": "F1 over what was annotated",
    "robustness.png": "F1 in changed images",
    "worst.png": "The worst image of each set: found (blue), annotated (boxes)",
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table: F1 by centre and by box, and the mean error of the count as a share of the mean count."""
    scores = {str(row["method"]): row for row in rows}
    sets = [name for name in SETS if f"learned@{name}" in scores]
    lines = [
        "| F1 by centre / by box, count error | " + " | ".join(SETS[name] for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for method, title in METHODS.items():
        lines.append(f"| {title} | " + " | ".join(_cell(scores[f"{method}@{name}"]) for name in sets) + " |")
    return "\n".join(lines)


def changes_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of changed images: F1 by centre, plain and after each change."""
    scores = {str(row["method"]): row for row in rows}
    sets = [name for name in SETS if f"learned:plain@{name}" in scores]
    if not sets:
        return ""
    lines = [
        f"| F1 by centre: {', '.join(CHANGES)} | " + " | ".join(SETS[name] for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for method in [name for name in METHODS if f"{name}:plain@{sets[0]}" in scores]:
        cells = (", ".join(f"{scores[f'{method}:{change}@{name}']['f1']:.2f}" for change in CHANGES) for name in sets)
        lines.append(f"| {METHODS[method]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def oracle_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of what `learned` loses where."""
    scores = {str(row["method"]): row for row in rows}
    sets = [name for name in SETS if f"oracle:as-is@{name}" in scores]
    if not sets:
        return ""
    lines = [
        "| learned, F1 by centre / by box | " + " | ".join(SETS[name] for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for oracle, title in ORACLES.items():
        found = [scores[f"oracle:{oracle}@{name}"] for name in sets]
        lines.append(f"| {title} | " + " | ".join(f"{row['f1']:.3f} / {row['f1_iou']:.3f}" for row in found) + " |")
    recalls = (f"{scores[f'oracle:recall@{name}']['recall']:.3f}" for name in sets)
    lines.append("| objects that some proposal overlaps | " + " | ".join(recalls) + " |")
    return "\n".join(lines)


def transfer_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of what was learned on one set and counted on another of its kind, with what it warned of."""
    scores = {str(row["method"]): row for row in rows}
    sets = [name for name in SETS if any(f"learned:from-{name}@{other}" in scores for other in SETS)]
    if not sets:
        return ""
    counted = [name for name in SETS if any(f"learned:from-{other}@{name}" in scores for other in sets)]
    lines = [
        "| learned from, counted on: F1 by centre / by box, count error | "
        + " | ".join(SETS[name] for name in counted)
        + " |",
        "|---" * (len(counted) + 1) + "|",
    ]
    for taught in sets:
        names = (f"learned:{'plain' if taught == name else f'from-{taught}'}@{name}" for name in counted)
        lines.append(f"| {SETS[taught]} | " + " | ".join(_cell(scores[n]) if n in scores else "" for n in names) + " |")
    return "\n".join(lines)


def _cell(row: Mapping[str, Any]) -> str:
    by_box = f" / {row['f1_iou']:.3f}" if "f1_iou" in row else ""
    warned = f", {100 * row['warned']:.0f} % warned" if "warned" in row else ""
    return f"{row['f1']:.3f}{by_box}, {100 * row['mae'] / row['count']:.0f} %{warned}"


def filled(page: str, text: str) -> str:
    """Return a page with this text between its markers."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page must have {BEGIN} and {END} once each")
    return f"{page[: page.index(BEGIN) + len(BEGIN)]}\n{text}\n{page[page.index(END) :]}"


def main(
    results: Annotated[Path, typer.Argument(help="results.json of the experiment.")],
    page: Annotated[Path, typer.Argument(help="Page to write the table into.")],
) -> None:
    """Write the table and the images beside the results into the page."""
    rows = json.loads(results.read_text("utf-8"))["rows"]
    tables = [text for text in (write(rows) for write in (table, changes_table, oracle_table, transfer_table)) if text]
    folder = Path(os.path.relpath(results.parent, page.parent)).as_posix()
    shown = [f"![{title}]({folder}/{name})" for name, title in IMAGES.items() if (results.parent / name).exists()]
    write_text(page, filled(page.read_text("utf-8"), "\n\n".join([*tables, *shown])))


if __name__ == "__main__":
    typer.run(main)
