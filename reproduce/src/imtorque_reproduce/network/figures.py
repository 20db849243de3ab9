"""The object under a click, cut out by the edges of the network, beside those of other detectors, on the horses."""

from __future__ import annotations

import numpy as np

from imtorque import datasets
from imtorque.edges import RECIPES
from imtorque.edges.network import trained_network
from imtorque.images import CheckedImage
from imtorque.paper import in_unit_range
from imtorque.segmentation import segment_figure
from imtorque_reproduce.figure_ground.ablation import NEAREST
from imtorque_reproduce.figure_ground.cases import horse_cases, read_scene, source_files
from imtorque_reproduce.figure_ground.rows import COSTS
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import compare, mean_rows, score_images

BASES = ("canny", "pb", "gpb", "network")
COMPARED = tuple(("network", other) for other in ("canny", "pb", "gpb", "figure"))


def run(request: Request) -> Report:
    """Cut every horse out by the edges of each detector, and report."""
    request.require_options()
    request.parts()
    about = trained_network().about
    horses = horse_cases(request.data)[: request.limit]
    overlaps = score_images(_overlaps, horses, request, "images")
    return Report(
        data="horses",
        data_sha256=checksum(source_files(horses), request.data),
        split="all",
        images=len(horses),
        settings={"network": about, "costs": COSTS["20/50"]},
        rows=mean_rows({name: {"iou": found} for name, found in overlaps.items()}),
        differences=compare(overlaps, COMPARED, "iou"),
        notes=["A cut in polar coordinates by the strengths of the detector's edges; figure: segment_figure as it is."],
    )


def _overlaps(source: datasets.MaskedImage) -> dict[str, float]:
    """Return the overlap with the object of the figures that each detector's edges cut out."""
    scene, (eta, k) = read_scene(source), COSTS["20/50"]
    image = CheckedImage(scene.image)
    found = {"figure": scene.iou(segment_figure(scene.image, scene.fixation))}
    for base in BASES:
        cue = in_unit_range(RECIPES[base].edges(image).strength.astype(np.float64), NEAREST.full)
        mask = segment_figure(scene.image, scene.fixation, edge_map=cue, method="polar", eta=eta, k=k)
        found[base] = scene.iou(mask)
    return found
