"""Memory and load of `imtorque count` over a thousand images, stopped by Ctrl-C half way and taken up again.

    python benchmarks/batch.py --images DIR [--count 1000]

DIR holds photographs, for example BSDS500's; they are used in turn, mirrored and turned, so that no two are the same.
Writes benchmarks/results/batch.json. Linux only: memory and time are read from /proc.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from imtorque import __version__
from imtorque.files import find_images

TICKS = os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", required=True)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
    with tempfile.TemporaryDirectory() as folder:
        inputs, out = Path(folder, "in"), Path(folder, "out")
        copy_images(find_images([options.images]), inputs, options.count)
        first = watch(inputs, out, stop_after=options.count // 2)
        second = watch(inputs, out)
        again = watch(inputs, out)
        tables = len(list(out.glob("*.csv")))
    report = {
        "command": f"imtorque count, {options.count} images",
        "version": __version__,
        "cores": os.cpu_count(),
        "stopped": first,
        "resumed": second,
        "repeated": again,
        "tables": tables,
    }
    Path(__file__).with_name("results").joinpath("batch.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def copy_images(sources, folder, count):
    folder.mkdir()
    for k in range(count):
        with Image.open(sources[k % len(sources)]) as image:
            turn = (k // len(sources)) % 3
            turned = image if turn == 0 else image.transpose(Image.Transpose(turn - 1))
            turned.save(folder / f"{k:04}.png", compress_level=1)


def watch(inputs, out, stop_after=None):
    """Run the command, look at its processes every half second, and return what was seen."""
    command = [sys.executable, "-m", "imtorque", "count", str(inputs), "--out", str(out), "--json"]
    began, before = time.perf_counter(), machine_ticks()
    report, memory, seconds = out.with_name("report.json"), [], 0.0
    with open(report, "w") as file:
        running = subprocess.Popen(command, stdout=file, start_new_session=True)
    while running.poll() is None:
        mebibytes, spent = usage(running.pid)
        memory.append(mebibytes)
        seconds = max(seconds, spent)
        if stop_after is not None and len(list(out.glob("*.count.json"))) >= stop_after:
            os.killpg(running.pid, signal.SIGINT)
            stop_after = None
        time.sleep(0.5)
    wall = time.perf_counter() - began
    spent = [after - start for after, start in zip(machine_ticks(), before, strict=True)]
    text = report.read_text()
    statuses = [image["status"] for image in json.loads(text)["images"]] if text else []
    quarter = max(1, len(memory) // 4)
    return {
        "status": running.returncode,
        "images": {status: statuses.count(status) for status in sorted(set(statuses))},
        "records": len(list(out.glob("*.count.json"))),
        "seconds": round(wall, 1),
        "cores_busy": round(seconds / wall, 2),
        "machine_idle": round((spent[3] + spent[4]) / sum(spent), 2),  # the rest went to this and to other programs
        "memory_mib": {
            "largest": max(memory),
            "mean_first_quarter": round(sum(memory[:quarter]) / quarter),
            "mean_last_quarter": round(sum(memory[-quarter:]) / quarter),
        },
    }


def machine_ticks():
    """Return the time all cores have spent: user, nice, system, idle, waiting for files, ..."""
    return [int(number) for number in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]


def usage(group):
    """Return the memory in MiB and the processor time in seconds of all processes of a group."""
    memory, ticks = 0, 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                memory += int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                ticks += int(fields[11]) + int(fields[12])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return round(memory / 2**20), ticks / TICKS


if __name__ == "__main__":
    main()
