"""The methods of the regions experiment: each from an image to segmentations, one for each value of a parameter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque import paper
from imtorque.core.extrema import suppress_overlaps
from imtorque.core.resizing import shrunk
from imtorque.core.types import Extrema, Image
from imtorque.edges import SQRT2, detect_edges
from imtorque.evaluation import regions_from_ucm
from imtorque.segmentation.colour_models import colour_bins, model_costs, patch_models
from imtorque.segmentation.evidence import Evidence, enlarged, gather_evidence, shrinking
from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.region_graph import connected_regions
from imtorque.segmentation.region_merging import merge_regions
from imtorque.segmentation.regions import (
    COLOUR_MODELS,
    SMOOTHNESS,
    contrast_links,
    cut_regions,
    grid_patches,
    torque_patches,
)
from imtorque_reproduce.factorial import FROZEN, read_frozen, read_more
from imtorque_reproduce.regions.controls import NormalisedCut, divide

Labels = NDArray[np.int64]
Segmentations = Sequence[Labels]

MERGE_THRESHOLDS = tuple(np.round(np.arange(-1.4, 1.01, 0.1), 2).tolist())  # that training images choose from
# The values that training images choose from; the paper names none.
MODEL_COUNTS = (4, 6, 8, 12, 20, 40)  # convention: a grid
PAPER_SMOOTHNESS = (5.0, 20.0, 60.0)  # convention: a grid
UCM_THRESHOLDS = tuple(np.round(np.arange(0.04, 0.62, 0.04), 2).tolist())
REFERENCE = "reference:gpb-ucm"  # the authors' own maps, where the data has them
Places = Literal["extrema", "grid", "both"]
PAPER = paper.Reading(  # before any choice among readings; 2000 are far more than remain where few overlap
    sigma=SQRT2,
    direction_sigma=None,
    directions=None,
    sizes=91,
    neighbourhood="box",
    end_scales=True,
    inside=False,
    count=2000,
    each_sign=False,
)
CHOSEN = Path(__file__).with_name(FROZEN)  # by `regions-readings`, on training images
PAPER_SMALLEST = 0.001  # of the image: smaller regions join a neighbour; the paper names no number; untuned
# Widened until the choice on training images lay inside (docs/measured/segmentation.md).
CUT_COUNTS = (3, 4, 5, 6, 7, 8, 10)  # convention: a grid
FELZENSZWALB_SCALES = (200, 400, 800, 1600)  # convention: a grid
CUT_SMALLEST = 0.005  # of the image: smallest region of the normalised cut; untuned


@dataclass(frozen=True, eq=False)
class RegionImage:
    """An image and what several methods need of it, found once; the authors' closed contours where there are any."""

    image: Image
    ucm: NDArray[Any] | None = None

    @cached_property
    def strengthened(self) -> Evidence:
        """Colours, and edges strengthened by torque."""
        return gather_evidence(self.image)

    @cached_property
    def plain(self) -> Evidence:
        """Colours, and edges as the gradient has them."""
        return gather_evidence(self.image, torque=False)

    def large(self, labels: Labels) -> Labels:
        """Return labels of the working size at the image's size."""
        shape = np.shape(self.image)[:2]
        return enlarged(labels, shrinking(shape), shape)


@dataclass(frozen=True)
class Method:
    """A method in one variant: what segments an image, and the values of the parameter that it is swept over."""

    segment: Callable[[RegionImage], Segmentations]
    parameter: str
    values: tuple[float, ...]


def merged_tree(image: RegionImage, *, places: Places = "extrema", torque: bool = True) -> Segmentations:
    """Cut by colour models of patches, then merge: `segment_regions`, or it with other places or with plain edges."""
    evidence = image.strengthened if torque else image.plain
    patches = grid_patches(evidence.shape, COLOUR_MODELS)
    if places != "grid":
        found = torque_patches(evidence, COLOUR_MODELS)
        patches = found if places == "extrema" else _together(found, patches)
    tree = merge_regions(evidence, cut_regions(evidence, patches, SMOOTHNESS))
    return [image.large(tree.cut(threshold)) for threshold in MERGE_THRESHOLDS]


def _together(a: Extrema, b: Extrema) -> Extrema:
    """Return the patches of both."""
    y, x, size = (np.concatenate(pair) for pair in ((a.y, b.y), (a.x, b.x), (a.size, b.size)))
    return Extrema(y, x, size, np.concatenate([a.value, b.value]))


