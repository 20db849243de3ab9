"""Times of the main kernels from 64 x 64 to 4K and from 1 to 64 threads: none may be slower than with one thread.

    python benchmarks/threads.py            all of it; some minutes on a quiet machine
    python benchmarks/threads.py --toy      small images and few threads

A time is the best of several calls, taken in turns over the numbers of threads, so that a disturbance does not fall on
one of them. Written to benchmarks/results/threads.json; the table shows each kernel's times and, last, the worst ratio
to one thread. More threads than cores are asked for on purpose.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import imtorque
from imtorque.core.threads import available_cores

RESULTS = Path(__file__).parent / "results"
SHAPES = [(64, 64), (128, 128), (256, 256), (512, 512), (1080, 1920), (2160, 3840)]
THREADS = [1, 2, 4, 8, 16, 32, 64]
SIZES = range(3, 92, 4)
SECONDS = 0.5  # for each kernel and number of threads, at least


def scene(shape: tuple[int, int]) -> np.ndarray:
    """Bright and dark disks on noise: edges in all directions, at the density of photographs."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[: shape[0], : shape[1]]
    image = rng.normal(128, 4, shape)
    for _ in range(shape[0] * shape[1] // 2000 + 1):
        cy, cx, radius = rng.uniform(0, shape[0]), rng.uniform(0, shape[1]), rng.uniform(3, 30)
        top, left = max(0, int(cy - radius)), max(0, int(cx - radius))
        part = np.s_[top : int(cy + radius) + 1, left : int(cx + radius) + 1]
        image[part][(y[part] - cy) ** 2 + (x[part] - cx) ** 2 < radius**2] += rng.choice([-60, 60])
    return np.clip(image, 0, 255).astype(np.uint8)


def kernels(shape: tuple[int, int]) -> dict[str, Callable[[], object]]:
    image = scene(shape)
    edges = imtorque.detect_edges(image)
    extrema = imtorque.find_extrema(edges, sizes=SIZES)
    return {
        "detect_edges": lambda: imtorque.detect_edges(image),
        "value_and_scale_maps": lambda: imtorque.value_and_scale_maps(edges, SIZES),
        "value_and_scale_maps, disks": lambda: imtorque.value_and_scale_maps(edges, range(3, 32, 4), patch="disk"),
        "torque_volume": lambda: imtorque.torque_volume(edges, SIZES[:5]),
        "find_extrema": lambda: imtorque.find_extrema(edges, sizes=SIZES),
        "gradient_torque": lambda: imtorque.gradient_torque(image, SIZES[:8]),
        "dense_contribution": lambda: imtorque.dense_contribution(edges),
        "contribution_map": lambda: imtorque.contribution_map(edges, extrema),
        "contribution_map, absolute": lambda: imtorque.contribution_map(edges, extrema, votes="absolute"),
        "multiscale_torque": lambda: imtorque.recognition.multiscale_torque(edges, extrema),
    }


def best_times(call: Callable[[], object], threads: list[int], seconds: float) -> list[float]:
    """Milliseconds of the best call, for each number of threads."""
    best = [float("inf")] * len(threads)
    spent = 0.0
    while spent < seconds * len(threads) or spent == 0:
        for i, n in enumerate(threads):
            imtorque.set_num_threads(n)
            start = time.perf_counter()
            call()
            taken = time.perf_counter() - start
            best[i] = min(best[i], 1000 * taken)
            spent += taken
    return best


def measure(shapes: list[tuple[int, int]], threads: list[int], seconds: float) -> list[dict]:
    rows = []
    for shape in shapes:
        for name, call in kernels(shape).items():
            best_times(call, threads[:1], 0)  # the first call finds no pages and no threads
            times = best_times(call, threads, seconds)
            worst = max(t / times[0] for t in times)
            rows.append({"kernel": name, "shape": list(shape), "milliseconds": times, "worst_ratio": worst})
            shown = "".join(f"{t:10.3f}" for t in times)
            print(f"{shape[1]:5d} x {shape[0]:<5d}{name:28s}{shown}{worst:8.2f}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toy", action="store_true", help="small images and few threads")
    parser.add_argument("--out", type=Path, default=RESULTS / "threads.json")
    options = parser.parse_args()
    shapes, threads, seconds = (SHAPES[:2], [1, 2, 64], 0.0) if options.toy else (SHAPES, THREADS, SECONDS)
    print(f"{'':41s}" + "".join(f"{n:10d}" for n in threads) + "   worst")
    rows = measure(shapes, threads, seconds)
    worst = max(rows, key=lambda row: row["worst_ratio"])
    height, width = worst["shape"]
    print(f"worst ratio to one thread: {worst['worst_ratio']:.2f}, {worst['kernel']} at {width} x {height}")
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "available_cores": available_cores()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    report = {**machine, "threads": threads, "rows": rows, "worst_ratio": worst["worst_ratio"]}
    options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
