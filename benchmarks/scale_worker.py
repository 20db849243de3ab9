"""One part of benchmarks/scale.py, in a process of its own: prints one JSON object."""

import json
import os
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import zarr
from scale_images import DrawnSource, LoggedSource, RepeatedSource

import imtorque
from imtorque.tiling import maps, open_image, process_image
from imtorque.tiling import tile as tile_task
from imtorque.tiling.grid import Box
from imtorque.tiling.source import ArraySource

SIZES = tuple(range(3, 92, 2))
THRESHOLDS = {"one": {"low": 0.02, "high": 0.02}, "two": {"low": 0.02, "high": 0.06}, "automatic": {}}
MAPS = ("value", "scale")
TABLE_SIZES = (9, 19, 29, 39)


def draw(folder, side):
    """Write the image, as a NumPy file and as a zarr array."""
    source = DrawnSource.of(side)
    stored = np.lib.format.open_memmap(folder / "image.npy", "w+", np.uint8, (side, side))
    array = zarr.create_array(
        str(folder / "image.zarr"), shape=(side, side), chunks=(512, 512), dtype="uint8", overwrite=True
    )
    for top in range(0, side, 512):
        band = source.read(Box(top, 0, min(top + 512, side), side))
        stored[top : top + len(band)] = band
        array[top : top + len(band)] = band
    stored.flush()
    return {}


def in_memory(folder, kind):
    """Both maps of the whole image in memory, by one thread; written down for comparison."""
    imtorque.set_num_threads(1)
    image = np.load(folder / "image.npy")
    start = time.process_time()
    edges = imtorque.detect_edges(image, **THRESHOLDS[kind])
    value, scale = imtorque.value_and_scale_maps(edges, SIZES)
    seconds = time.process_time() - start
    if os.environ.get("KEEP"):
        np.save(folder / "value.npy", value)
        np.save(folder / "scale.npy", scale)
    return {"processor_seconds": seconds, "peak_mb": peak(resource.RUSAGE_SELF)}


def tiles_without_files(folder, kind, tile):
    """Tiles of an array in memory whose maps are not written, by one thread."""
    imtorque.set_num_threads(1)
    tile_task.write_tile = lambda *_: None
    source = ArraySource.of(np.load(folder / "image.npy"))
    return timed(source, folder / f"none-{kind}", kind, tile, jobs=1)


def tiles_of_zarr(folder, kind, tile):
    """Tiles from a zarr array to zarr arrays, by one thread."""
    imtorque.set_num_threads(1)
    return timed(open_image(folder / "image.zarr"), folder / f"zarr-{kind}", kind, tile, jobs=1)


def timed(source, out, kind, tile, **how):
    process_image(np.eye(40), out.with_name(out.name + "-warm"), [3], tile=40, jobs=1)  # loads what is needed
    start = time.process_time()
    found = process_image(source, out, SIZES, MAPS, tile=tile, **THRESHOLDS[kind], **how)
    return {"processor_seconds": time.process_time() - start, "tiles": found.tiles, "rounds": found.rounds}


def processes(folder, kind, tile, side, jobs):
    """Tiles on this machine's processes; the drawn image where a side is given."""
    source = DrawnSource.of(side) if side else open_image(folder / "image.zarr")
    start = time.perf_counter()
    found = process_image(
        source, folder / f"processes-{side}-{kind}", SIZES, MAPS, tile=tile, jobs=jobs, **THRESHOLDS[kind]
    )
    return {
        "seconds": time.perf_counter() - start,
        "peak_of_a_worker_mb": peak(resource.RUSAGE_CHILDREN),
        "peak_of_the_driver_mb": peak(resource.RUSAGE_SELF),
        "tiles": found.tiles,
        "steps": found.steps,
        "rounds": found.rounds,
    }


def tables_alone(folder, side, tile, jobs):
    """Both tables of an image that repeats a drawn one, with hysteresis: what the process that drives holds."""
    found = process_image(
        RepeatedSource.of(side),
        folder / f"tables-{side}",
        TABLE_SIZES,
        ("extrema", "blobs"),
        count=1000,
        tile=tile,
        jobs=jobs,
        **THRESHOLDS["two"],
    )
    shutil.rmtree(folder / f"tables-{side}")
    return {"peak_of_the_driver_mb": own_peak(), "tiles": found.tiles, "blobs": found.blobs}


def driver(folder, out, tile):
    """A run whose windows are noted, to be killed."""
    source = open_image(folder / "image.npy")
    fields = {name: getattr(source, name) for name in ("name", "shape", "samples", "dtype", "affine")}
    logged = LoggedSource(**fields, log=str(folder / f"{out}.log"))
    found = process_image(logged, folder / out, SIZES, MAPS, tile=tile, jobs=2, **THRESHOLDS["one"])
    return {"tiles": found.tiles}


def different(folder, out):
    """How many values of both maps differ from those in memory, and their digest."""
    import hashlib

    count, digest = 0, hashlib.sha256()
    for name in MAPS:
        stored, whole = maps.opened(folder / out, name, 0, "r"), np.load(folder / f"{name}.npy", mmap_mode="r")
        for top in range(0, whole.shape[0], 1024):
            band = np.ascontiguousarray(stored[top : top + 1024])
            count += int(np.count_nonzero(band.view(np.int32) != whole[top : top + 1024].view(np.int32)))
            digest.update(band.data)
    stored = sum(path.stat().st_size for path in (folder / out / "maps.zarr").rglob("*") if path.is_file())
    return {
        "different": count,
        "values": 2 * int(np.prod(whole.shape)),
        "sha256": digest.hexdigest(),
        "bytes": stored,
    }


def windows(folder, out, side, steps, count=8):
    """Windows of an image too large for memory, each computed with enough around it: how many values differ."""
    source, rng, wrong = DrawnSource.of(side), np.random.default_rng(0), 0
    for _ in range(count):
        top, left = (int(v) for v in rng.integers(0, side - 512, 2))
        core = Box(top, left, top + 512, left + 512)
        outer = core.grown(160, source.shape)
        edges = imtorque.detect_edges(source.read(outer), value_range=(0, 255), **THRESHOLDS["one"])
        inner = core.inside(outer).slices
        both = imtorque.value_and_scale_maps(imtorque.Edges(edges.fx, edges.fy, steps=steps), SIZES)
        for name, plane in zip(MAPS, both, strict=True):
            stored = np.asarray(maps.opened(folder / out, name, 0, "r")[core.slices])
            wrong += int(np.count_nonzero(stored != plane[inner]))
    return {"different": wrong, "values": 2 * count * 512 * 512}


def own_peak():
    """Peak of this process; that of resource counts what its parent had when it began, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def peak(who):
    return resource.getrusage(who).ru_maxrss / 1024


PARTS = {
    part.__name__: part
    for part in (
        draw,
        in_memory,
        tiles_without_files,
        tiles_of_zarr,
        processes,
        tables_alone,
        driver,
        different,
        windows,
    )
}

if __name__ == "__main__":
    folder, part, *rest = sys.argv[1:]
    print(json.dumps(PARTS[part](Path(folder), *(json.loads(argument) for argument in rest))))
