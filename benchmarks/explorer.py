"""Take the processor time of the explorer's answers about an image of 481 x 321: the median and the 99 % quantile.

python benchmarks/explorer.py

Every answer is computed from nothing: the image is new to the server, and its settings are new. Processor time is
that of all threads together, so it holds on a machine that does something else beside.
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
from imtorque.explorer.handlers import HANDLERS
from imtorque.explorer.image_store import image_of_array
from imtorque.explorer.limits import single_threaded_blas
from imtorque.explorer.settings import read_settings

RESULTS = Path(__file__).parent / "results" / "explorer.json"
MAX_MILLISECONDS = 150
EVERY_LAYER = "value,scale,edges,saliency,strengthened"
ALL_EDGES = {"sigma": "0.5", "low": "0.001", "high": "0.001"}  # the sliders' least: three pixels of ten are edges
VIEWS = {
    "view": ("/view", {}),
    "view, value and scale map": ("/view", {"layers": "value,scale"}),
    "view, edges": ("/view", {"layers": "edges"}),
    "view, saliency": ("/view", {"layers": "saliency"}),
    "view, strengthened edges": ("/view", {"layers": "strengthened"}),
    "view, disks": ("/view", {"patch": "disk"}),
    "view, disks alike": ("/view", {"patch": "disk", "polarity": "free"}),
    "view, bright and dark alike": ("/view", {"polarity": "free"}),
    "view, stars": ("/view", {"pattern": "star"}),
    "view, strong forces": ("/view", {"force": "strength", "alpha": "1.5"}),
    "view, fine edges": ("/view", {"sigma": "0.7"}),
    "view, all layers": ("/view", {"layers": EVERY_LAYER}),
    "view, disks alike, fine edges": ("/view", {"patch": "disk", "polarity": "free", "sigma": "0.7"}),
    "view, disks alike, finest edges": ("/view", {"patch": "disk", "polarity": "free", "sigma": "0.5"}),
    "view, disks, finest edges": ("/view", {"patch": "disk", "sigma": "0.5"}),
    "view, disks alike, all edges": ("/view", {"patch": "disk", "polarity": "free", **ALL_EDGES}),
    "view, disks, all edges": ("/view", {"patch": "disk", **ALL_EDGES}),
    "view, disks, largest": ("/view", {"patch": "disk", "largest": "321"}),
    "view, disks alike, saddles": ("/view", {"patch": "disk", "polarity": "free", "pattern": "saddle", "alpha": "0.5"}),
    "view, disks, all layers": ("/view", {"patch": "disk", "layers": EVERY_LAYER}),
    "view, disks alike, all layers": ("/view", {"patch": "disk", "polarity": "free", "layers": EVERY_LAYER}),
    "view, 200 extrema": ("/view", {"count": "200", "nms": "0"}),
    "view, disks alike, 200 extrema": ("/view", {"patch": "disk", "polarity": "free", "count": "200"}),
    "contribution": ("/contribution", {"number": "1"}),
    "figure": ("/figure", {"clicks": "160,240"}),
    "code": ("/code", {"y": "80", "x": "90", "size": "31"}),
    "image": ("/image.png", {}),
}


def milliseconds(image, path, query):
    checked = image_of_array(image, "photograph.png", "")
    began = time.process_time()
    HANDLERS[path](checked, read_settings(query))
    return 1000 * (time.process_time() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--size", type=int, nargs=2, default=(481, 321), metavar=("WIDTH", "HEIGHT"))
    arguments = parser.parse_args()
    photograph = Image.fromarray(datasets.sample("hopper"))
    image = np.asarray(photograph.resize(arguments.size, Image.Resampling.BICUBIC))
    rows = []
    for name, (path, query) in VIEWS.items():
        with single_threaded_blas():  # as the server runs
            taken = [milliseconds(image, path, query) for _ in range(1 + arguments.runs)][1:]
        median, high = np.quantile(taken, [0.5, 0.99]).round(1).tolist()
        rows.append({"view": name, "query": query, "median": median, "quantile_99": high})
        print(f"{name}: {median} ms, 99 % within {high} ms", flush=True)
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": imtorque.get_num_threads()}
    result = {
        "benchmark": "explorer",
        "version": imtorque.__version__,
        **machine,
        "size": list(arguments.size),
        "runs": arguments.runs,
        "most_milliseconds": MAX_MILLISECONDS,
        "rows": rows,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
