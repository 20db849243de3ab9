"""Time edges, dense contribution and strengthened edges of an image of the Berkeley size, on one thread.

    python benchmarks/boundary_edges.py

The image is the sample photograph at 481 x 321 pixels; milliseconds are processor time, median of the repeats.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

import numpy as np
from PIL import Image

import imtorque

RESULTS = Path(__file__).parent / "results" / "boundary_edges.json"


def milliseconds(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(1000 * (time.process_time() - start))
    return round(statistics.median(times), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    imtorque.set_num_threads(1)
    image = np.asarray(Image.fromarray(imtorque.datasets.sample("hopper")).resize((481, 321)))

    def detect():
        return imtorque.detect_edges(image, low=0.004, high=0.004, force="strength", strength_scale=0.13)

    edges = detect()
    found = {
        "image": "hopper, 481 x 321",
        "machine": f"{platform.machine()}, {platform.system()}",
        "version": imtorque.__version__,
        "repeats": options.repeats,
        "edge_pixels": int(np.count_nonzero(edges.mask)),
        "milliseconds": {
            "edges": milliseconds(detect, options.repeats),
            "dense contribution, 6 sizes": milliseconds(lambda: imtorque.dense_contribution(edges), options.repeats),
            "both": milliseconds(lambda: imtorque.dense_contribution(detect()), options.repeats),
            "boundary_strength": milliseconds(lambda: imtorque.boundary_strength(image), options.repeats),
        },
    }
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
