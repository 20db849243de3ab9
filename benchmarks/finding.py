"""Time finding and counting: `find_blobs` beside scikit-image's blob_log with the same sizes, and a trained finder.

python benchmarks/finding.py [--data DIR]

On a drawn image of a megapixel with cells of 20 to 40 pixels; with --data on the first test images of each labelled
set as well. One thread, seconds of wall time, median of the runs. "blob_log" is called as `find_blobs` is: on the same
image, with the same range, in its usual ten scales (one run of the first images that take a minute together).
"blob_log, reduced" looks at the image reduced as `find_blobs` reduces it, in eight scales, which its users would have
to think of themselves.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from skimage.feature import blob_log

import imtorque
from imtorque.datasets.counting import counting_sets
from imtorque.detection.pyramid import block_means
from imtorque.images import grey_image
from imtorque_reproduce.counting.controls import marked_sizes

RESULTS = Path(__file__).parent / "results" / "finding.json"
IMAGES = 5  # of a set
MINUTE = 60.0


def cells(side, seed=0):
    """Draw dark discs with noise; return the image and their boxes."""
    rng = np.random.default_rng(seed)
    image, boxes = np.full((side, side), 0.8), []
    y, x = np.mgrid[:41, :41] - 20
    for top in range(4, side - 45, 52):
        for left in range(4, side - 45, 52):
            radius = rng.uniform(10, 20)
            covered = np.clip(radius - np.hypot(y, x) + 0.5, 0, 1)
            image[top : top + 41, left : left + 41] -= 0.4 * covered
            boxes.append([top + 20 - radius, left + 20 - radius, top + 21 + radius, left + 21 + radius])
    return image + rng.normal(0, 0.03, image.shape), np.array(boxes)


def laplacian(image, sizes, factor, scales):
    """Find blobs by scikit-image, in the image reduced by a factor."""
    plane = block_means(grey_image(image), factor).astype(np.float64)
    low, high = (size / factor / 2 / np.sqrt(2) for size in sizes)
    return blob_log(1 - plane, low, high, scales, threshold=0.1, overlap=0.4)


def seconds(function, runs):
    """Return the median time of the runs, after one that does not count."""
    function()
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def row(name, images, sizes, runs):
    """Return the times per image of all three, and the ratios of find_blobs to both forms of blob_log."""
    torque = seconds(lambda: [imtorque.find_blobs(p, sizes=sizes) for p in images], runs) / len(images)
    called = called_time(images, sizes)
    factor = max(1, int(sizes[0] / 12))  # the smallest are at least 12 pixels across
    reduced = seconds(lambda: [laplacian(p, sizes, factor, 8) for p in images], runs) / len(images)
    times = {"find_blobs": torque, "blob_log": called, "blob_log, reduced": reduced}
    return {"images": name, "sizes": sizes, **times, "ratio": torque / called, "ratio, reduced": torque / reduced}


def called_time(images, sizes):
    """Return the time per image of blob_log on whole images: of as many of them as a minute allows."""
    taken = []
    for image in images:
        start = time.perf_counter()
        laplacian(image, sizes, 1, 10)
        taken.append(time.perf_counter() - start)
        if sum(taken) > MINUTE:
            break
    return float(np.mean(taken))


def trained(image, runs):
    """Return the time to train a finder, and those to predict a megapixel: by the kinds it chose, and by others."""
    training = [cells(256, seed) for seed in range(1, 5)]
    images, boxes = [p for p, _ in training], [b for _, b in training]
    start = time.perf_counter()
    finder = imtorque.ObjectFinder().fit(images, boxes)
    times = {"train, 4 images": time.perf_counter() - start, "kinds chosen": ", ".join(finder.best_params_.kinds)}
    finders = {"": finder}
    for kinds in (("torque",), ("torque", "threshold", "log", "radial")):
        finders[f", by {', '.join(kinds)}"] = imtorque.ObjectFinder([kinds]).fit(images, boxes)
    for name, own in finders.items():
        for threads in (1, 2):
            imtorque.set_num_threads(threads)
            taken = seconds(lambda own=own: own.predict(image), runs)
            times[f"predict, a megapixel, {threads} threads{name}"] = taken / (image.size / 1e6)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    imtorque.set_num_threads(1)
    image, _ = cells(arguments.side)
    rows = [row("drawn cells", [image], (18.0, 42.0), arguments.runs)]
    for part in counting_sets(arguments.data) if arguments.data else ():
        images = [record.image() for record in part.test[:IMAGES]]
        rows.append(row(part.name, images, marked_sizes(part.training), arguments.runs))

    learned = trained(image, arguments.runs)
    head = {"benchmark": "finding", "version": imtorque.__version__, "machine": platform.machine()}
    result = {**head, "cores": os.cpu_count(), "runs": arguments.runs, "rows": rows, "learned": learned}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    for entry in rows:
        times = (f"{name} {entry[name]:.3f} s" for name in ("find_blobs", "blob_log", "blob_log, reduced"))
        print(f"{entry['images']:22} {', '.join(times)}; ratios {entry['ratio']:.2f}, {entry['ratio, reduced']:.2f}")
    for name, taken in learned.items():
        print(f"{name:75}", taken if isinstance(taken, str) else f"{taken:.2f} s")


if __name__ == "__main__":
    main()
