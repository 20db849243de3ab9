"""Time edge detection beside OpenCV's and scikit-image's Canny, and write results/edges.json and the table in docs.

    python benchmarks/edges.py            about a minute on a quiet machine
    python benchmarks/edges.py --toy      small images, no table in the docs

All run in one process on the same 8-bit grey images, in turns, with freed memory kept as in run.py ("warm"). Ours
smooths, and OpenCV's Canny does not: it is shown as it is, and after OpenCV's Gaussian of the same width. OpenCV's
thresholds are those that we choose, in its units. A time is the least over the rounds.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "measured" / "speed.md"
BEGIN, END = "<!-- edges: begin -->", "<!-- edges: end -->"
SHAPES = [(480, 640), (1080, 1920), (2160, 3840)]
SIGMA = math.sqrt(2.0)
SOBEL = 8 * 255  # OpenCV's 3 x 3 Sobel of 8-bit values, over the gradient per pixel of values in [0, 1]


def contenders(image):
    import cv2
    from skimage import feature

    import imtorque
    from imtorque.edges.canny import automatic_thresholds
    from imtorque.images import grey_image

    grey = grey_image(image)
    low, high = automatic_thresholds(image)
    theirs = {"threshold1": SOBEL * low, "threshold2": SOBEL * high, "L2gradient": True}
    return {
        "imtorque detect_edges (8 bits → Edges)": lambda: imtorque.detect_edges(image),
        "imtorque, Canny's steps alone": lambda: imtorque._native.canny(grey, SIGMA, 0, 0, False, True, 0.0),
        "cv2 Canny, no smoothing": lambda: cv2.Canny(image, **theirs),
        "cv2 GaussianBlur + Canny": lambda: cv2.Canny(cv2.GaussianBlur(image, (13, 13), SIGMA), **theirs),
        "skimage canny": lambda: feature.canny(grey, sigma=SIGMA, low_threshold=8 * low, high_threshold=8 * high),
    }


def measure(shapes, threads, repeats):
    """Least milliseconds of each contender, wall and processor time, by image."""
    import cv2
    from operator_worker import mosaic

    import imtorque

    imtorque.set_num_threads(threads)
    cv2.setNumThreads(threads)
    found = {}
    for height, width in shapes:
        calls = contenders(mosaic(height, width))
        best = {name: [math.inf, math.inf] for name in calls}
        for _ in range(repeats + 1):
            for name, call in calls.items():
                wall, processor = time.perf_counter(), time.process_time()
                call()
                taken = time.perf_counter() - wall, time.process_time() - processor
                best[name] = [min(pair) for pair in zip(best[name], (1e3 * t for t in taken), strict=True)]
        found[f"{width}x{height}"] = {name: {"wall": ms[0], "processor": ms[1]} for name, ms in best.items()}
    return found


def table(runs):
    images = list(runs[0]["times"])
    head = [f"{image.replace('x', '×')}, {run['threads']} thr." for image in images for run in runs]
    lines = ["| ms | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for name in runs[0]["times"][images[0]]:
        cells = [f"{run['times'][image][name]['wall']:.1f}" for image in images for run in runs]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def run_apart(options):
    """Run this script in a process that keeps freed memory."""
    from run import WARM

    command = [sys.executable, __file__, "--worker", *options]
    result = subprocess.run(command, env={**os.environ, **WARM}, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--toy", action="store_true", help="small images, no table in the docs")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "edges.json")
    options = parser.parse_args()
    shapes = [(120, 160), (240, 320)] if options.toy else SHAPES
    if options.worker:
        print(json.dumps(measure(shapes, options.threads, options.repeats)))
        return
    given = ["--repeats", str(options.repeats), *(["--toy"] if options.toy else [])]
    runs = [{"threads": n, "times": run_apart([*given, "--threads", str(n)])} for n in (1, 2)]
    head = {"command": "python benchmarks/edges.py", "machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    options.out.write_text(json.dumps({**head, "repeats": options.repeats, "runs": runs}, indent=1) + "\n")
    text = table(runs)
    if not options.toy and BEGIN in (page := PAGE.read_text()):
        PAGE.write_text(f"{page.split(BEGIN)[0]}{BEGIN}\n{text}\n{END}{page.split(END)[1]}")
    print(text)


if __name__ == "__main__":
    main()
