"""Tune the dissimilarity of regions: the weights of `imtorque.segmentation.region_merging`, for the best covering.

    python -m imtorque_reproduce.regions.weights --data DIR

A seeded random search on training images: change some of the weights, keep the change if the regions then cover those
of people better, with one threshold for all images. Regions and their overlaps with people's are found once; only
merging is repeated.
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque import datasets
from imtorque.core.types import FloatArray
from imtorque.jobs.processes import each
from imtorque.segmentation.evidence import enlarged, gather_evidence, shrinking
from imtorque.segmentation.region_graph import RegionGraph, RegionTree, merge_all
from imtorque.segmentation.region_merging import border_features, region_statistics
from imtorque.segmentation.regions import COLOUR_MODELS, SMOOTHNESS, cut_regions, torque_patches

# Where the search starts, and the standard deviation of its moves.
FIRST_COEFFICIENTS = (0.8, 2.4, 0.6, -1.8, -0.2)  # untuned
SPREAD = (0.25, 0.6, 0.3, 0.8, 0.15)  # untuned
CHANGED = 0.5  # share of the weights that a step changes; untuned
QUANTILES = np.linspace(0.3, 0.95, 14)  # of the heights of merges: the thresholds that are tried


@dataclass(frozen=True, eq=False)
class Case:
    """One image: its finest regions, and how many pixels each shares with each region of each annotator."""

    regions: NDArray[np.int64]
    graph: RegionGraph
    overlaps: list[FloatArray]

    def tree(self, weights: FloatArray) -> RegionTree:
        """Return the order of merging under these weights."""

        def unlike(a: FloatArray, b: FloatArray, border: FloatArray) -> float:
            return float(weights @ border_features(a, b, border))

        numbers = np.arange(self.graph.count)[None]
        return merge_all(numbers, copy.deepcopy(self.graph), unlike)

    def covering(self, merged: NDArray[np.int64]) -> float:
        """Return the covering of people's regions when the finest ones are merged so."""
        covered = area = 0.0
        for overlap in self.overlaps:
            table = np.zeros((int(merged.max()) + 1, overlap.shape[1]))
            np.add.at(table, merged, overlap)
            truth = table.sum(axis=0)
            union = table.sum(axis=1, keepdims=True) + truth - table
            covered += float((truth * (table / union).max(axis=0)).sum())
            area += float(truth.sum())
        return covered / area


def make_case(record: datasets.BerkeleyImage) -> Case:
    """Return an image's regions and their overlaps."""
    image = record.image()
    evidence = gather_evidence(image)
    regions = cut_regions(evidence, torque_patches(evidence, COLOUR_MODELS), SMOOTHNESS)
    graph = region_statistics(evidence, regions)
    large = enlarged(regions, shrinking(image.shape[:2]), image.shape[:2])
    return Case(regions, graph, [_overlap(large, a.segmentation, graph.count) for a in record.annotations()])


def _overlap(regions: NDArray[np.int64], truth: NDArray[np.uint16], count: int) -> FloatArray:
    width = int(truth.max()) + 1
    pairs = np.bincount((regions * width + truth).ravel(), minlength=count * width).reshape(count, width)
    return np.asarray(pairs[:, pairs.any(axis=0)], np.float64)


def score(weights: FloatArray, cases: Sequence[Case]) -> tuple[float, float]:
    """Return the mean covering around the best threshold, so that it is no lone peak, and that threshold."""
    trees = [case.tree(weights) for case in cases]
    thresholds = np.quantile(np.concatenate([tree.heights for tree in trees]), QUANTILES)
    coverings = [
        [case.covering(tree.cut(threshold)[0]) for threshold in thresholds]
        for case, tree in zip(cases, trees, strict=True)
    ]
    means = np.mean(coverings, axis=0)
    best = int(np.clip(means.argmax(), 1, len(means) - 2))
    return float(means[best - 1 : best + 2].mean()), float(thresholds[best])


def search(cases: Sequence[Case], steps: int) -> tuple[FloatArray, float, float]:
    """Return the best weights found, the covering and the threshold."""
    rng = np.random.default_rng(0)
    weights: FloatArray = np.array(FIRST_COEFFICIENTS)
    covering, threshold = score(weights, cases)
    for step in range(steps):
        move = rng.normal(size=len(weights)) * (rng.random(len(weights)) < CHANGED)
        tried = np.round(weights + np.array(SPREAD) * move, 2)
        reached, at = score(tried, cases)
        if reached > covering:
            weights, covering, threshold = tried, reached, at
            print(
                f"step {step}: covering {covering:.4f}, weights {weights.tolist()}, threshold {threshold:.2f}",
                flush=True,
            )
    return weights, covering, threshold


def main(
    data: Annotated[Path, typer.Option(help="Folder of BSDS500.")],
    every: Annotated[int, typer.Option(help="Use every so many-th training image.")] = 2,
    steps: Annotated[int, typer.Option(help="Changes to try.")] = 60,
    jobs: Annotated[int, typer.Option(help="Images worked on at a time.")] = 1,
) -> None:
    """Choose the weights on training images and print them."""
    records = datasets.bsds500(data, "train")[::every]
    cases = list(each(partial(make_case), records, jobs, "train"))
    weights, covering, threshold = search(cases, steps)
    print(json.dumps({"weights": weights.tolist(), "threshold": threshold, "covering": covering, "images": len(cases)}))


if __name__ == "__main__":
    typer.run(main)
