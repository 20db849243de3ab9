"""Processor time of `imtorque maps` over very many small files: on the processes of this machine, and on a cluster.

    python benchmarks/scale_files.py [--count 100000] [--side 64] [--workers 2] [--kinds files,table] [--out FILE]

Draws images into a temporary folder, each another one, and goes over them four times: with files for each image
(value and scale map, extrema, record), and with one table of extrema only; either by --jobs and by --scheduler. The
maps of a small image take a millisecond, so that what the cluster adds is seen; blobs take ten times that. The time
of a cluster is that of the command, of the scheduler and of all workers, started as docs/guides/clusters.md says.
Writes benchmarks/results/scale_files.json and the table in docs/guides/clusters.md. Linux only: time is
read from /proc.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import distributed
import numpy as np
from PIL import Image
from run import put_between

from imtorque import __version__

RESULTS = Path(__file__).parent / "results" / "scale_files.json"
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "clusters.md"
BEGIN, END = "<!-- figures: benchmarks/scale_files.py -->", "<!-- end of figures -->"
TICKS = os.sysconf("SC_CLK_TCK")
VERB = ["maps", "--arrays", "none", "--extrema", "10"]
PER_FOLDER = 1000
SETTINGS = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--kinds", default="files,table", help="what is written")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        listed = draw(folder, options.count, options.side)
        rows = measure(folder, listed, options.workers, options.kinds.split(","))
    for row in rows:
        row["milliseconds_per_file"] = round(1000 * row["processor_seconds"] / options.count, 3)
    report = {
        "command": f"python benchmarks/scale_files.py --count {options.count} --side {options.side}",
        "version": __version__,
        "distributed": distributed.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "files": options.count,
        "side": options.side,
        "workers": options.workers,
        "settings": SETTINGS,
        "rows": rows,
        "cluster_to_jobs": {
            here["output"]: round(there["processor_seconds"] / here["processor_seconds"], 3)
            for here, there in zip(rows[::2], rows[1::2], strict=True)
        },
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    text = table(report)
    if options.out == RESULTS:
        put_between(PAGE, BEGIN, END, text)
    print(text)


def draw(folder, count, side):
    """Write images of a few discs in noise; return the file that lists them."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:side, :side]
    paths = []
    for k in range(count):
        where = folder / "in" / f"{k // PER_FOLDER:04}"
        if k % PER_FOLDER == 0:
            where.mkdir(parents=True)
        image = rng.normal(60, 4, (side, side))
        for cy, cx, radius in rng.uniform((8, 8, 4), (side - 8, side - 8, 8), (3, 3)):
            image += 120 * np.clip(radius - np.hypot(y - cy, x - cx) + 0.5, 0, 1)
        paths.append(where / f"{k:07}.png")
        Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(paths[-1], compress_level=1)
    listed = folder / "list.txt"
    listed.write_text("".join(f"{path}\n" for path in paths))
    return listed


def measure(folder, listed, workers, kinds):
    """Go over all files here and there for each kind of output; both tables must be the same to the bit."""
    rows, digests = [], []
    for kind in kinds:
        for where in ("jobs", "cluster"):
            table = folder / f"{kind}-{where}.parquet"
            arguments = ["--out", str(folder / f"{kind}-{where}")] if kind == "files" else []
            if kind == "table" or where == "cluster":
                arguments += ["--table", str(table)]
            rows.append({"output": kind, "where": where, **over(listed, arguments, where, workers, folder)})
            if kind == "table":
                digests.append(hashlib.sha256(table.read_bytes()).hexdigest())
    assert len(set(digests)) <= 1, "the tables must be the same"
    return rows


def over(listed, arguments, where, workers, folder):
    """Run the command once; return what it took."""
    command = [sys.executable, "-m", "imtorque", *VERB, "--paths", str(listed), *arguments]
    if where == "jobs":
        return timed([*command, "--jobs", str(workers)], [])
    with cluster(workers, folder) as (address, processes):
        return timed([*command, "--scheduler", address], processes)


def timed(command, processes):
    before, children, start = spent(processes), os.times(), time.perf_counter()
    with open(os.devnull, "w") as nowhere:
        subprocess.run(command, stdout=nowhere, stderr=nowhere, check=True)
    after = os.times()
    own = after.children_user + after.children_system - children.children_user - children.children_system
    parts = {name: round(seconds - before[name], 2) for name, seconds in spent(processes).items()}
    total = own + sum(parts.values())
    found = {"processor_seconds": round(total, 2), "wall_seconds": round(time.perf_counter() - start, 2)}
    return {**found, "of": {"command": round(own, 2), **parts}} if processes else found


@contextmanager
def cluster(workers, folder):
    """Start a scheduler and workers of one thread each."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    common = ["--no-dashboard", "--scheduler-file", str(file)]
    worker = ["worker", "--nthreads", "1", "--no-nanny"]
    kinds = [["scheduler", "--port", "0", "--host", "127.0.0.1"], *[worker] * workers]
    programs = [[sys.executable, "-m", f"distributed.cli.dask_{kind[0]}", *kind[1:], *common] for kind in kinds]
    quiet = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
        "env": {**os.environ, **SETTINGS},
    }
    processes = [subprocess.Popen(program, **quiet) for program in programs]
    try:
        while not file.exists():
            time.sleep(0.1)
        with distributed.Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(workers, timeout=60)
            address = client.scheduler.address
        yield address, {"scheduler": processes[:1], "workers": processes[1:]}
    finally:
        for process in processes:
            process.kill()
            process.wait()


def spent(processes):
    """Return the processor time in seconds that processes have taken until now, by kind."""
    found = {}
    for kind, some in dict(processes).items():
        fields = [Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split() for one in some]
        found[kind] = sum(int(number) for line in fields for number in line[11:15]) / TICKS
    return found


def table(report):
    """Return the report as text and a table in Markdown."""
    names = {"files": "maps, extrema and a record for each image", "table": "one table"}
    places = {"jobs": f"`--jobs {report['workers']}`", "cluster": f"a cluster of {report['workers']} workers"}
    lines = [
        f"`imtorque maps --extrema 10` over {report['files']:,} images of {report['side']} × {report['side']} pixels "
        f"({report['machine']}; `{report['command']}`):",
        "",
        "| written | by | processor time a file | files a second | core hours for a million |",
        "|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        cost, rate = row["milliseconds_per_file"], report["files"] / row["wall_seconds"]
        head = f"| {names[row['output']]} | {places[row['where']]}"
        lines.append(f"{head} | {cost:.2f} ms | {rate:.0f} | {cost / 3.6:.1f} |")
    ratios = " and ".join(f"{ratio:.2f} ({names[kind]})" for kind, ratio in report["cluster_to_jobs"].items())
    return "\n".join([*lines, "", f"The cluster takes {ratios} times the processor time of `--jobs`."])


if __name__ == "__main__":
    main()
