"""Say what the fast matching costs: scores of both matchings on every image of a folder, and how far they part.

python benchmarks/matching_modes.py --predictions DIR --truth DIR
"""

import argparse
import json
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np

from imtorque import datasets
from imtorque.evaluation import bootstrap_ods_difference, summarise_boundaries
from imtorque.evaluation.folders import BoundaryOptions, for_each, pair_files, score_boundaries

RESULTS = Path(__file__).parent / "results" / "matching_modes.json"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predictions", type=Path, required=True)
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    pairs = pair_files(arguments.predictions, datasets.find_truths(arguments.truth))
    rows, scores = [], {}
    for matching in ("min_cost", "cardinality"):
        score = partial(score_boundaries, options=BoundaryOptions(matching=matching))
        start = time.perf_counter()
        scores[matching] = for_each(pairs, score, arguments.jobs, lambda: None)
        summary = summarise_boundaries(scores[matching])
        rows.append(
            {
                "method": matching,
                "f": summary.ods.f,
                "ois": summary.ois.f,
                "ap": summary.ap,
                "seconds": time.perf_counter() - start,
            }
        )
    exact, fast = scores["min_cost"], scores["cardinality"]
    parted = {
        name: float(max(np.abs(getattr(a, name) - getattr(b, name)).max() for a, b in zip(exact, fast, strict=True)))
        for name in ("precision", "recall")
    }
    difference = bootstrap_ods_difference(fast, exact)
    result = {
        "benchmark": "matching modes",
        "images": len(pairs),
        "thresholds": 99,
        "jobs": arguments.jobs,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "rows": rows,
        "largest_difference_of_an_image_at_a_threshold": parted,
        "ods_f_cardinality_minus_min_cost": {
            "value": difference.value,
            "low": difference.low,
            "high": difference.high,
        },
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
