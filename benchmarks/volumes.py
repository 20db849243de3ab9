"""Torque in volumes beside torque in the plane: nanoseconds per voxel, or pixel, and size; and memory beyond the data.

    python benchmarks/volumes.py            256 x 256 x 256 and an image of as many pixels, 10 sizes; a few minutes
    python benchmarks/volumes.py --toy      small

Both are of blurred noise, so that edges and surfaces are as dense everywhere. Written to
benchmarks/results/volumes.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import ndimage

import imtorque
from imtorque import volumes

RESULTS = Path(__file__).parent / "results"
SIZES = tuple(range(5, 24, 2))


def noise(shape: tuple[int, ...]) -> np.ndarray:
    return ndimage.gaussian_filter(np.random.default_rng(0).normal(size=shape).astype(np.float32), 3)


def best_time(call: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def peak() -> float:
    """Most memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def measure(side: int, threads: int, repeats: int) -> dict:
    imtorque.set_num_threads(threads)
    volume = noise((side, side, side))
    surfaces = volumes.detect_surfaces(volume)
    before = peak()
    times = {"find_extrema": best_time(lambda: volumes.find_extrema(surfaces, SIZES), repeats)}
    beyond = peak() - before
    times["value_and_scale_maps"] = best_time(lambda: volumes.value_and_scale_maps(surfaces, SIZES), repeats)
    times["gradient_torque"] = best_time(lambda: volumes.gradient_torque(volume, SIZES[:3]), repeats) * len(SIZES) / 3
    image = noise((side, side * side))
    edges = imtorque.detect_edges(image)
    plane = {
        "find_extrema": best_time(lambda: imtorque.find_extrema(edges, SIZES), repeats),
        "value_and_scale_maps": best_time(lambda: imtorque.value_and_scale_maps(edges, SIZES), repeats),
        "gradient_torque": best_time(lambda: imtorque.gradient_torque(image, SIZES[:3]), repeats) * len(SIZES) / 3,
    }
    each = 1e9 / (volume.size * len(SIZES))
    rows = [
        {"function": name, "volume_ns": taken * each, "plane_ns": plane[name] * each, "ratio": taken / plane[name]}
        for name, taken in times.items()
    ]
    return {"side": side, "threads": threads, "rows": rows, "find_extrema_bytes_beyond_surfaces": beyond}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toy", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "volumes.json")
    options = parser.parse_args()
    threads = [1] if options.toy else sorted({1, os.cpu_count() or 1})
    runs = [measure(24 if options.toy else 256, n, options.repeats) for n in threads]
    content = {"version": imtorque.__version__, "machine": platform.machine(), "sizes": SIZES, "runs": runs}
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    for run in runs:
        for row in run["rows"]:
            print(
                f"{run['side']}^3, {run['threads']} thr., {row['function']}: {row['volume_ns']:.1f} ns in volumes, "
                f"{row['plane_ns']:.1f} in the plane, {row['ratio']:.1f} times"
            )


if __name__ == "__main__":
    main()