def paper_form(
    image: RegionImage, *, smoothness: float, reading: paper.Reading | None, counts: Sequence[int] = MODEL_COUNTS
) -> Segmentations:
    """Cut by colour models of the K strongest extrema and call the connected parts regions (Sec. 4.3).

    Of a grid's K patches where there is no reading.
    """
    plain = replace(image.plain, strength=np.zeros(image.plain.shape))  # links by colour alone
    bins = colour_bins(plain.lab)
    seeds = strongest_extrema(plain, reading) if reading else None
    found = []
    for count in counts:
        patches = grid_patches(plain.shape, count) if seeds is None else seeds[:count]
        costs = model_costs(patch_models(bins, patches), bins)
        labels, _ = alpha_expansion(costs, **contrast_links(plain, smoothness))
        found.append(image.large(connected_regions(labels, round(PAPER_SMALLEST * labels.size))))
    return found


def strongest_extrema(evidence: Evidence, reading: paper.Reading) -> Extrema:
    """Return the paper's: unit forces, extrema of largest |torque|, of those that overlap the strongest."""
    edges = detect_edges(evidence.lab[0], sigma=reading.sigma, value_range=(0.0, 1.0))
    return suppress_overlaps(paper.extrema(edges, reading), 0.3)


def normalised_cuts(image: RegionImage, *, colour: float) -> Segmentations:
    """Divide by normalised cuts at half the working size, small regions joining neighbours as ours do."""
    lab = shrunk(image.plain.lab, 2)
    vectors = NormalisedCut(colour).vectors(lab, max(CUT_COUNTS))
    found = []
    for count in CUT_COUNTS:
        labels = enlarged(divide(vectors, count).reshape(lab.shape[1], lab.shape[2]), 2, image.plain.shape)
        found.append(image.large(connected_regions(labels, round(CUT_SMALLEST * labels.size))))
    return found


def felzenszwalb(image: RegionImage, *, smallest: int) -> Segmentations:
    """Felzenszwalb & Huttenlocher's graph-based segmentation (scikit-image)."""
    from skimage.segmentation import felzenszwalb as segment

    found = (segment(image.image, scale=scale, sigma=0.8, min_size=smallest) for scale in FELZENSZWALB_SCALES)
    return [labels.astype(np.int64) for labels in found]


def closed_contours(image: RegionImage) -> Segmentations:
    """Cut the precomputed contours of gPb-OWT-UCM at every threshold (Arbelaez et al. 2011)."""
    if image.ucm is None:
        raise ValueError("the image must have precomputed contours, got none")
    return [regions_from_ucm(image.ucm, threshold).astype(np.int64) for threshold in UCM_THRESHOLDS]


def _merged(**options: Any) -> Method:
    return Method(partial(merged_tree, **options), "threshold", MERGE_THRESHOLDS)


def _frozen() -> Method:
    """Return the paper's form in the reading that was frozen, with one number of models."""
    smoothness, models = (read_more(CHOSEN, name) for name in ("smoothness", "models"))
    form = partial(paper_form, smoothness=smoothness, reading=read_frozen(CHOSEN)["colour"], counts=(models,))
    return Method(form, "models", (models,))


# Variants by name; which of them stands in the table is decided on training images.
METHODS: dict[str, dict[str, Method]] = {
    "torque": {"": _merged()},
    "torque-paper": {
        f"smoothness {s:g}": Method(partial(paper_form, smoothness=s, reading=PAPER), "models", MODEL_COUNTS)
        for s in PAPER_SMOOTHNESS
    },
    "torque-frozen": {"": _frozen()},
    "ncut": {
        f"colour sigma {s:g}": Method(partial(normalised_cuts, colour=s), "regions", CUT_COUNTS)
        for s in (0.01, 0.015, 0.02, 0.03)
    },
    "felzenszwalb": {
        f"min_size {m}": Method(partial(felzenszwalb, smallest=m), "scale", FELZENSZWALB_SCALES)
        for m in (100, 500, 1500)
    },
    "torque+grid": {"": _merged(places="both")},
    "control:grid": {"": _merged(places="grid")},
    "control:grid+gradient": {"": _merged(places="grid", torque=False)},
    "control:torque+gradient": {"": _merged(torque=False)},
    "control:grid-paper": {
        f"smoothness {s:g}": Method(partial(paper_form, smoothness=s, reading=None), "models", MODEL_COUNTS)
        for s in PAPER_SMOOTHNESS
    },
    REFERENCE: {"": Method(closed_contours, "threshold", UCM_THRESHOLDS)},
}
