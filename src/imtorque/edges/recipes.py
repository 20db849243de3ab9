"""Edge recipes: everything that a strengthened edge depends on, as one value with a name.

A recipe says how edges are found and how strong each is, which patches then vote on them, and with which coefficients
the votes count. `imtorque.boundary_strength` carries recipes out. A further detector is one more entry of `DETECTORS`
and its recipes of `RECIPES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from imtorque.core.contribution import BOUNDARY_SIZES
from imtorque.core.types import Edges, Image
from imtorque.edges.boundary_maps import boundary_map
from imtorque.edges.canny import SQRT2, detect_edges
from imtorque.edges.ultrametric import contour_edges, ultrametric_contours
from imtorque.images import CheckedImage

LOWEST_GRADIENT = 0.004  # of edges to be weighed, in parts of the value range: texture is for torque to tell, not this
LEAST_LIKELY = 0.02  # of boundaries to be weighed
BETWEEN_SIGMAS = 1.7  # below it the recipe of sigma sqrt(2) is the nearer one, above it that of 2


@dataclass(frozen=True)
class EdgeRecipe:
    """How edges are found, how strong they are, and how torque re-weighs them.

    Parameters
    ----------
    name
        What results call it.
    detector
        Which detector of `DETECTORS` finds the edges.
    sigma, low, high, strength_scale
        As for `detect_edges`; on one scale for all images. Those that give maps have edges above `low`, as
        strong as they are likely, and no use for the others.
    sizes
        Patches that vote, for `dense_contribution`.
    coefficients
        (c0, c1, c2) of the logistic rule of `strengthen_edges`, learned for just these edges.
    """

    name: str
    detector: str
    sigma: float
    low: float
    high: float
    strength_scale: float
    sizes: tuple[int, ...]
    coefficients: tuple[float, float, float]

    def edges(self, image: Image | CheckedImage) -> Edges:
        """Return the edges, with forces in proportion to their strength, before torque re-weighs them."""
        return DETECTORS[self.detector](image, self)


def _canny(image: Image | CheckedImage, recipe: EdgeRecipe) -> Edges:
    return detect_edges(
        image,
        sigma=recipe.sigma,
        low=recipe.low,
        high=recipe.high,
        force="strength",
        strength_scale=recipe.strength_scale,
    )


def _map_edges(image: Image | CheckedImage, recipe: EdgeRecipe) -> Edges:
    """Return the edges of the boundary map of the recipe's detector."""
    checked = CheckedImage(image)
    return boundary_map(checked, recipe.detector).edges(checked, recipe.low)


def _closed_contours(image: Image | CheckedImage, recipe: EdgeRecipe) -> Edges:
    checked = CheckedImage(image)
    oriented = boundary_map(checked, "gpb")
    return contour_edges(ultrametric_contours(oriented), oriented, checked, recipe.low)


def _canny_recipe(
    name: str, sigma: float, strength_scale: float, coefficients: tuple[float, float, float]
) -> EdgeRecipe:
    low = LOWEST_GRADIENT
    return EdgeRecipe(name, "canny", sigma, low, low, strength_scale, BOUNDARY_SIZES, coefficients)


def _map_recipe(name: str, coefficients: tuple[float, float, float]) -> EdgeRecipe:
    return EdgeRecipe(name, name, 0.0, LEAST_LIKELY, LEAST_LIKELY, 1.0, BOUNDARY_SIZES, coefficients)


DETECTORS: dict[str, Callable[[Image | CheckedImage, EdgeRecipe], Edges]] = {
    "canny": _canny,
    "pb": _map_edges,
    "mpb": _map_edges,
    "gpb": _map_edges,
    "ucm": _closed_contours,
    "sketch-tokens": _map_edges,
}

# Scales and coefficients: learned on Berkeley's training images by the rule torque-logistic of
# imtorque_reproduce.boundary.experiment, that of canny-2 on edges of its sigma; those of pb, mPb, gPb
# and UCM on ten of them by torque_coefficients of imtorque_reproduce.detectors.experiment. The forest of Sketch
# Tokens has seen all of these images, so nothing is learned from its edges there: its strengths keep their order.
RECIPES = {
    recipe.name: recipe
    for recipe in (
        _canny_recipe("canny", SQRT2, 0.13, (-1.722, 0.942, 3.282)),
        _canny_recipe("canny-2", 2.0, 0.105, (-1.852, 1.020, 3.444)),
        _map_recipe("pb", (1.052, 1.892, 0.294)),
        _map_recipe("mpb", (1.386, 1.990, -0.188)),
        _map_recipe("gpb", (1.679, 2.082, -0.316)),
        _map_recipe("ucm", (0.330, 1.377, 1.915)),
        _map_recipe("sketch-tokens", (0.0, 1.0, 0.0)),
    )
}


def find_recipe(recipe: str | EdgeRecipe) -> EdgeRecipe:
    """Return a recipe by its name; a recipe itself is returned as it is."""
    if isinstance(recipe, EdgeRecipe):
        return recipe
    if recipe not in RECIPES:
        raise ValueError(f"recipe must be one of {', '.join(RECIPES)}, or an EdgeRecipe, got {recipe!r}")
    return RECIPES[recipe]


def canny_recipe(sigma: float = SQRT2, low: float | None = None, high: float | None = None) -> EdgeRecipe:
    """Return the Canny recipe learned for the nearest sigma, with this sigma and these thresholds."""
    nearest = RECIPES["canny" if sigma < BETWEEN_SIGMAS else "canny-2"]
    bottom = low if low is not None else min(nearest.low, high) if high is not None else nearest.low
    top = high if high is not None else bottom
    return replace(nearest, sigma=sigma, low=bottom, high=top)
