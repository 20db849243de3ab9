"""Nuclei in drawn volumes: torque of surfaces and of the gradient beside scikit-image's blob_log and blob_dog."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import evaluation
from imtorque.core.types import FloatArray
from imtorque.jobs.processes import each
from imtorque.synthetic import NucleiVolume, nuclei_volume
from imtorque.volumes import detect_surfaces, find_extrema, suppress_overlaps
from imtorque_reproduce.report import Report, Request, difference

# As `nuclei_volume` draws them.
SETS: dict[str, dict[str, Any]] = {
    "plain": {"count": 40, "shape": (48, 96, 96)},
    "dense": {"count": 300, "shape": (48, 96, 96)},
    "noisy": {"count": 40, "shape": (48, 96, 96), "noise": 0.5},
    "flat": {"count": 40, "shape": (16, 96, 96), "spacing": (3.0, 1.0, 1.0)},
}
DEV, TEST = 2, 6  # volumes of each set; bound: time
FIRST_TEST = 1000  # seed of the first volume that is reported on; convention
HIT_DISTANCE = 0.5  # of its radius: how far from a nucleus's centre a hit may be; convention
NUCLEUS_SIZES = tuple(range(7, 30, 2))  # voxels: nuclei are 10 to 22 across
# Of the smallest and the largest nuclei: radius over the square root of 3, and some room; derived.
BLOB_SIGMAS = (2.5, 7.0)
# Thresholds that volumes of `DEV` choose from.
GRIDS: dict[str, tuple[float, ...]] = {
    "torque": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    "torque-sigma-2": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    "gradient-torque": (0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28),
    "blob-log": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4),
    "blob-dog": (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
}
NOTES = (
    "A nucleus is found where a hit lies within half its radius of its centre, one hit for one nucleus (a matching of "
    "most pairs). f: of all volumes of a set together.",
    "Sets: plain, 40 nuclei in 48 x 96 x 96 voxels, some touching; dense, as many as fit; noisy, with eight times the "
    "noise; flat, slices three times as far apart as voxels within them. blob_log and blob_dog are given a sigma for "
    "each axis there, torque the spacing.",
    "Every method's threshold is chosen on two other volumes of the set; the overlap that two hits may have is 0.3 of "
    "the smaller box for torque, 0.5 (the default) for the others. blob_log looks at 8 sigmas.",
)


def run(request: Request) -> Report:
    """Choose thresholds on some volumes, report on others."""
    request.require_options([])
    tests = min(TEST, request.limit or TEST)
    names = list(SETS)[: request.limit] if request.limit else list(SETS)
    rows: dict[str, dict[str, Any]] = {method: {"method": method} for method in GRIDS}
    differences, chosen = [], {}
    for name in names:
        seeds = [*range(DEV), *range(FIRST_TEST, FIRST_TEST + tests)]
        counts = np.array(list(each(partial(score, name=name), seeds, request.jobs, name, "volumes")))
        for m, method in enumerate(GRIDS):
            best = int(np.argmax(_f(counts[:DEV, m].sum(axis=0))))
            chosen[f"{method}@{name}"] = GRIDS[method][best]
            hits, found, true = counts[DEV:, m, best].sum(axis=0)
            rows[method] |= {
                f"recall_{name}": hits / true,
                f"precision_{name}": hits / max(found, 1),
                f"f_{name}": float(_f(counts[DEV:, m, best].sum(axis=0))),
            }
        places = {method: GRIDS[method].index(chosen[f"{method}@{name}"]) for method in GRIDS}
        for other in ("blob-log", "blob-dog"):
            pair = [counts[DEV:, list(GRIDS).index(method), places[method]] for method in ("torque", other)]
            found_difference = evaluation.bootstrap_difference(*pair, statistic=_f)
            differences.append(difference("torque", other, f"f_{name}", found_difference))
    return Report(
        data="drawn volumes of nuclei (imtorque.synthetic.nuclei_volume)",
        data_sha256=hashlib.sha256(nuclei_volume(0, **SETS["plain"]).labels.tobytes()).hexdigest(),
        split="test",
        images=tests * len(names),
        settings={"thresholds": chosen, "sizes": NUCLEUS_SIZES, "sigmas": BLOB_SIGMAS, "dev": DEV},
        rows=list(rows.values()),
        differences=differences,
        notes=NOTES,
    )


def score(seed: int, name: str) -> NDArray[np.float64]:
    """Return hits, hits that were given and nuclei that there are, for every method and threshold: (5, 7, 3)."""
    truth = nuclei_volume(seed, **SETS[name])
    spacing = SETS[name].get("spacing", (1.0, 1.0, 1.0))
    ways = {
        "torque": partial(_torque, truth.volume, spacing, 2**0.5),
        "torque-sigma-2": partial(_torque, truth.volume, spacing, 2.0),
        "gradient-torque": partial(_torque, truth.volume, spacing, None),
        "blob-log": partial(_blobs, truth.volume, spacing, "blob_log"),
        "blob-dog": partial(_blobs, truth.volume, spacing, "blob_dog"),
    }
    return np.array([[_counts(hits, truth) for hits in ways[method](GRIDS[method])] for method in GRIDS])


def _torque(
    volume: FloatArray, spacing: tuple[float, float, float], sigma: float | None, thresholds: tuple[float, ...]
) -> list[FloatArray]:
    """Return the hits of torque for every threshold, in units of the spacing."""
    source = volume if sigma is None else detect_surfaces(volume, sigma=sigma, spacing=spacing)
    found = find_extrema(source, NUCLEUS_SIZES, sign=1, spacing=spacing, threshold=thresholds[0])
    kept = [suppress_overlaps(found[found.value >= least], 0.3, spacing=spacing) for least in thresholds]
    return [np.stack([hits.z, hits.y, hits.x], axis=1) * spacing for hits in kept]


def _blobs(
    volume: FloatArray, spacing: tuple[float, float, float], name: str, thresholds: tuple[float, ...]
) -> list[FloatArray]:
    """Return the hits of one of scikit-image's detectors."""
    from skimage import feature

    low, high = (np.array([sigma / step for step in spacing]) for sigma in BLOB_SIGMAS)
    options = {"num_sigma": 8} if name == "blob_log" else {}
    detect = getattr(feature, name)
    found = [detect(volume, min_sigma=low, max_sigma=high, threshold=least, **options) for least in thresholds]
    return [hits[:, :3] * spacing for hits in found]


def _counts(hits: FloatArray, truth: NucleiVolume) -> tuple[int, int, int]:
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    if not len(hits):
        return 0, 0, len(truth.radii)
    near = cdist(hits, truth.centres) <= HIT_DISTANCE * truth.radii
    first, second = linear_sum_assignment(near, maximize=True)
    return int(near[first, second].sum()), len(hits), len(truth.radii)


def _f(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1 from hits, given and true, along the last axis."""
    hits, found, true = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    return np.asarray(2 * hits / np.maximum(found + true, 1e-9))
