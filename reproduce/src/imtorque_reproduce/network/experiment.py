"""The network that finds boundaries, and the closed contours of its map, on the Berkeley images.

It is scored as `imtorque data train network` trained it on the same computer.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from imtorque import datasets, evaluation
from imtorque.core.types import FloatArray
from imtorque.edges import ultrametric_contours
from imtorque.edges.network import SCALES, trained_network
from imtorque.jobs.processes import each
from imtorque_reproduce.boundary.tables import Scores, Table, score_maps
from imtorque_reproduce.detectors.experiment import DETECTOR_EXAMPLES, SPLIT, Map, Regions, with_covering
from imtorque_reproduce.plots import maps_image
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import berkeley_files, stride

NAME, CLOSED = "network", "network-ucm"


def run(request: Request) -> Report:
    """Score the network's boundaries, its closed contours and their regions on every image, and report."""
    request.require_options(("matching",))
    matching = request.option("matching", "min_cost", ("min_cost", "cardinality"))
    root, about = request.berkeley(), trained_network().about
    records = datasets.bsds500(root, request.split or SPLIT)[: request.limit]
    found = list(each(partial(_score, matching=matching), records, request.jobs, "images"))
    table = Table.of([boundaries for boundaries, _ in found], request, matching)
    panels = [_panels(record) for record in stride(records, DETECTOR_EXAMPLES)]
    return Report(
        data=root.name,
        data_sha256=checksum(berkeley_files(records), root),
        split=request.split or SPLIT,
        images=len(records),
        settings={NAME: about, "scales": SCALES},
        rows=with_covering(table.rows(), [regions for _, regions in found]),
        notes=["covering: of the regions at the one best threshold for all images, and at each image's own."],
        plots={"examples.png": maps_image(panels, [NAME, CLOSED, "people"])},
    )


def _maps(record: datasets.BerkeleyImage) -> tuple[dict[str, Map], Map]:
    """Return the thinned map and that of the closed contours, and the contours at double size."""
    oriented = trained_network()(record.image())
    contours = ultrametric_contours(oriented).contours().astype(np.float64)
    thin = oriented.thinned().astype(np.float64)
    return {NAME: thin, CLOSED: evaluation.contours_from_ucm(contours)}, contours


def _score(record: datasets.BerkeleyImage, matching: str) -> tuple[Scores, Regions]:
    people = record.annotations()
    maps, contours = _maps(record)
    boundaries = score_maps(maps, [person.boundaries for person in people], matching)
    return boundaries, {CLOSED: evaluation.ucm_region_scores(contours, [person.segmentation for person in people])}


def _panels(record: datasets.BerkeleyImage) -> list[FloatArray]:
    human = np.mean([annotation.boundaries for annotation in record.annotations()], axis=0)
    return [*_maps(record)[0].values(), human]
