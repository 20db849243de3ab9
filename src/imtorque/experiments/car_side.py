"""Outlines of cars in Caltech-101: edges strengthened by torque, beside a centre prior (Sec. 4.2 of the paper).

Nothing is learned. Strength is scaled in each image by the 99 % quantile over its edges. Only patches of the size of
the object help: `CAR_SIZES`, chosen on one half of the images.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from imtorque import datasets
from imtorque._parallel import each
from imtorque._types import FloatArray, Image
from imtorque.boundaries import strengthen_edges
from imtorque.contribution import contribution_map, dense_contribution
from imtorque.edges import EdgeRecipe, detect_edges
from imtorque.experiments.boundary_rows import (
    OPTIONS,
    AllScores,
    Scores,
    chosen_matching,
    differences_of,
    gather,
    resamplings,
    rows_of,
    score_maps,
    stands_on,
    summary_of,
)
from imtorque.experiments.edge_cues import CANNY, EXTREMUM_SIZES, centre_prior
from imtorque.experiments.edge_sheets import curves_picture, lines_picture, maps_picture
from imtorque.experiments.report import Report, Request, checksum
from imtorque.extrema import find_extrema

CATEGORY = "car_side"
CAR_SIZES = (97, 121, 151, 181)
FULL_CONTRIBUTION = 0.1  # of such large patches; about the 99 % quantile over edge pixels
ALPHAS, COUNTS = (0.25, 0.5, 0.75), (250, 1000, 5000)  # of the paper's figure
PAPER_ALPHA, PAPER_COUNT = 0.5, 5000
PAPER = {"canny": 0.20, "canny+torque": 0.23}
EXAMPLES = 3


def run(request: Request) -> Report:
    """Score every row on every image with an outline, and report; `split` names the category."""
    request.require_options(OPTIONS)
    chosen = chosen_matching(request)
    category = request.split or CATEGORY
    root = request.data / "caltech101" if (request.data / "caltech101").is_dir() else request.data
    images = [image for image in datasets.caltech101(root, [category]) if image.outline_path][: request.limit]
    if not images:
        raise ValueError(f"{root} must hold outlines of {category}, got none in Annotations/{category}")
    scores = gather(list(each(partial(_score, chosen=chosen), images, request.jobs, category)))
    shown = {key: found for key, found in scores.items() if not key[0].startswith("grid:")}
    grid = _grid(scores)
    return Report(
        data=root.name,
        data_sha256=checksum([path for image in images for path in _files(image)], root),
        split=category,
        images=len(images),
        settings={"sizes": CAR_SIZES, "max_distance": 0.0075, "thresholds": 99, "paper": PAPER, "grid": grid},
        rows=rows_of(shown, chosen),
        differences=differences_of(shown, _pairs(shown), resamplings(request)),
        notes=[
            "The paper: Canny 0.20, strengthened 0.23 (alpha 0.5, 5000 extrema).",
            "A prior that knows only the middle of the picture gains more than torque: where every car is in the "
            "middle, the gain says little about torque.",
        ],
        pictures=_pictures(images[:: max(1, len(images) // EXAMPLES)][:EXAMPLES], shown, grid),
    )


def _files(image: datasets.CaltechImage) -> list[Path]:
    return [image.image_path, *([image.outline_path] if image.outline_path else [])]


def _score(image: datasets.CaltechImage, chosen: str) -> Scores:
    try:
        picture = image.image()
        truth = image.outline().boundary((picture.shape[0], picture.shape[1]))
        maps = {name: found for base in CANNY for name, found in _maps(picture, base).items()}
        return score_maps(maps | _grid_maps(picture, CANNY[0]), [truth], chosen)
    except ValueError as error:
        raise ValueError(f"{image.image_path}: {error}") from error


def _maps(picture: Image, base: EdgeRecipe) -> dict[str, FloatArray]:
    """Return the boundary map of every row of a base."""
    strength, dense = _strength_and_contribution(picture, base)
    torque = strength * np.clip(dense / FULL_CONTRIBUTION, 0, 1)
    centre = centre_prior((picture.shape[0], picture.shape[1]))
    paper = _paper_contributions(picture, base, (PAPER_COUNT,))[PAPER_COUNT]
    return {
        base.name: strength,
        f"{base.name}+torque": torque,
        f"{base.name}+torque-paper": strengthen_edges(strength, paper, method="blend", share=PAPER_ALPHA),
        f"control:{base.name}+centre": strength * centre,
        f"control:{base.name}+centre+torque": torque * centre,
    }


def _strength_and_contribution(picture: Image, base: EdgeRecipe) -> tuple[FloatArray, FloatArray]:
    edges = detect_edges(picture, sigma=base.sigma, low=base.low, high=base.high, force="strength")
    return np.minimum(edges.strength, 1), dense_contribution(edges, CAR_SIZES)


def _paper_contributions(picture: Image, base: EdgeRecipe, counts: tuple[int, ...]) -> dict[int, FloatArray]:
    """Return the paper's contribution, scaled to [0, 1], for several numbers of extrema."""
    edges = detect_edges(picture, sigma=base.sigma)
    extrema = find_extrema(edges, sizes=EXTREMUM_SIZES, count=max(counts))
    votes = {count: np.maximum(contribution_map(edges, extrema[:count]), 0) for count in counts}
    return {count: np.asarray(vote / max(float(vote.max()), 1e-30)) for count, vote in votes.items()}


