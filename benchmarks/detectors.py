"""Time the boundary detectors on an image of the Berkeley size, on one thread, and the memory each takes.

    python benchmarks/detectors.py

The image is the sample photograph at 481 x 321 pixels. Each detector runs in a process of its own: seconds are
processor time, the median of the repeats after a first one; megabytes the most the process ever held, and how much of
that came after the image was read. Sketch Tokens are timed where they were trained before.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

import imtorque
from imtorque.edges import DETECTORS
from imtorque.images import CheckedImage

RESULTS = Path(__file__).parent / "results" / "detectors.json"
NAMES = [name for name, detector in DETECTORS.items() if detector.oriented_map]
ONE_THREAD = dict.fromkeys(("IMTORQUE_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name, repeats, width, height):
    """Time one detector in this process."""
    image = np.asarray(Image.fromarray(imtorque.datasets.sample("hopper")).resize((width, height)))
    before, detector = megabytes(), DETECTORS[name]

    def detect():
        found = detector.oriented_map(CheckedImage(image))
        return imtorque.ultrametric_contours(found) if detector.is_closed else found.thinned()

    times = []
    for _ in range(1 + repeats):
        start = time.process_time()
        detect()
        times.append(time.process_time() - start)
    return {
        "seconds": round(statistics.median(times[1:]), 3),
        "megabytes": round(megabytes()),
        "megabytes_of_it": round(megabytes() - before),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--toy", action="store_true", help="a small image, to see that it runs")
    parser.add_argument("--one", choices=NAMES, help="measure this one here, and print it")
    options = parser.parse_args()
    size = (96, 64) if options.toy else (481, 321)
    if options.one:
        print(json.dumps(measure(options.one, options.repeats, *size)))
        return
    found = {
        "image": f"hopper, {size[0]} x {size[1]}",
        "machine": f"{platform.machine()}, {platform.system()}",
        "version": imtorque.__version__,
        "repeats": options.repeats,
        "detectors": {},
    }
    for detector in NAMES:
        if not DETECTORS[detector].is_ready():
            continue
        command = [sys.executable, __file__, "--one", detector, "--repeats", str(options.repeats)] + [
            "--toy"
        ] * options.toy
        done = subprocess.run(command, env=os.environ | ONE_THREAD, check=True, capture_output=True, text=True)
        found["detectors"][detector] = json.loads(done.stdout)
        print(detector, found["detectors"][detector], flush=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
