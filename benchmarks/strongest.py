"""Compare the strongest extrema, found by bounds, with those of the whole volume on photographs.

    python benchmarks/strongest.py

Takes 300 photographs of the Berkeley set ($IMTORQUE_DATA or ../shared/data), asks for the strongest extrema with
several counts, signs and ends of the scale, compares every number with the search of the stored volume, and writes how
many of the patches were computed to benchmarks/results/strongest.json. About three minutes.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np

import imtorque
from imtorque import _native
from imtorque.core.patches import patch_arrays
from imtorque.core.types import check_sizes
from imtorque.files import read_image

HERE = Path(__file__).parent
SIZES = range(3, 92, 2)
REQUESTS = [(50, None, True), (5, 1, True), (20, -1, False)]  # count, sign, end_scales


def photographs(limit: int) -> list[np.ndarray]:
    """Berkeley photographs; without the data, scikit-image's."""
    folder = Path(os.environ.get("IMTORQUE_DATA", HERE.parents[1] / "shared" / "data")) / "bsds500" / "images"
    paths = sorted(folder.rglob("*.jpg"))[:limit]
    if paths:
        return [read_image(path) for path in paths]
    from skimage import data

    return [getattr(data, name)() for name in ("camera", "coins", "chelsea")][:limit]


def compare(image: np.ndarray) -> dict[str, list[float]]:
    """Share of the patches computed for each request, and processor time of either search in milliseconds."""
    edges = imtorque.detect_edges(image)
    volume = imtorque.torque_volume(edges, SIZES)
    patches = patch_arrays(edges, check_sizes(SIZES), "square", 2.0)
    shares, ms = [], []
    for count, sign, ends in REQUESTS:
        ref = imtorque.find_extrema(volume, count=count, sign=sign, end_scales=ends)
        start = time.process_time()
        k, y, x, value, visited = _native.extrema_of_field(edges.field, *patches, sign or 0, count, ends, 0.0)
        ms.append(1e3 * (time.process_time() - start))
        for comp, wanted in ((y, ref.y), (x, ref.x), (value, ref.value), (np.asarray(SIZES)[k], ref.size)):
            np.testing.assert_array_equal(comp, wanted)
        shares.append(visited / volume.tau.size)
    return {"shares": shares, "ms": ms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "strongest.json")
    options = parser.parse_args()
    imtorque.set_num_threads(1)
    _native.force_bounded_search(True)
    rows = [compare(image) for image in photographs(options.images)]
    report = {
        "command": "python benchmarks/strongest.py",
        "images": len(rows),
        "sizes": len(SIZES),
        "requests": [
            {
                "count": count,
                "sign": sign,
                "end_scales": ends,
                "share_of_patches": statistics.median(row["shares"][i] for row in rows),
                "largest_share": max(row["shares"][i] for row in rows),
                "ms": statistics.median(row["ms"][i] for row in rows),
            }
            for i, (count, sign, ends) in enumerate(REQUESTS)
        ],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    for row in report["requests"]:
        print(f"{row['count']} extrema: the same on {len(rows)} images; {row['share_of_patches']:.1%} of the patches")


if __name__ == "__main__":
    main()
