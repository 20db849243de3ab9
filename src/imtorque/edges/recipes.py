"""Edge recipes: all that a strengthened edge depends on, as one value with a name.

A recipe says which detector finds the edges and with which options, which patches then vote on them, and with which
coefficients the votes count. `imtorque.boundary_strength` carries recipes out.
"""

from dataclasses import dataclass, replace
from typing import Any

from imtorque.core.contribution import BOUNDARY_SIZES
from imtorque.core.types import Edges, Image
from imtorque.edges.canny import SQRT2
from imtorque.edges.detectors import DETECTORS, CannyOptions, Detector
from imtorque.images import CheckedImage

SIGMA_BOUNDARY = 1.7  # derived: the middle of sqrt(2) and 2, the sigmas of the two learned Canny recipes


@dataclass(frozen=True)
class EdgeRecipe:
    """How edges are found, how strong they are, and how torque re-weighs them.

    Parameters
    ----------
    name
        What results call it.
    detector
        Which detector of `imtorque.edges.DETECTORS` finds the edges.
    options
        The detector's own options, such as `CannyOptions` or `MapOptions`.
    sizes
        Patches that vote, for `dense_contribution`.
    coefficients
        (c0, c1, c2) of the logistic rule of `strengthen_edges`, learned for just these edges.
    """

    name: str
    detector: str
    options: Any
    sizes: tuple[int, ...]
    coefficients: tuple[float, float, float]

    def edges(self, image: Image | CheckedImage) -> Edges:
        """Return the edges, with forces in proportion to their strength, before torque re-weighs them."""
        return DETECTORS[self.detector].find(CheckedImage(image), self.options)


def _recipe_of(detector: Detector) -> EdgeRecipe:
    return EdgeRecipe(detector.name, detector.name, detector.options, BOUNDARY_SIZES, detector.coefficients)


# canny-2: learned as "canny" was, on edges of its sigma.
RECIPES = {name: _recipe_of(detector) for name, detector in DETECTORS.items()} | {
    "canny-2": EdgeRecipe(
        "canny-2", "canny", CannyOptions(2.0, strength_scale=0.105), BOUNDARY_SIZES, (-1.852, 1.020, 3.444)
    )
}


def find_recipe(recipe: str | EdgeRecipe) -> EdgeRecipe:
    """Return a recipe by its name, or that of a detector; a recipe itself is returned as it is."""
    if isinstance(recipe, EdgeRecipe):
        return recipe
    if recipe in RECIPES:
        return RECIPES[recipe]
    if recipe in DETECTORS:  # registered after this module was imported
        return _recipe_of(DETECTORS[recipe])
    known = dict.fromkeys((*RECIPES, *DETECTORS))
    raise ValueError(f"recipe must be one of {', '.join(known)}, or an EdgeRecipe, got {recipe!r}")


def canny_recipe(sigma: float = SQRT2, low: float | None = None, high: float | None = None) -> EdgeRecipe:
    """Return the Canny recipe learned for the nearest sigma, with this sigma and these thresholds."""
    nearest = RECIPES["canny" if sigma < SIGMA_BOUNDARY else "canny-2"]
    default = nearest.options.low
    bottom = low if low is not None else min(default, high) if high is not None else default
    top = high if high is not None else bottom
    return replace(nearest, options=replace(nearest.options, sigma=sigma, low=bottom, high=top))
