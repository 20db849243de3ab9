"""Merge neighbouring regions in the order of their dissimilarity."""

import math

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray
from imtorque.segmentation.colour_models import COLOUR_BINS, colour_bins, smoothed
from imtorque.segmentation.evidence import Evidence
from imtorque.segmentation.region_graph import RegionGraph, RegionTree, merge_all

TEXTURE_SIGMAS = (0.7, 3.0)  # pixels at the working size: of the gradient, and of its mean; unrecorded
TEXTURE_FLOOR = 0.003  # added to that mean before its logarithm is taken; untuned: keeps it finite
STRENGTH_FLOOR = 0.05  # likewise to the edges' strength; untuned
# Dissimilarity of two neighbouring regions, per: log(strength of the edges between them + 0.05), chi-squared distance
# of their colour histograms, difference of their mean texture and of their mean lightness, log(length of the border
# over the root of the smaller area). Tuned for the best covering of Berkeley's training images, as is the threshold, by
# imtorque_reproduce.regions.weights.
MERGE_COEFFICIENTS = (0.88, 1.62, 0.51, -1.33, -0.1)
THRESHOLD = -0.56  # tuned on Berkeley's training images
# Where a number of regions is asked for: per log of the smaller area, so that no region is spent on specks.
MERGE_SIZE_WEIGHT = 0.5  # unrecorded


def merge_regions(evidence: Evidence, regions: NDArray[np.int64], *, size_weight: float = 0.0) -> RegionTree:
    """Merge neighbouring regions, the most similar first; with a weight for size, small ones sooner."""
    weights = np.array(MERGE_COEFFICIENTS)

    def dissimilarity(a: FloatArray, b: FloatArray, border: FloatArray) -> float:
        return float(weights @ border_features(a, b, border)) + size_weight * math.log(min(a[0], b[0]))

    return merge_all(regions, region_statistics(evidence, regions), dissimilarity)


def region_statistics(evidence: Evidence, regions: NDArray[np.int64]) -> RegionGraph:
    """Return the graph of regions; features are area, lightness and texture summed, and a colour histogram."""
    from scipy import ndimage

    near_edges = ndimage.maximum_filter(evidence.strength, 3)
    planes = np.stack([np.ones(evidence.shape), evidence.lab[0], texture(evidence.lab[0])])
    graph = RegionGraph(regions, planes, near_edges)
    bins = colour_bins(evidence.lab)
    counts = np.bincount((regions * COLOUR_BINS**3 + bins).ravel(), minlength=graph.count * COLOUR_BINS**3)
    histograms = smoothed(counts.reshape(graph.count, COLOUR_BINS**3).astype(np.float64))
    graph.features = np.concatenate([graph.features, histograms], axis=1)
    return graph


def texture(lightness: FloatArray) -> FloatArray:
    """Return the texture around each pixel: the logarithm of the mean gradient of the lightness."""
    from scipy import ndimage

    fine, coarse = TEXTURE_SIGMAS
    dy, dx = (ndimage.gaussian_filter(lightness, fine, order=order) for order in ((1, 0), (0, 1)))
    return np.asarray(np.log(ndimage.gaussian_filter(np.hypot(dy, dx), coarse) + TEXTURE_FLOOR))


def border_features(a: FloatArray, b: FloatArray, border: FloatArray) -> FloatArray:
    """Return the features of a border between two regions; see `MERGE_COEFFICIENTS`."""
    lightness, texture_step = np.abs(a[1:3] / a[0] - b[1:3] / b[0])
    here, there = a[3:] / a[3:].sum(), b[3:] / b[3:].sum()
    chi_squared = 0.5 * float(((here - there) ** 2 / (here + there + 1e-12)).sum())
    strength, length = border
    edge, extent = math.log(strength / length + STRENGTH_FLOOR), math.log(length / math.sqrt(min(a[0], b[0])))
    return np.array([edge, chi_squared, texture_step, lightness, extent])
