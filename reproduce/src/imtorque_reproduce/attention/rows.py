"""All maps the attention experiment compares on one image, and the settings they depend on."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from imtorque import paper
from imtorque.core.types import Edges, Image
from imtorque.images import CheckedImage
from imtorque.saliency import blend_saliency, centre_saliency, gbvs_saliency, itti_saliency
from imtorque.saliency.from_torque import FORMS, Weight, attended_extrema, form_edges, patch_sizes
from imtorque.saliency.gaussians import DEFAULT_SIGMA, blurred, splatted
from imtorque.saliency.maps import Map, unit_range
from imtorque_reproduce.factorial import FROZEN, read_frozen

PAPER_COUNT = 500  # tuned on OSIE, for the paper's order of methods
PAPER_SHARE = 0.3  # of torque in the paper's blend (Sec. 4.1)
# Tuned on SUN scenes and parts of OSIE.
INSIDE_SETTINGS = {"alpha": 1.5, "count": 1500}
FINE = {"count": 4000, "sigma": 8.0, "edge_sigma": 10.0, "share": 0.5}
GBVS_BLUR = 15.0  # pixels, of the control that only blurs GBVS further; untuned


@dataclass(frozen=True)
class Tuned:
    """What is chosen on the other data set: the best form's normalisation, number of extrema, and share of the blend.

    The defaults were chosen on SUN scenes.
    """

    alpha: float = 1.5
    count: int = 4000
    share: float = 0.4


def all_maps(image: Image, tuned: Tuned) -> dict[str, Map]:
    """Return every map by its method's name; images must have a shorter side of 150 pixels or less."""
    grey, colour = edge_channels(image)
    shape = grey.shape
    single = {
        "itti": itti_saliency(image),
        "gbvs": gbvs_saliency(image),
        "torque-paper": torque_map([grey], PAPER_COUNT),
        "torque-frozen": np.asarray(paper.saliency(image, frozen_reading()), np.float64),
        "torque": torque_map(colour, tuned.count, alpha=tuned.alpha),
        "torque-inside": torque_map(colour, int(INSIDE_SETTINGS["count"]), alpha=INSIDE_SETTINGS["alpha"], inside=True),
        "torque-fine": torque_map(colour, int(FINE["count"]), sigma=FINE["sigma"], weight="coherence"),
        "control:centre": centre_saliency(image),
        "control:edge-density": unit_range(blurred(grey.mask.astype(np.float64), DEFAULT_SIGMA)),
        "control:edge-strength": edge_strength(colour, DEFAULT_SIGMA),
        "control:edge-strength-fine": edge_strength(colour, FINE["edge_sigma"]),
        "control:inside-prior": inside_prior(shape),
    }
    single["control:gbvs-blurred"] = unit_range(blurred(single["gbvs"], GBVS_BLUR))
    blends = (
        ("gbvs+torque-paper", "torque-paper", PAPER_SHARE),
        ("gbvs+torque-frozen", "torque-frozen", PAPER_SHARE),
        ("gbvs+torque", "torque", tuned.share),
        ("gbvs+torque-inside", "torque-inside", tuned.share),
        ("gbvs+torque-fine", "torque-fine", FINE["share"]),
        ("control:gbvs+centre-paper", "control:centre", PAPER_SHARE),
        ("control:gbvs+edge-density-paper", "control:edge-density", PAPER_SHARE),
        ("control:gbvs+centre", "control:centre", tuned.share),
        ("control:gbvs+edge-density", "control:edge-density", tuned.share),
        ("control:gbvs+edge-strength", "control:edge-strength", tuned.share),
        ("control:gbvs+inside-prior", "control:inside-prior", tuned.share),
        ("control:gbvs+edge-strength-fine", "control:edge-strength-fine", FINE["share"]),
    )
    for name, other, share in blends:
        single[name] = blend_saliency([single["gbvs"], single[other]], [1 - share, share])
    return single


@cache
def frozen_reading() -> paper.Reading:
    """Return the reading of the paper's torque saliency that was chosen on SUN scenes (`attention-readings`)."""
    return read_frozen(Path(__file__).with_name(FROZEN))["saliency"]


def edge_channels(image: Image) -> tuple[Edges, list[Edges]]:
    """Return the edges of the paper's form (grey, unit forces) and of the best form (Lab, strength forces)."""
    checked = CheckedImage(image)
    (grey,) = form_edges(checked, FORMS["paper"])
    return grey, form_edges(checked, FORMS["best"])


def torque_map(
    channels: list[Edges],
    count: int,
    *,
    alpha: float = 2.0,
    inside: bool = False,
    sigma: float = DEFAULT_SIGMA,
    weight: Weight = "torque",
) -> Map:
    """Return torque saliency from edges that several maps share."""
    points = attended_extrema(channels, alpha=alpha, inside=inside, weight=weight).strongest(count)
    return unit_range(splatted(points.y, points.x, points.weight, channels[0].shape, sigma))


def edge_strength(channels: list[Edges], sigma: float) -> Map:
    """Return the edges that the best form's torque is computed from, blurred, without torque."""
    return unit_range(blurred(np.sum([edges.strength for edges in channels], axis=0, dtype=np.float64), sigma))


def inside_prior(shape: tuple[int, int]) -> Map:
    """Return where patches that lie inside the image can be centred, whatever it shows, each size alike; blurred."""
    rows, columns = np.indices(shape)
    room = np.minimum.reduce([rows, shape[0] - 1 - rows, columns, shape[1] - 1 - columns])
    fitting = np.add.reduce([room >= size // 2 for size in patch_sizes(shape)], dtype=np.float64)
    return unit_range(blurred(fitting, DEFAULT_SIGMA))
