"""Time the operator and its peers side by side in this process; prints one JSON object. Started by run.py.

Every contender gets the same images and the same number of threads, allocates its own results, and is timed in turn
with the others, `repeats` rounds long.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable

import cv2
import numpy as np
from skimage import data, feature

import imtorque
from imtorque import _native
from imtorque.core.patches import patch_arrays
from imtorque.core.types import check_sizes

SIZES_45 = range(3, 92, 2)
SIZES_OF_PATTERNS = (11, 31, 91)
SIZES_10 = [3, 5, 7, 11, 15, 21, 31, 45, 65, 91]
PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket", "camera", "coins")
SKIMAGE_LIMIT = 640 * 480  # pixels; beyond that scikit-image's detectors take minutes


def mosaic(height: int, width: int) -> np.ndarray:
    """Grey image of any size from scikit-image's photographs at their own resolution, side by side."""
    tiles = [np.rint(255 * imtorque.images.grey_image(getattr(data, name)())).astype(np.uint8) for name in PHOTOGRAPHS]
    rows: list[np.ndarray] = []
    k = 0
    while sum(len(row) for row in rows) < height:
        row: list[np.ndarray] = []
        while sum(tile.shape[1] for tile in row) < width:
            row.append(tiles[k % len(tiles)][:300])
            k += 1
        rows.append(np.concatenate(row, axis=1)[:, :width])
    return np.ascontiguousarray(np.concatenate(rows)[:height])


def contenders(image: np.ndarray) -> dict[str, Callable[[], object]]:
    edges = imtorque.detect_edges(image)
    sift, orb, mser = cv2.SIFT_create(), cv2.ORB_create(), cv2.MSER_create()
    blob = cv2.SimpleBlobDetector_create()

    def end_to_end(sizes):
        return lambda: imtorque.find_extrema(imtorque.detect_edges(image), sizes=sizes, count=50)

    def fused(sizes, **options):
        # A new Edges each time: the survey of the forces counts.
        return lambda: imtorque.value_and_scale_maps(imtorque.Edges(edges.fx, edges.fy), sizes, **options)

    calls: dict[str, Callable[[], object]] = {
        "maps, 45 sizes": fused(SIZES_45),
        "maps, 10 sizes": fused(SIZES_10),
        "maps, 45 sizes, stars": fused(SIZES_45, pattern="star"),
        "maps, 45 sizes, closure": fused(SIZES_45, polarity="free"),
        "edges": lambda: imtorque.detect_edges(image),
        "end to end, 45 sizes": end_to_end(SIZES_45),
        "end to end, 10 sizes": end_to_end(SIZES_10),
        "cv2 SIFT": lambda: sift.detect(image, None),
        "cv2 SimpleBlobDetector": lambda: blob.detect(image),
        "cv2 MSER": lambda: mser.detectRegions(image),
        "cv2 ORB": lambda: orb.detect(image, None),
    }
    if image.size <= SKIMAGE_LIMIT:
        calls["maps, 45 sizes, disks"] = fused(SIZES_45, patch="disk")
        scaled = image / 255
        # The same range of sizes: a LoG blob of standard deviation s has radius s sqrt(2).
        largest = 91 / 2 / math.sqrt(2)
        calls["skimage blob_log"] = lambda: feature.blob_log(scaled, min_sigma=1, max_sigma=largest, num_sigma=10)
        calls["skimage blob_dog"] = lambda: feature.blob_dog(scaled, min_sigma=1, max_sigma=largest)
        calls["skimage blob_doh"] = lambda: feature.blob_doh(scaled, min_sigma=1, max_sigma=largest, num_sigma=10)
    return calls


