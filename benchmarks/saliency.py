"""Time the saliency maps: a photograph at several sizes, median and quartiles of several runs after one to warm up.

python benchmarks/saliency.py
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

RESULTS = Path(__file__).parent / "results" / "saliency.json"
METHODS = {
    "gbvs": imtorque.gbvs_saliency,
    "itti": imtorque.itti_saliency,
    "boolean": imtorque.saliency.boolean_saliency,
    "signature": imtorque.saliency.signature_saliency,
    "torque": imtorque.torque_saliency,
    "torque-paper": lambda image: imtorque.torque_saliency(image, form="paper"),
}


def seconds(function, image, runs):
    function(image)
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        function(image)
        taken.append(time.perf_counter() - start)
    return np.quantile(taken, [0.5, 0.25, 0.75])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    photograph = Image.fromarray(datasets.sample("hopper"))
    rows = []
    for width, height in ((200, 150), (640, 480), (1920, 1080)):
        image = np.asarray(photograph.resize((width, height), Image.Resampling.BICUBIC))
        for method, function in METHODS.items():
            median, low, high = seconds(function, image, arguments.runs)
            rows.append(
                {"method": method, "width": width, "height": height, "seconds": median, "quartiles": [low, high]}
            )
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": imtorque.get_num_threads()}
    result = {"benchmark": "saliency", "version": imtorque.__version__, **machine, "runs": arguments.runs, "rows": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
