"""Cues that may tell a boundary from a texture edge: torque in its two forms, and controls without torque."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from imtorque import _native
from imtorque.boundaries.strength import LOG_SHIFT
from imtorque.core.contribution import BOUNDARY_SIZES, dense_contribution
from imtorque.core.extrema import find_extrema
from imtorque.core.resizing import shrunk
from imtorque.core.types import Edges, FloatArray, Image
from imtorque.edges import RECIPES, canny_recipe, detect_edges
from imtorque.edges.detectors import MIN_GRADIENT
from imtorque.images import CheckedImage, grey_image
from imtorque.paper import normalised_contribution

PAPER_EXTREMA = 5000  # paper, Sec. 4.2: on its cars
EXTREMUM_SIZES = range(3, 92, 2)  # paper, Sec. 3.3: for images halved to 161 x 241
GRADIENT_SIGMAS = (3.0, 4.0, 6.0, 8.0, 12.0)  # of the control; the regression weighs each; untuned
DENSITY_SIZES = (17, 31, 55, 97)  # of the control: the four largest of `BOUNDARY_SIZES`; derived
SHRINKING = (2, 3)  # of the images that the multiscale control finds edges in; untuned
CENTRE_WIDTH = 0.25  # standard deviation of the centre prior, as a part of the image's sides; untuned

# Bases by the names that results have for them: all maxima of the gradient, on one scale of strength for all images.
CANNY = (replace(RECIPES["canny"], name="canny-sqrt2"), RECIPES["canny-2"])


def cue(name: str, image: Image, edges: Edges, sigma: float) -> FloatArray:
    """Return one cue by its name, (K, H, W)."""
    return {
        "sizes": lambda: sized_contributions(edges),
        "contribution": lambda: dense_contribution(edges)[None],
        "extrema": lambda: extremum_contribution(image, sigma)[None],
        "gradient": lambda: _gradients(image),
        "density": lambda: densities(edges),
        "multi": lambda: _multiscale(image, sigma),
        "small-sizes": lambda: _smaller_contributions(image, sigma),
        "position": lambda: _position(edges.shape),
    }[name]()


def second_powers(strength: FloatArray, cues: Mapping[str, FloatArray]) -> FloatArray:
    """Return all squares and products of the strength's logarithm and of the cues, (K, H, W).

    Of a cue with a plane for each size, the sum over the sizes stands for all; "multi" and "small-sizes" have one for
    each smaller image.
    """
    parts = [np.log(strength + LOG_SHIFT)[None]]
    for name, planes in cues.items():
        count = len(SHRINKING) if name in ("multi", "small-sizes") else 1
        parts.append(planes.reshape(count, -1, *strength.shape).sum(axis=1))
    single = np.concatenate(parts)
    first, second = np.triu_indices(len(single))
    products: FloatArray = single[first] * single[second]
    return products


def sized_contributions(edges: Edges) -> FloatArray:
    """Return the dense contribution of each size."""
    return np.stack([dense_contribution(edges, [size]) for size in BOUNDARY_SIZES])


def extremum_contribution(image: Image, sigma: float) -> FloatArray:
    """Return the paper's contribution: Canny's edges, unit forces, the strongest extrema, scaled to [0, 1] by image."""
    edges = detect_edges(image, sigma=sigma)
    return normalised_contribution(edges, find_extrema(edges, sizes=EXTREMUM_SIZES, count=PAPER_EXTREMA))


def centre_prior(shape: tuple[int, int]) -> FloatArray:
    """Return a Gaussian at the middle of the image, 1 at its peak."""
    y, x = (np.linspace(-0.5, 0.5, n) / CENTRE_WIDTH for n in shape)
    prior: FloatArray = np.exp(-0.5 * (y[:, None] ** 2 + x**2))
    return prior


def _gradients(image: Image) -> FloatArray:
    grey = grey_image(image)
    gradients = (np.hypot(*_native.smoothed_gradient(grey, sigma)) for sigma in GRADIENT_SIGMAS)
    return np.stack([np.log(gradient + MIN_GRADIENT) for gradient in gradients])


def _multiscale(image: Image, sigma: float) -> FloatArray:
    """Return the logarithm of Canny's strength in smaller images, within a pixel of theirs."""
    smaller = _smaller_edges(image, sigma)
    return np.stack([np.log(_spread(np.minimum(s.strength, 1), n, image) + LOG_SHIFT) for n, s in smaller.items()])


def _smaller_contributions(image: Image, sigma: float) -> FloatArray:
    """Return the dense contribution of each size in smaller images, within a pixel of theirs."""
    smaller = _smaller_edges(image, sigma).items()
    return np.stack([_spread(one, factor, image) for factor, edges in smaller for one in sized_contributions(edges)])


def _smaller_edges(image: Image, sigma: float) -> dict[int, Edges]:
    """Return the edges of smaller images, by their shrinking factor."""
    grey, recipe = grey_image(image), canny_recipe(sigma)
    return {factor: recipe.edges(CheckedImage(shrunk(grey, factor), (0.0, 1.0))) for factor in SHRINKING}


def _spread(values: FloatArray, factor: int, image: Image) -> FloatArray:
    """Return the largest value within a pixel of a smaller image, at the size of the whole."""
    from scipy import ndimage

    height, width = np.shape(image)[:2]
    near = ndimage.maximum_filter(values.astype(np.float64), 3)
    return np.asarray(near.repeat(factor, axis=0).repeat(factor, axis=1)[:height, :width])


def densities(edges: Edges) -> FloatArray:
    """Return the logarithm of how much edge there is nearby, at each of `DENSITY_SIZES`."""
    from scipy import ndimage

    strength = edges.strength.astype(np.float64)
    means = (ndimage.uniform_filter(strength, size, mode="constant") for size in DENSITY_SIZES)
    return np.stack([np.log(np.maximum(mean, 0) + 0.01) for mean in means])


def _position(shape: tuple[int, int]) -> FloatArray:
    y, x = (np.minimum(np.arange(n), np.arange(n)[::-1]) for n in shape)
    border = np.minimum(y[:, None], x) / min(shape)
    return np.stack([centre_prior(shape), border])
