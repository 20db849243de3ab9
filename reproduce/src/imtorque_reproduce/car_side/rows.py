"""Cars' outlines from every base of the paper's table: its edges, without and with torque (Sec. 4.2).

Canny's edges are weighed in `car_side`. Here are the rows that all bases share, and those of pb, gPb and Sketch Tokens:
as likely as the detector says, edge vectors by the detector's own orientation, forces in proportion to the strength.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from imtorque.boundaries.strength import strengthen_edges
from imtorque.core.contribution import dense_contribution
from imtorque.core.extrema import find_extrema
from imtorque.core.types import FloatArray, Image
from imtorque.edges import RECIPES, boundary_map
from imtorque.images import CheckedImage
from imtorque.paper import normalised_contribution
from imtorque_reproduce.ablation import READING
from imtorque_reproduce.boundary.ablation import BINARY
from imtorque_reproduce.boundary.rows import CANNY, PAPER_EXTREMA, centre_prior
from imtorque_reproduce.boundary.rules import STRONG, TOKENS
from imtorque_reproduce.boundary.tables import Table
from imtorque_reproduce.plots import lines_image

CAR_SIZES = (97, 121, 151, 181)  # tuned on every other image of car_side
CAR_FULL_CONTRIBUTION = 0.1  # of such large patches; about the 99 % quantile over edge pixels; derived
ALPHAS, COUNTS = (0.25, 0.5, 0.75), (250, 1000, PAPER_EXTREMA)  # of the paper's figure (Sec. 4.2)
PAPER_ALPHA = 0.5  # paper, Sec. 4.2
CAR_EXTREMUM_SIZES = range(3, CAR_SIZES[-1] + 1, 2)  # derived: up to the largest of `CAR_SIZES`
GRID = f"{READING}grid:"  # begins the names of maps of the paper's figure
GRID_BASES = (BINARY, *STRONG)  # those of the paper's figure
# Paper, Table 1.
PAPER_CAR_F = {"pb": 0.21, "pb+torque": 0.24, "gpb": 0.20, "gpb+torque": 0.21, TOKENS: 0.24, f"{TOKENS}+torque": 0.25}


def rows_of_base(name: str, strength: FloatArray, dense: FloatArray, votes: FloatArray) -> dict[str, FloatArray]:
    """Return the boundary map of every row of a base.

    From the strength of its edges, their dense contribution to patches of `CAR_SIZES`, and their contribution to the
    strongest extrema, in [0, 1]: the paper's d_tau.
    """
    torque = strength * np.clip(dense / CAR_FULL_CONTRIBUTION, 0, 1)
    centre = centre_prior((strength.shape[0], strength.shape[1]))
    return {
        name: strength,
        f"{name}+torque": torque,
        f"{name}+torque-paper": strengthen_edges(strength, votes, method="blend", share=PAPER_ALPHA),
        f"control:{name}+centre": strength * centre,
        f"control:{name}+centre+torque": torque * centre,
    }


def learned_maps(image: Image, name: str) -> dict[str, FloatArray]:
    """Return the boundary maps of a learned detector's rows, and those of the paper's figure where it is in that."""
    checked = CheckedImage(image)
    edges = boundary_map(checked, name).edges(checked, RECIPES[name].options.threshold)
    strength = np.minimum(edges.strength, 1).astype(np.float64)
    extrema = find_extrema(edges, sizes=CAR_EXTREMUM_SIZES, count=PAPER_EXTREMA)
    votes = {count: normalised_contribution(edges, extrema[:count]) for count in COUNTS}
    rows = rows_of_base(name, strength, dense_contribution(edges, CAR_SIZES), votes[PAPER_EXTREMA])
    if name not in GRID_BASES:
        return rows
    return rows | {
        grid_name(name, alpha, count): strengthen_edges(strength, votes[count], method="blend", share=alpha)
        for count in COUNTS
        for alpha in ALPHAS
    }


def grid_name(base: str, alpha: float, count: int) -> str:
    """Return what the map of a weight and a number of extrema is called."""
    return f"{GRID}{base}+torque-{alpha}-{count}"


def grid_of(table: Table, base: str) -> list[dict[str, Any]]:
    """Return the paper's figure for one base: the largest F of each weight and number of extrema."""
    names = {(0.0, 0): base} | {(alpha, count): grid_name(base, alpha, count) for count in COUNTS for alpha in ALPHAS}
    return [{"alpha": alpha, "extrema": n, "f": table.summary(name).ods.f} for (alpha, n), name in names.items()]


def car_plots(table: Table, grids: Mapping[str, list[dict[str, Any]]], learned: Iterable[str]) -> dict[str, bytes]:
    """Draw the paper's figure for its bases, and precision and recall of every base without and with torque."""
    first = CANNY[0].name
    rows = {"": [BINARY, f"{BINARY}+torque-paper", first, f"{first}+torque", f"control:{first}+centre"]}
    rows |= {f"-{b}": [b, f"{b}+torque", f"{b}+torque-paper", f"control:{b}+centre"] for b in learned}
    curves = {f"precision_recall{of}.png": table.curves(methods) for of, methods in rows.items()}
    names = {base: "" if base == BINARY else f"-{base}" for base in grids}
    return curves | {f"blend{names[base]}.png": _grid_image(grid) for base, grid in grids.items()}


def _grid_image(grid: list[dict[str, Any]]) -> bytes:
    curves = {
        f"{count} extrema": ([0.0, *ALPHAS], [grid[0]["f"], *(row["f"] for row in grid if row["extrema"] == count)])
        for count in COUNTS
    }
    return lines_image(curves, "weight of the contribution", "largest F")
