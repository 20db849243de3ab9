"""Time the boundary benchmark against the reference assignment code, side by side in one run.

The reference is the Berkeley benchmark's own C++ matcher as pyEdgeEval carries it. It is no dependency of imtorque:
build it in an environment of its own and name that environment's Python,

    python -m venv /tmp/reference && /tmp/reference/bin/pip install pyEdgeEval pillow scipy
    python benchmarks/boundary_matching.py --data DIR --reference /tmp/reference/bin/python

DIR holds `png/` and `groundTruth/` of the benchmark's five images. Both sides get the same thinned maps (thinning is
timed apart) and run on one thread, each image's thresholds one after the other; seconds are processor time.
"""

import argparse
import itertools
import json
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from imtorque import _native, datasets
from imtorque.evaluation import thin_boundary
from imtorque.evaluation.boundaries import as_strength, threshold_levels
from imtorque.evaluation.matching import match_maps

RESULTS = Path(__file__).parent / "results" / "boundary_matching.json"
MAX_DISTANCE = 0.0075

REFERENCE = """
import sys, time
import numpy as np
from pyEdgeEval._lib import correspond_pixels
total, counts = 0.0, []
for path in sys.argv[1:]:
    data = np.load(path)
    for boundary in data["maps"]:
        matched_truth, any_truth = 0, np.zeros(boundary.shape, bool)
        for truth in data["truths"]:
            start = time.process_time()
            first, second, _, _ = correspond_pixels(boundary, truth, max_dist=0.0075)
            total += time.process_time() - start
            matched_truth += int((second > 0).sum())
            any_truth |= first > 0
        counts.append((matched_truth, int(any_truth.sum())))
print(total)
print(counts)
"""


def load(folder, thresholds):
    """Return the thinned maps, highest threshold first, and the truths of every image, and the time thinning took."""
    images, seconds = [], 0.0
    truths = datasets.find_truths(folder / "groundTruth")
    for name, path in datasets.find_predictions(folder / "png").items():
        strength = as_strength(datasets.read_prediction(path).map, "prediction")
        start = time.process_time()
        maps = [thin_boundary(strength >= t) for t in threshold_levels(thresholds)[::-1]]
        seconds += time.process_time() - start
        images.append((name, np.stack(maps), np.stack(truths[name].boundaries(strength.shape))))
    return images, seconds


def time_ours(images, matching):
    """Return seconds and, per image and map, the annotators' matched pixels and the predicted pixels matched to any."""
    counts, seconds = [], 0.0
    for _, maps, truths in images:
        start = time.process_time()
        partners, starts = match_maps(
            maps.view(np.uint8), truths.view(np.uint8), max_distance=MAX_DISTANCE, matching=matching
        )
        seconds += time.process_time() - start
        matched = partners >= 0
        parts = [matched[:, a:b] for a, b in itertools.pairwise(starts)]
        counts += [(int(part.sum()), int(part.any(axis=0).sum())) for part in parts]
    return seconds, counts


def time_reference(images, python):
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.npz" for name, _, _ in images]
        for file, (_, maps, truths) in zip(files, images, strict=True):
            np.savez(file, maps=maps, truths=truths)
        done = subprocess.run([python, "-c", REFERENCE, *files], capture_output=True, text=True, check=True)
    seconds, counts = done.stdout.strip().splitlines()
    return float(seconds), json.loads(counts.replace("(", "[").replace(")", "]"))


def deviation(counts, reference):
    """Return the largest relative difference of a map's counts from the reference's."""
    ours, theirs = np.array(counts, dtype=float), np.array(reference, dtype=float)
    return float((np.abs(ours - theirs) / np.maximum(theirs, 1)).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reference", required=True, help="Python of an environment with pyEdgeEval")
    parser.add_argument("--thresholds", type=int, default=99)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    _native.set_num_threads(1)
    images, thinning = load(arguments.data, arguments.thresholds)
    seconds, reference = time_reference(images, arguments.reference)
    rows = [{"method": "reference (pyEdgeEval)", "seconds": seconds, "speed_up": 1.0, "largest_deviation": 0.0}]
    for matching in ("min_cost", "cardinality"):
        runs = [time_ours(images, matching) for _ in range(arguments.repeats)]
        median = statistics.median(run[0] for run in runs)
        rows.append(
            {
                "method": f"imtorque {matching}",
                "seconds": median,
                "speed_up": seconds / median,
                "largest_deviation": deviation(runs[0][1], reference),
            }
        )
    result = {
        "benchmark": "boundary matching",
        "images": len(images),
        "thresholds": arguments.thresholds,
        "matchings": sum(len(maps) * len(truths) for _, maps, truths in images),
        "thinning_seconds": thinning,
        "machine": f"{platform.machine()}, {platform.system()}, one thread",
        "rows": rows,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print("| method | seconds | speed-up | largest deviation of a count |\n| --- | --- | --- | --- |")
    for row in rows:
        cells = f"{row['seconds']:.2f} | {row['speed_up']:.0f} | {row['largest_deviation']:.4f}"
        print(f"| {row['method']} | {cells} |")


if __name__ == "__main__":
    main()
