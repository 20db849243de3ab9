"""Time cutting out the object under a click, and proposing boxes: a photograph of 481 x 321 pixels, one thread.

python benchmarks/figure.py
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from PIL import Image

import imtorque
from imtorque import datasets

RESULTS = Path(__file__).parent / "results" / "figure.json"
SIZE = (481, 321)
FIXATIONS = {"middle": (160, 240), "off the middle": (100, 350), "corner": (3, 3)}


def seconds(function, runs):
    function()
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return np.quantile(taken, [0.5, 0.25, 0.75]).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    imtorque.set_num_threads(1)
    image = np.asarray(Image.fromarray(datasets.sample("hopper")).resize(SIZE, Image.Resampling.BICUBIC))
    edges = imtorque.edge_cue(image)
    tasks = {
        **{
            f"segment_figure, {name}": (lambda at=at: imtorque.segment_figure(image, at))
            for name, at in FIXATIONS.items()
        },
        "segment_figure, polar": lambda: imtorque.segment_figure(image, FIXATIONS["middle"], method="polar"),
        "segment_figure, edge map given": lambda: imtorque.segment_figure(image, FIXATIONS["middle"], edge_map=edges),
        "segment_figure, cartesian": lambda: imtorque.segment_figure(image, FIXATIONS["middle"], method="cartesian"),
        "propose_objects, 100 boxes": lambda: imtorque.propose_objects(image, 100),
        "segment_objects, 5 objects": lambda: imtorque.segment_objects(image, 5),
    }
    rows = []
    for name, function in tasks.items():
        median, low, high = seconds(function, arguments.runs)
        rows.append({"task": name, "seconds": median, "quartiles": [low, high]})
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": imtorque.get_num_threads()}
    head = {"benchmark": "figure", "version": imtorque.__version__, **machine, "runs": arguments.runs}
    result = {**head, "width": SIZE[0], "height": SIZE[1], "rows": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
