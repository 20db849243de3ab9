"""Measure how much memory functions take beyond their image and their result: 24 megapixels, bytes per pixel.

Each runs in a process of its own, after a run on a small image; the peak is the system's own record of it (Linux).

python benchmarks/memory.py [NAME ...] [--threads 2] [--toy]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

import imtorque

RESULTS = Path(__file__).parent / "results" / "memory.json"
LARGE, SMALL = (4000, 6000), (200, 300)


def fused_maps(image):
    edges = imtorque.detect_edges(image)
    return imtorque.value_and_scale_maps(edges, range(3, 92, 2))


FUNCTIONS = {
    "find_blobs": imtorque.find_blobs,
    "detect_edges": imtorque.detect_edges,
    "value_and_scale_maps": fused_maps,
    "torque_saliency": imtorque.torque_saliency,
    "gbvs_saliency": imtorque.gbvs_saliency,
    "itti_saliency": imtorque.itti_saliency,
    "segment_regions": imtorque.segment_regions,
    "segment_objects": imtorque.segment_objects,
}


def test_image(shape):
    """Patches of colour of all sizes on each other, with some noise: as many edges as in a photograph."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 12, (*shape, 3), dtype=np.uint8)
    for _ in range(shape[0] * shape[1] // 4000):
        height, width = np.minimum(3 + rng.pareto(1.2, 2) * 6, 400).astype(int)
        y, x = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        image[y : y + height, x : x + width] = rng.integers(0, 244, 3) + rng.integers(0, 12, 3)
    return image


def status(name):
    """Return a line of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise KeyError(name)


def result_bytes(result):
    if isinstance(result, np.ndarray):
        return result.nbytes
    if isinstance(result, list | tuple):
        return sum(map(result_bytes, result))
    return sum(value.nbytes for value in vars(result).values() if isinstance(value, np.ndarray))


def measure(name, shape, threads):
    """Return the peak beyond what was there before the call and what it returns, in bytes per pixel."""
    imtorque.set_num_threads(threads)
    function = FUNCTIONS[name]
    function(test_image(SMALL))
    image = test_image(shape)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = status("VmRSS")
    result = function(image)
    pixels = shape[0] * shape[1]
    return round((status("VmHWM") - before - result_bytes(result)) / pixels, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"Of {', '.join(FUNCTIONS)}; all by default.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--toy", action="store_true", help="A small image, to see that it runs.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    shape = (400, 600) if arguments.toy else LARGE
    if arguments.measure:
        print(measure(arguments.names[0], shape, arguments.threads))
        return
    flags = ["--measure", "--threads", str(arguments.threads)] + ["--toy"] * arguments.toy
    rows = {}
    for name in arguments.names or FUNCTIONS:
        command = [sys.executable, __file__, name, *flags]
        rows[name] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"{name:22} {rows[name]:6.1f} bytes per pixel", flush=True)
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": arguments.threads}
    result = {"benchmark": "memory", "version": imtorque.__version__, **machine, "shape": shape}
    result |= {"unit": "bytes per pixel", "peak": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