def _grid_maps(picture: Image, base: EdgeRecipe) -> dict[str, FloatArray]:
    """Return the paper's blend for each weight and number of extrema."""
    strength = _strength_and_contribution(picture, base)[0]
    return {
        f"grid:{base.name}+torque-{alpha}-{count}": strengthen_edges(strength, votes, method="blend", share=alpha)
        for count, votes in _paper_contributions(picture, base, COUNTS).items()
        for alpha in ALPHAS
    }


def _grid(scores: AllScores) -> list[dict[str, Any]]:
    name = CANNY[0].name
    base = {"alpha": 0.0, "extrema": 0, "f": summary_of(scores, name).ods.f}
    return [base] + [
        {"alpha": alpha, "extrema": count, "f": summary_of(scores, f"grid:{name}+torque-{alpha}-{count}").ods.f}
        for count in COUNTS
        for alpha in ALPHAS
    ]


def _pairs(scores: AllScores) -> list[tuple[str, str]]:
    methods = list(dict.fromkeys(method for method, _ in scores))
    pairs = [(method, base.name) for base in CANNY for method in methods if stands_on(method, base.name)]
    controls = [f"control:{base.name}+centre" for base in CANNY]
    return pairs + [(f"{control}+torque", control) for control in controls]


def _pictures(examples: list[datasets.CaltechImage], scores: AllScores, grid: list[dict[str, Any]]) -> dict[str, bytes]:
    base = CANNY[0]
    names = (base.name, f"{base.name}+torque", f"{base.name}+torque-paper", f"control:{base.name}+centre")
    panels = []
    for image in examples:
        picture = image.image()
        maps = _maps(picture, base)
        truth = image.outline().boundary((picture.shape[0], picture.shape[1]))
        panels.append([maps[base.name], maps[f"{base.name}+torque"], truth.astype(float)])
    curves = {
        f"{count} extrema": ([0.0, *ALPHAS], [grid[0]["f"], *(row["f"] for row in grid if row["extrema"] == count)])
        for count in COUNTS
    }
    return {
        "precision_recall.png": curves_picture({name: summary_of(scores, name) for name in names}),
        "blend.png": lines_picture(curves, "weight of the contribution", "largest F"),
        "examples.png": maps_picture(panels, ["edges", "strengthened by torque", "outline"]),
    }
