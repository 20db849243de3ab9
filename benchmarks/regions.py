"""Time the division into regions, step by step: photographs of 481 x 321 pixels, one thread, fastest of several runs.

python benchmarks/regions.py [--images FOLDER]
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from max_flow import read_images

import imtorque
from imtorque.segmentation.colour_models import colour_bins, model_costs, patch_models
from imtorque.segmentation.evidence import gather_evidence
from imtorque.segmentation.regions import COLOUR_MODELS, CYCLES, SMOOTHNESS, contrast_links, torque_patches

RESULTS = Path(__file__).parent / "results" / "regions.json"


def fastest(function, repeats):
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return round(1e3 * min(taken), 1)


def measure(image, repeats):
    evidence = gather_evidence(image)
    patches = torque_patches(evidence, COLOUR_MODELS)
    bins = colour_bins(evidence.lab)
    costs = model_costs(patch_models(bins, patches), bins)
    links = contrast_links(evidence, SMOOTHNESS)
    expansion = fastest(lambda: imtorque.alpha_expansion(costs, **links, cycles=CYCLES), repeats)
    return {
        "models": len(costs),
        "evidence": fastest(lambda: gather_evidence(image), repeats),
        "seeds": fastest(lambda: torque_patches(evidence, COLOUR_MODELS), repeats),
        "alpha_expansion": expansion,
        "per_expansion": round(expansion / (CYCLES * len(costs)), 2),
        "segment_regions": fastest(lambda: imtorque.segment_regions(image), repeats),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="Folder of photographs, of which every 25th is used.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--toy", action="store_true", help="A small image, to see that it runs.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    imtorque.set_num_threads(1)
    rows = [measure(image, arguments.repeats) for image in read_images(arguments.images, arguments.toy)]
    means = {name: round(float(np.mean([row[name] for row in rows])), 2) for name in rows[0]}
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "threads": 1}
    result = {"benchmark": "regions", "version": imtorque.__version__, **machine, "repeats": arguments.repeats}
    result |= {"unit": "ms", "mean": means, "images": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
