"""Scores of predictions against annotations: boundaries, regions, masks, objects and fixations.

Arrays in, numbers out. Per image, `boundary_scores`, `region_scores`, `mask_scores` and `fixation_scores` return small
records; `summarise_...` turns many of them into the numbers of a table; `bootstrap_...` says whether two differ.
"""

from imtorque.evaluation.bootstrap import (
    Difference,
    bootstrap_difference,
    bootstrap_f_difference,
    bootstrap_ods_difference,
)
from imtorque.evaluation.boundaries import BoundaryScores, boundary_scores, segmentation_boundary_scores
from imtorque.evaluation.boundary_summary import BoundarySummary, OperatingPoint, summarise_boundaries
from imtorque.evaluation.contours import contours_from_ucm, regions_from_ucm, segmentation_boundary
from imtorque.evaluation.fixation_f import (
    FixationScores,
    FixationSummary,
    fixated_region,
    fixation_scores,
    summarise_fixations,
)
from imtorque.evaluation.fixations import (
    auc_borji,
    auc_judd,
    auc_shuffled,
    cc,
    centre_prior,
    fixation_density,
    information_gain,
    kl_divergence,
    nss,
    sim,
)
from imtorque.evaluation.masks import MaskScores, mask_scores
from imtorque.evaluation.matching import match_boundaries, thin_boundary
from imtorque.evaluation.regions import (
    RegionScores,
    RegionSummary,
    covering,
    rand_index,
    region_scores,
    summarise_regions,
    ucm_region_scores,
    variation_of_information,
)

__all__ = [
    "BoundaryScores",
    "BoundarySummary",
    "Difference",
    "FixationScores",
    "FixationSummary",
    "MaskScores",
    "OperatingPoint",
    "RegionScores",
    "RegionSummary",
    "auc_borji",
    "auc_judd",
    "auc_shuffled",
    "bootstrap_difference",
    "bootstrap_f_difference",
    "bootstrap_ods_difference",
    "boundary_scores",
    "cc",
    "centre_prior",
    "contours_from_ucm",
    "covering",
    "fixated_region",
    "fixation_density",
    "fixation_scores",
    "information_gain",
    "kl_divergence",
    "mask_scores",
    "match_boundaries",
    "nss",
    "rand_index",
    "region_scores",
    "regions_from_ucm",
    "segmentation_boundary",
    "segmentation_boundary_scores",
    "sim",
    "summarise_boundaries",
    "summarise_fixations",
    "summarise_regions",
    "thin_boundary",
    "ucm_region_scores",
    "variation_of_information",
]