def time_all(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {
        name: {
            "min": min(ms),
            "median": statistics.median(ms),
            "q1": sorted(ms)[len(ms) // 4],
            "q3": sorted(ms)[-1 - len(ms) // 4],
        }
        for name, ms in times.items()
    }


def linearity(repeats: int, toy: bool) -> dict[str, list[dict[str, float]]]:
    """Cost over pixels at 45 sizes, and over the number of sizes at one image."""
    shapes = [(60, 80), (120, 160)] if toy else [(240, 320), (480, 640), (960, 1280), (1920, 2560)]
    pixels = []
    for shape in shapes:
        edges = imtorque.detect_edges(mosaic(*shape))
        best = time_all({"": lambda e=edges: imtorque.value_and_scale_maps(e, SIZES_45)}, repeats)[""]["min"]
        pixels.append(
            {
                "height": shape[0],
                "width": shape[1],
                "ms": best,
                "ns_per_pixel_and_size": best * 1e6 / (shape[0] * shape[1] * 45),
            }
        )
    edges = imtorque.detect_edges(mosaic(*shapes[1]))
    sizes = []
    for count in (5, 15, 45) if toy else (5, 15, 30, 45):
        best = time_all({"": lambda n=count: imtorque.value_and_scale_maps(edges, range(3, 3 + 2 * n, 2))}, repeats)[
            ""
        ]["min"]
        sizes.append({"sizes": count, "ms": best})
    return {"pixels": pixels, "sizes": sizes}


def contribution(repeats: int) -> dict[str, float]:
    edges = imtorque.detect_edges(mosaic(321, 481))
    extrema = imtorque.find_extrema(edges, sizes=SIZES_45, count=5000)
    times = time_all(
        {
            "contribution": lambda: imtorque.contribution_map(edges, extrema),
            "maps": lambda: imtorque.value_and_scale_maps(edges, SIZES_45),
        },
        repeats,
    )
    return {"extrema": len(extrema), "contribution_ms": times["contribution"]["min"], "maps_ms": times["maps"]["min"]}


def patterns(repeats: int, toy: bool) -> list[dict[str, float]]:
    """Cost of one size from given edges: torque, all four moments, the torque of another pattern, closure."""
    edges = imtorque.detect_edges(mosaic(*((120, 160) if toy else (1080, 1920))))
    rows = []
    for size in SIZES_OF_PATTERNS:
        calls = {
            "torque_map": lambda s=size: imtorque.torque_map(edges, s),
            "patch_moments": lambda s=size: imtorque.patch_moments(edges, s),
            "star": lambda s=size: imtorque.torque_map(edges, s, pattern="star"),
            "closure": lambda s=size: imtorque.torque_map(edges, s, polarity="free"),
        }
        rows.append({"size": size} | {name: times["min"] for name, times in time_all(calls, repeats).items()})
    return rows


def strongest(repeats: int, toy: bool) -> list[dict[str, float | str]]:
    """The 50 strongest extrema from given edges: milliseconds, and the share of all patches that was computed."""
    shape = (240, 320) if toy else (1080, 1920)
    images = {"photographs": mosaic(*shape), "noise": np.random.default_rng(0).integers(0, 256, shape, np.uint8)}
    rows: list[dict[str, float | str]] = []
    for name, image in images.items():
        edges = imtorque.detect_edges(image)
        for sizes in (SIZES_45, SIZES_10):
            calls = {
                "search": lambda e=edges, s=sizes: imtorque.find_extrema(e, s, count=50),
                "maps": lambda e=edges, s=sizes: imtorque.value_and_scale_maps(e, s),
            }
            times = time_all(calls, repeats)
            patches = patch_arrays(edges, check_sizes(sizes), "square", 2.0)
            visited = _native.extrema_of_field(edges.field, *patches, 0, 50, True, 0.0)[-1]
            row = {"image": name, "sizes": len(sizes), "share": visited / (len(sizes) * image.size)}
            rows.append(row | {f"{call}_ms": ms["min"] for call, ms in times.items()})
    return rows


def processor_microseconds(call: Callable[[], object], runs: int) -> float:
    call()
    start = time.process_time()
    for _ in range(runs):
        call()
    return 1e6 * (time.process_time() - start) / runs


def small_images(toy: bool) -> dict[str, float]:
    """Microseconds of processor time: 64 x 64 end to end, and 8 x 8, where the calls themselves are what counts."""
    runs = 20 if toy else 500
    image, tiny = mosaic(64, 64), mosaic(8, 8)
    edges = imtorque.detect_edges(tiny)
    return {
        "end to end, 64x64, 10 sizes": processor_microseconds(
            lambda: imtorque.find_extrema(imtorque.detect_edges(image), SIZES_10, count=50), runs
        ),
        "end to end, 64x64, default sizes": processor_microseconds(
            lambda: imtorque.find_extrema(imtorque.detect_edges(image), count=50), runs
        ),
        "detect_edges, 8x8": processor_microseconds(lambda: imtorque.detect_edges(tiny), runs),
        "find_extrema, 8x8": processor_microseconds(lambda: imtorque.find_extrema(edges, [3, 5], count=5), runs),
        "value_and_scale_maps, 8x8": processor_microseconds(lambda: imtorque.value_and_scale_maps(edges, [3, 5]), runs),
    }


def cost_model(repeats: int, toy: bool) -> dict[str, float]:
    """Nanoseconds per pixel, per pixel and size, per edge pixel; and gigabytes per second of a copy in memory."""
    image = mosaic(*((240, 320) if toy else (1080, 1920)))
    edges = imtorque.detect_edges(image)
    extrema = imtorque.find_extrema(edges, SIZES_45, count=200)
    source, target = np.zeros(1 << 25, np.uint8), np.zeros(1 << 25, np.uint8)
    calls = {
        "edges": lambda: imtorque.detect_edges(image),
        "survey": lambda: imtorque.Edges.adopt(edges.fx, edges.fy),
        "few": lambda: imtorque.value_and_scale_maps(edges, range(3, 22, 2)),
        "many": lambda: imtorque.value_and_scale_maps(edges, range(3, 102, 2)),
        "search": lambda: imtorque.find_extrema(edges, SIZES_45, count=50),
        "votes": lambda: imtorque.contribution_map(edges, extrema),
        "copy": lambda: np.copyto(target, source),
    }
    ns = {name: 1e6 * times["min"] for name, times in time_all(calls, repeats).items()}
    size = (ns["many"] - ns["few"]) / 40
    return {
        "edges": ns["edges"] / image.size,
        "survey": ns["survey"] / image.size,
        "tables": (ns["few"] - 10 * size) / image.size,
        "size": size / image.size,
        "search": ns["search"] / (45 * image.size),
        "votes": ns["votes"] / int(np.count_nonzero(edges.mask)),
        "copy_gb_per_s": 2 * source.size / ns["copy"],
    }


def free_memory() -> int:
    """Bytes that a process may have; none where the system does not say."""
    try:
        with open("/proc/meminfo") as info:
            return 1024 * next(int(line.split()[1]) for line in info if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 0


def large_images(toy: bool) -> list[dict[str, float]]:
    """Nanoseconds per pixel of the maps with 45 sizes, up to 20,000 x 20,000 pixels where 12 GB of memory are free."""
    part = imtorque.detect_edges(mosaic(*((240, 320) if toy else (2160, 3840))))
    shapes = [part.shape, (480, 640) if toy else (20_000, 20_000)]
    rows = []
    for height, width in shapes if toy or free_memory() > 12e9 else shapes[:1]:
        repeats = (-(-height // part.shape[0]), -(-width // part.shape[1]))
        fx, fy = (np.ascontiguousarray(np.tile(f, repeats)[:height, :width]) for f in (part.fx, part.fy))
        edges = imtorque.Edges.adopt(fx, fy)
        ms = time_all({"": lambda e=edges: imtorque.value_and_scale_maps(e, SIZES_45)}, 2)[""]["min"]
        rows.append({"height": height, "width": width, "ns_per_pixel": 1e6 * ms / (height * width)})
    return rows


def high_water() -> int:
    """Peak resident memory in bytes since it was last reset."""
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def memory(height: int, width: int) -> float:
    """Bytes per pixel of the fused maps beyond input and output."""
    edges = imtorque.detect_edges(mosaic(height, width))
    imtorque.value_and_scale_maps(imtorque.detect_edges(mosaic(64, 64)), SIZES_45)
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = high_water()
    value, scale = imtorque.value_and_scale_maps(edges, SIZES_45)
    return (high_water() - before - value.nbytes - scale.nbytes) / value.size


def error_against_definition(height: int, width: int) -> float:
    """Largest deviation of the torque from the definition in double precision, at 64 points and 45 sizes."""
    edges = imtorque.detect_edges(mosaic(height, width))
    rng = np.random.default_rng(0)
    worst = 0.0
    for y, x in zip(rng.integers(0, height, 64).tolist(), rng.integers(0, width, 64).tolist(), strict=True):
        spectrum = imtorque.torque_spectrum(edges, (y, x), SIZES_45)
        for size, torque in zip(SIZES_45, spectrum, strict=True):
            r = size // 2
            top, left = max(0, y - r), max(0, x - r)
            fx, fy = (f[top : y + r + 1, left : x + r + 1].astype(float) for f in (edges.fx, edges.fy))
            v, u = np.indices(fx.shape)
            exact = np.sum((u + left - x) * fy - (v + top - y) * fx) / (2 * size * size)
            worst = max(worst, abs(exact - float(torque)))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--shapes", type=json.loads, required=True)
    parser.add_argument("--extras", action="store_true", help="also linearity, contribution and error")
    parser.add_argument("--memory", action="store_true", help="only the memory of the fused maps")
    parser.add_argument("--toy", action="store_true")
    options = parser.parse_args()
    imtorque.set_num_threads(options.threads)
    cv2.setNumThreads(options.threads)
    if options.memory:
        print(json.dumps({f"{w}x{h}": memory(h, w) for h, w in options.shapes}))
        return
    result: dict[str, object] = {"threads": options.threads, "times": {}}
    for height, width in options.shapes:
        result["times"][f"{width}x{height}"] = time_all(contenders(mosaic(height, width)), options.repeats)
    if options.extras:
        result["linearity"] = linearity(options.repeats, options.toy)
        result["contribution"] = contribution(options.repeats)
        result["patterns"] = patterns(options.repeats, options.toy)
        result["strongest"] = strongest(options.repeats, options.toy)
        result["large"] = large_images(options.toy)
        result["small"] = small_images(options.toy)
        result["costs"] = cost_model(options.repeats, options.toy)
        result["largest_error"] = error_against_definition(*options.shapes[0])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
