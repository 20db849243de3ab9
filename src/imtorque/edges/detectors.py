"""The registry of base detectors, from which the command line, the explorer and the recipes draw their choices.

A further detector is one more record in `DETECTORS`: see "Adding a base detector" in CONTRIBUTING.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from imtorque.core.types import Edges, Image
from imtorque.edges.boundary_maps import gpb_map, mpb_map, pb_map
from imtorque.edges.canny import SQRT2, detect_edges
from imtorque.edges.network import COMMAND as NETWORK_COMMAND
from imtorque.edges.network import kept_network, trained_network
from imtorque.edges.oriented import OrientedMap
from imtorque.edges.token_forest import COMMAND, kept_forest, trained_tokens
from imtorque.edges.ultrametric import contour_edges, ultrametric_contours
from imtorque.images import CheckedImage, ValueRange

DEFAULT_DETECTOR = "canny"  # the paper's
MIN_GRADIENT = 0.004  # in parts of the value range; convention: low, because torque tells texture from boundaries
MIN_PROBABILITY = 0.02  # convention: low, for the same reason


@dataclass(frozen=True)
class CannyOptions:
    """Options of Canny's edges, as for `detect_edges`; on one scale for all images."""

    sigma: float = SQRT2
    low: float = MIN_GRADIENT
    high: float = MIN_GRADIENT
    strength_scale: float = 0.13  # tuned on Berkeley's training images by reproduce's boundary experiment


@dataclass(frozen=True)
class MapOptions:
    """Options of detectors that give a map of boundary probabilities: edges lie above the threshold."""

    threshold: float = MIN_PROBABILITY


@dataclass(frozen=True)
class Detector:
    """A base detector: how it is called, what it finds, and what it needs.

    Parameters
    ----------
    name
        In `DETECTORS`, on the command line and in addresses.
    title, description
        For people: a short name and a line about the method.
    find
        Edges of an image with given options, with forces in proportion to their strength.
    options
        The default options, a dataclass of the detector's own.
    coefficients
        (c0, c1, c2) of the logistic rule of `strengthen_edges`, learned for just these edges.
    oriented_map
        The probability of a boundary of each orientation, for detectors that have such a map.
    is_closed
        Whether its contours are those of `ultrametric_contours` on that map.
    duration
        In words, where it takes more than a moment for a photograph.
    needs
        The command to run once before the detector can be used, where there is one.
    is_ready
        Whether that has been done.
    """

    name: str
    title: str
    description: str
    find: Callable[[CheckedImage, Any], Edges]
    options: Any
    coefficients: tuple[float, float, float]
    oriented_map: Callable[[CheckedImage], OrientedMap] | None = None
    is_closed: bool = False
    duration: str = ""
    needs: str = ""
    is_ready: Callable[[], bool] = lambda: True


def boundary_map(
    image: Image | CheckedImage, detector: str = "mpb", *, value_range: ValueRange | None = None
) -> OrientedMap:
    """Return how likely a boundary of each of eight orientations passes through each pixel.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Radii are those of images of about 500 pixels.
    detector
        "pb": brightness, colour and texture at one scale. "mpb": at three scales. "gpb": with the eigenvectors of the
        image's graph, which know what separates its large parts; about ten times as slow. "sketch-tokens": a forest
        that knows pieces of drawn contours, once `imtorque data train sketch-tokens` has trained it on this computer.
        "network": a small network with torque inside, once `imtorque data train network` has.
    value_range
        As for `detect_edges`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((40, 60))
    >>> image[:, 30:] = 1
    >>> found = boundary_map(image, "pb")
    >>> bool(found.strength[20, 30] > 10 * found.strength[20, 10]), round(float(found.angle[20, 30]), 2)
    (True, 1.57)
    """
    checked = CheckedImage(image, value_range)
    maps = {one.name: one.oriented_map for one in DETECTORS.values() if one.oriented_map and not one.is_closed}
    if detector not in maps:
        raise ValueError(f"detector must be one of {', '.join(maps)}, got {detector!r}")
    return maps[detector](checked)


def _canny_edges(image: CheckedImage, options: CannyOptions) -> Edges:
    return detect_edges(
        image,
        sigma=options.sigma,
        low=options.low,
        high=options.high,
        force="strength",
        strength_scale=options.strength_scale,
    )


def _map_edges(oriented_map: Callable[[CheckedImage], OrientedMap], image: CheckedImage, options: MapOptions) -> Edges:
    return oriented_map(image).edges(image, options.threshold)


def _closed_edges(image: CheckedImage, options: MapOptions) -> Edges:
    oriented = gpb_map(image)
    return contour_edges(ultrametric_contours(oriented), oriented, image, options.threshold)


def _sketch_tokens_map(image: CheckedImage) -> OrientedMap:
    return trained_tokens()(image)


def _network_map(image: CheckedImage) -> OrientedMap:
    return trained_network()(image)


# Coefficients: learned on Berkeley's training images, Canny's by the rule torque-logistic of
# imtorque_reproduce.boundary.experiment, those of pb, mPb, gPb and UCM on ten of the images by torque_coefficients of
# imtorque_reproduce.detectors.experiment. Sketch Tokens and the network have seen all of these images, so nothing is
# learned from their edges there: their strengths keep their order.
DETECTORS: dict[str, Detector] = {
    detector.name: detector
    for detector in (
        Detector(
            "canny",
            "Canny",
            "Changes of brightness, by gradient, non-maximum suppression and hysteresis.",
            _canny_edges,
            CannyOptions(),
            (-1.722, 0.942, 3.282),
        ),
        Detector(
            "pb",
            "pb",
            "Brightness, colour and texture at one scale.",
            partial(_map_edges, pb_map),
            MapOptions(),
            (1.052, 1.892, 0.294),
            pb_map,
        ),
        Detector(
            "mpb",
            "mPb, three scales",
            "Brightness, colour and texture at three scales.",
            partial(_map_edges, mpb_map),
            MapOptions(),
            (1.386, 1.990, -0.188),
            mpb_map,
        ),
        Detector(
            "gpb",
            "gPb",
            "mPb with the eigenvectors of the image's graph.",
            partial(_map_edges, gpb_map),
            MapOptions(),
            (1.679, 2.082, -0.316),
            gpb_map,
            duration="takes seconds",
        ),
        Detector(
            "ucm",
            "UCM, closed contours",
            "gPb, closed by watershed and merging of regions.",
            _closed_edges,
            MapOptions(),
            (0.330, 1.377, 1.915),
            gpb_map,
            is_closed=True,
            duration="takes seconds",
        ),
        Detector(
            "sketch-tokens",
            "Sketch Tokens",
            "A forest trained on pieces of drawn contours.",
            partial(_map_edges, _sketch_tokens_map),
            MapOptions(),
            (0.0, 1.0, 0.0),
            _sketch_tokens_map,
            needs=COMMAND,
            is_ready=lambda: kept_forest().is_file(),
        ),
        Detector(
            "network",
            "Network with torque",
            "A small network trained on drawn contours, with torque as a layer.",
            partial(_map_edges, _network_map),
            MapOptions(),
            (0.0, 1.0, 0.0),
            _network_map,
            needs=NETWORK_COMMAND,
            is_ready=lambda: kept_network().is_file(),
        ),
    )
}
