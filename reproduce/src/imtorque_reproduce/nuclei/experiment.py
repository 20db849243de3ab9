"""Nuclei in drawn volumes: torque of surfaces and of gradients beside scikit-image's blob detectors and watershed."""

import hashlib
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import evaluation
from imtorque.core.types import FloatArray
from imtorque.edges import SQRT2
from imtorque.jobs.processes import each
from imtorque.synthetic import NucleiVolume, nuclei_volume
from imtorque.volumes import detect_surfaces, find_extrema, suppress_overlaps
from imtorque.volumes.blobs import SMOOTHING
from imtorque.volumes.objects import measure_objects
from imtorque.volumes.surfaces import smoothed
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
    "watershed": (2, 3, 4, 5, 6, 7, 8),  # voxels between two peaks of the distance to the background
}
WATERSHED_SIGMA = 1.0  # voxels, before Otsu's threshold; convention
OUTLINED = 0.5  # intersection over union from which a nucleus counts as outlined; convention
Hits = tuple[FloatArray, NDArray[np.int32] | None]  # centres in units of the spacing, labels where there are any
NOTES = (
    "A nucleus is found where a hit lies within half its radius of its centre, one hit for one nucleus (a matching of "
    "most pairs). f: of all volumes of a set together.",
    "Sets: plain, 40 nuclei in 48 x 96 x 96 voxels, some touching; dense, as many as fit; noisy, with eight times the "
    "noise; flat, slices three times as far apart as voxels within them. blob_log and blob_dog are given a sigma for "
    "each axis there, torque the spacing.",
    "Every method's threshold is chosen on two other volumes of the set; the overlap that two hits may have is 0.3 of "
    "the smaller box for torque, 0.5 (the default) for the others. blob_log looks at 8 sigmas.",
    "watershed: a Gaussian of one voxel, Otsu's threshold, the watershed of the distance to the background from its "
    "peaks, as scikit-image's gallery has it; what is chosen is how far apart peaks are. outlined: nuclei with an "
    "intersection over union of at least a half; iou: the mean of these.",
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
            hits, found, true, outlined, shared = counts[DEV:, m, best].sum(axis=0)
            rows[method] |= {
                f"recall_{name}": hits / true,
                f"precision_{name}": hits / max(found, 1),
                f"f_{name}": float(_f(counts[DEV:, m, best].sum(axis=0))),
            }
            if outlined:
                rows[method] |= {f"outlined_{name}": outlined / true, f"iou_{name}": shared / outlined}
        places = {method: GRIDS[method].index(chosen[f"{method}@{name}"]) for method in GRIDS}
        for other in ("blob-log", "blob-dog", "watershed"):
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
    """Return what `_counts` does for every method and threshold, shape (6, 7, 5)."""
    truth = nuclei_volume(seed, **SETS[name])
    spacing = SETS[name].get("spacing", (1.0, 1.0, 1.0))
    ways = {
        "torque": partial(_torque, truth.volume, spacing, 2**0.5),
        "torque-sigma-2": partial(_torque, truth.volume, spacing, 2.0),
        "gradient-torque": partial(_torque, truth.volume, spacing, None),
        "blob-log": partial(_blobs, truth.volume, spacing, "blob_log"),
        "blob-dog": partial(_blobs, truth.volume, spacing, "blob_dog"),
        "watershed": partial(_watershed, truth.volume, spacing),
    }
    return np.array([[_counts(*hits, truth) for hits in ways[method](GRIDS[method])] for method in GRIDS])


def _torque(
    volume: FloatArray, spacing: tuple[float, float, float], sigma: float | None, thresholds: tuple[float, ...]
) -> list[Hits]:
    """Return what torque finds for every threshold."""
    source = volume if sigma is None else detect_surfaces(volume, sigma=sigma, spacing=spacing)
    found = find_extrema(source, NUCLEUS_SIZES, sign=1, spacing=spacing, threshold=thresholds[0])
    grey = volume.astype(np.float32)
    smooth = smoothed(grey, SMOOTHING * (SQRT2 if sigma is None else sigma), spacing)
    hits: list[Hits] = []
    for least in thresholds:
        kept = suppress_overlaps(found[found.value >= least], 0.3, spacing=spacing)
        labels = measure_objects(grey, smooth, kept, spacing).labels
        hits.append((np.stack([kept.z, kept.y, kept.x], axis=1) * spacing, labels))
    return hits


def _blobs(
    volume: FloatArray, spacing: tuple[float, float, float], name: str, thresholds: tuple[float, ...]
) -> list[Hits]:
    """Return the hits of one of scikit-image's detectors."""
    from skimage import feature

    low, high = (np.array([sigma / step for step in spacing]) for sigma in BLOB_SIGMAS)
    options = {"num_sigma": 8} if name == "blob_log" else {}
    detect = getattr(feature, name)
    found = [detect(volume, min_sigma=low, max_sigma=high, threshold=least, **options) for least in thresholds]
    return [(hits[:, :3] * spacing, None) for hits in found]


def _watershed(volume: FloatArray, spacing: tuple[float, float, float], distances: tuple[float, ...]) -> list[Hits]:
    """Return what a threshold and the watershed of the distance transform find, for every distance of two peaks."""
    from scipy import ndimage

    skimage: Any = import_module("skimage")
    smooth = ndimage.gaussian_filter(volume, [WATERSHED_SIGMA / step for step in spacing])
    mask = smooth > skimage.filters.threshold_otsu(smooth)
    depth = ndimage.distance_transform_edt(mask, sampling=spacing)
    hits: list[Hits] = []
    for distance in distances:
        peaks = skimage.feature.peak_local_max(
            depth, min_distance=int(distance), labels=mask.astype(int), exclude_border=False
        )
        markers = np.zeros(volume.shape, np.int32)
        markers[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
        labels = skimage.segmentation.watershed(-depth, markers, mask=mask).astype(np.int32)
        centres = np.array(ndimage.center_of_mass(mask, labels, np.arange(1, len(peaks) + 1))).reshape(-1, 3)
        hits.append((centres * spacing, labels))
    return hits


def _counts(
    hits: FloatArray, labels: NDArray[np.int32] | None, truth: NucleiVolume
) -> tuple[int, int, int, int, float]:
    """Return hits on nuclei, hits, nuclei, nuclei that are outlined and the sum of their intersections over unions."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    if not len(hits):
        return 0, 0, len(truth.radii), 0, 0.0
    near = cdist(hits, truth.centres) <= HIT_DISTANCE * truth.radii
    first, second = linear_sum_assignment(near, maximize=True)
    overlaps = np.zeros(0) if labels is None else _overlaps(labels, truth.labels)
    outlined = overlaps[overlaps >= OUTLINED]
    return int(near[first, second].sum()), len(hits), len(truth.radii), len(outlined), float(outlined.sum())


def _overlaps(labels: NDArray[np.int32], truth: NDArray[np.int32]) -> FloatArray:
    """Return the largest intersection over union of each true object with what was found."""
    joint = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(joint, (truth.ravel(), labels.ravel()), 1)
    inside = joint[1:, 1:]
    union = joint[1:].sum(axis=1)[:, None] + joint[:, 1:].sum(axis=0) - inside
    best: FloatArray = (inside / union).max(axis=1, initial=0)
    return best


def _f(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1 from hits, given and true, along the last axis."""
    hits, found, true = np.moveaxis(np.asarray(counts, np.float64), -1, 0)[:3]
    return np.asarray(2 * hits / np.maximum(found + true, 1e-9))
