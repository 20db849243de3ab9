"""Large images in tiles: are the bits those of memory, what does it cost, and what if something is killed?

    python benchmarks/scale.py    # 20,000 x 20,000 and 50,000 x 50,000: an hour, 10 GB of memory, 25 GB of disk
    python benchmarks/scale.py --side 4000 --large-side 0 --out /tmp/scale.json

Writes benchmarks/results/scale.json, a row for each figure with what it must be, and the tables in
docs/guides/large_images.md. Processor times are of one thread, so that they can be compared on a busy machine.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

import imtorque
from imtorque.tiling.large import TILE

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "scale.json"
PAGE = HERE.parent / "docs" / "guides" / "large_images.md"
BEGIN, END = "<!-- figures: benchmarks/scale.py -->", "<!-- end of figures -->"
SLIDES, CORES = 1e6, 1000  # of the estimate
MAX_GROWTH = 1.5  # of the driver's memory, from the smallest image on: it holds blobs, and components at borders
HALO = 79  # of sizes to 91, sigma sqrt(2) and 12 rounds of corner removal


def call(folder, part, *arguments, wait=True, **environment):
    """Do one part in a process of its own; return what it found."""
    command = [sys.executable, str(HERE / "scale_worker.py"), str(folder), part, *map(json.dumps, arguments)]
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment, "PYTHONPATH": paths}
    )
    if not wait:
        return process
    text, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{part} {arguments} ended with status {process.returncode}")
    print(part, *arguments, text.strip(), flush=True)
    return json.loads(text)


def figure(name, value, must=None, **more):
    """A row of the table; what must hold is a largest value."""
    return {"figure": name, "value": value, "must": must, "holds": None if must is None else value <= must, **more}


def costs(folder, tile, runs, pixels):
    """Processor time in tiles over that in memory: without files, with hysteresis, with zarr."""
    rows = []
    for name, part, kind, must in (
        ("processor time, one threshold, no files", "tiles_without_files", "one", 1.25),
        ("processor time, hysteresis, no files", "tiles_without_files", "two", 1.5),
        ("processor time, automatic thresholds, no files", "tiles_without_files", "automatic", 1.5),
        ("processor time, one threshold, zarr to zarr", "tiles_of_zarr", "one", 2.0),
    ):
        ratios, seconds = [], []
        for _ in range(runs):
            whole = call(folder, "in_memory", kind)["processor_seconds"]
            forget(folder, "none", "zarr")
            seconds.append(call(folder, part, kind, tile)["processor_seconds"])
            ratios.append(seconds[-1] / whole)
        per_pixel = 1e9 * sorted(seconds)[runs // 2] / pixels
        rows.append(figure(name, sorted(ratios)[runs // 2], must, runs=ratios, nanoseconds_per_pixel=per_pixel))
    return rows


def forget(folder, *prefixes):
    for prefix in prefixes:
        subprocess.run(["rm", "-rf", *map(str, folder.glob(f"{prefix}-*"))], check=True)


def exactness(folder, tile, jobs):
    """Values that differ from memory, and the peak of a worker."""
    memory = call(folder, "in_memory", "automatic", KEEP="1")
    found = call(folder, "processes", "automatic", tile, 0, jobs)
    compared = call(folder, "different", "processes-0-automatic")
    stored = compared.pop("bytes") / (compared["values"] / 2)
    rows = [figure("values different", compared.pop("different"), 0, bytes_per_pixel=stored, **compared)]
    most = 100 + 30 * (tile + 2 * HALO) ** 2 / 1e6
    peak = found["peak_of_a_worker_mb"] * 1.048576
    return [*rows, figure("peak of a worker, MB", peak, most, in_memory=memory["peak_mb"] * 1.048576)]


def cluster(folder, tile):
    """Processor time of the workers of a cluster, and how many tiles are done twice when one is killed."""
    from dask import config
    from distributed import Client, LocalCluster

    whole = call(folder, "in_memory", "one", KEEP="1")["processor_seconds"]
    settings = {"distributed.scheduler.allowed-failures": 0}
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    os.environ["PYTHONPATH"] = paths
    sys.path.insert(0, str(HERE))
    with (
        config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        Client(here) as client,
    ):
        warm(client, folder)
        before = sum(client.run(time.process_time).values())
        run_on(client, folder, "cluster-calm", tile, kill=False)
        taken = sum(client.run(time.process_time).values()) - before
        runs, tiles = run_on(client, folder, "cluster-killed", tile, kill=True)
    wrong = sum(call(folder, "different", f"cluster-{name}")["different"] for name in ("calm", "killed"))
    return [
        figure("processor time of a cluster's workers", taken / whole, 2.5),
        figure("worker killed: windows read again", runs - tiles, 2, tiles=tiles),
        figure("worker killed: values different", wrong, 0),
    ]


def warm(client, folder):
    """Let the workers load what they need: that is done once, however many images there are."""
    import numpy as np

    from imtorque.tiling import process_image

    process_image(np.eye(80), folder / "cluster-warm", [3], tile=20, client=client)


def run_on(client, folder, out, tile, kill):
    """Run on a cluster, and kill a worker half-way; return how many windows were read, and how many tiles there are."""
    from scale_images import LoggedSource
    from scale_worker import MAPS, SIZES, THRESHOLDS

    from imtorque.tiling import open_image, process_image

    source = open_image(folder / "image.npy")
    fields = {name: getattr(source, name) for name in ("name", "shape", "samples", "dtype", "affine")}
    log = folder / f"{out}.log"
    left = [kill]

    def watch(name, done, total):
        if left[0] and name.startswith("tiles") and done >= total // 2:
            left[0] = False
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    logged = LoggedSource(**fields, log=str(log))
    found = process_image(
        logged, folder / out, SIZES, MAPS, tile=tile, client=client, progress=watch, **THRESHOLDS["one"]
    )
    probes = 3  # that say what is white
    return len(log.read_text().splitlines()) - probes, found.tiles


def killed_driver(folder, tile):
    """Kill the process that drives, and start it anew."""
    process = call(folder, "driver", "driver-killed", tile, wait=False)
    records = folder / "driver-killed" / "work" / "records"
    tiles = (-(-json.loads((folder / "side.json").read_text()) // tile)) ** 2
    while process.poll() is None and len(list(records.glob("tiles-*/*.json"))) < tiles // 3:
        time.sleep(0.05)
    done = len(list(records.glob("tiles-*/*.json")))
    family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    for member in [process, *family]:
        if psutil.pid_exists(member.pid):
            os.kill(member.pid, signal.SIGKILL)
    process.wait()
    log = folder / "driver-killed.log"
    before = len(log.read_text().splitlines())
    call(folder, "driver", "driver-killed", tile)
    again = len(log.read_text().splitlines()) - before - 3
    wrong = call(folder, "different", "driver-killed")["different"]
    return [
        figure(
            "driver killed: tiles done before and done again", max(0, done + again - tiles), 2, tiles=tiles, before=done
        ),
        figure("driver killed: values different", wrong, 0),
    ]


def gigapixels(folder, side, tile, jobs):
    """An image that is drawn as it is read: memory of all processes together, and windows compared."""
    process = call(folder, "processes", "one", tile, side, jobs, wait=False)
    most = 0
    while process.poll() is None:
        most = max(most, memory_of(process.pid))
        time.sleep(0.2)
    found = json.loads(process.stdout.read())
    name = f"processes-{side}-one"
    checked = call(folder, "windows", name, side, found["steps"])
    return [
        figure(f"{side} x {side}: memory of all processes, GB", most / 1e9, 8.0, **found),
        figure(f"{side} x {side}: values different in windows", checked["different"], 0, values=checked["values"]),
    ]


def driver_memory(folder, sides, tile, jobs):
    """Peak of the process that drives, from small images to large ones, where no map is written."""
    rows, first = [], None
    for side in sides:
        found = call(folder, "tables_alone", side, tile, jobs)
        peak = found.pop("peak_of_the_driver_mb") * 1.048576
        first = first or peak
        rows.append(figure(f"{side} x {side}, tables alone: peak of the driver, MB", peak, MAX_GROWTH * first, **found))
    return rows


def memory_of(pid):
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        return sum(member.memory_info().rss for member in family)
    except psutil.Error:
        return 0


def write_tables(result):
    """Put the figures, and what follows from them, into the page on large images."""
    lines = ["| figure | must be at most | measured |", "| --- | --- | --- |"]
    lines += [f"| {row['figure']} | {row['must']:.4g} | {row['value']:.3g} |" for row in result["rows"]]
    cost = next(row for row in result["rows"] if "zarr to zarr" in row["figure"])["nanoseconds_per_pixel"]
    size = next(row for row in result["rows"] if row["figure"] == "values different")["bytes_per_pixel"]
    years = SLIDES * cost / (365.25 * 86400)
    days, tiles = 365.25 * years / CORES, -(-(10**9) // result["tile"] ** 2)
    estimate = [
        "| | one slide of 10^9 pixels | a million of them (estimate) |",
        "| --- | --- | --- |",
        f"| processor time | {cost:.0f} s | {years:.1f} years of one core; {days:.1f} days of {CORES} cores |",
        f"| value and scale maps, compressed | {size:.1f} GB | {SLIDES * size / 1e6:.1f} PB |",
        f"| tiles | {tiles} | {SLIDES * tiles / 1e6:.0f} million |",
    ]
    head = f"{result['side']:,} x {result['side']:,} pixels in tiles of {result['tile']}, {result['cores']} cores:"
    text = "\n".join([head, "", *lines, "", *estimate])
    page = PAGE.read_text()
    before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
    PAGE.write_text(f"{before}\n{text}\n{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=20000, help="of the image that also fits in memory")
    parser.add_argument("--large-side", type=int, default=50000, help="of the image that does not; 0 leaves it out")
    parser.add_argument(
        "--memory-sides",
        type=int,
        nargs="*",
        default=[10000, 31623, 100000],
        help="of images whose tables alone are written",
    )
    parser.add_argument("--only-memory", action="store_true", help="measure only that anew")
    parser.add_argument("--tile", type=int, default=TILE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="of each processor time, of which the median counts")
    parser.add_argument("--scratch", type=Path, help="where images and results are written, and removed")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        folder, tile = Path(name), arguments.tile
        (folder / "side.json").write_text(json.dumps(arguments.side))
        if not arguments.only_memory:
            call(folder, "draw", arguments.side)
            rows += costs(folder, tile, arguments.runs, arguments.side**2)
            forget(folder, "none", "zarr")
            rows += exactness(folder, tile, arguments.jobs)
            forget(folder, "processes")
            rows += cluster(folder, tile) + killed_driver(folder, tile)
            forget(folder, "cluster", "driver")
            if arguments.large_side:
                rows += gigapixels(folder, arguments.large_side, tile, arguments.jobs)
        rows += driver_memory(folder, arguments.memory_sides, tile, arguments.jobs)
    head = {"benchmark": "scale", "version": imtorque.__version__, "machine": platform.machine()}
    settings = {"side": arguments.side, "large_side": arguments.large_side, "tile": tile, "sizes": "3 to 91, 45"}
    result = {**head, "cores": os.cpu_count(), **settings, "rows": rows}
    if arguments.only_memory:
        known = json.loads(arguments.out.read_text())
        result = {**known, "rows": [row for row in known["rows"] if "tables alone" not in row["figure"]] + rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.out == RESULTS:
        write_tables(result)
    for row in rows:
        told = "" if row["must"] is None else f", at most {row['must']:.4g}: {'yes' if row['holds'] else 'NO'}"
        print(f"{row['figure']:50} {row['value']:.4g}{told}")


if __name__ == "__main__":
    main()
