"""Measure the operator beside its peers: benchmarks/results/operator.json, and the tables in docs/measured/speed.md.

    make bench

Both sides run in one process on the same images, in two regimes of the allocator: "default", a plain process, and
"warm", where freed memory is kept instead of being given back and faulted in again. Claims are made on "warm".
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "measured" / "speed.md"
SHAPES = [(480, 640), (1080, 1920), (2160, 3840)]
WARM = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "268435456"}
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"


def measure(regime: str, threads: int, shapes: list[tuple[int, int]], repeats: int, *, toy: bool) -> dict:
    print(f"{regime}, {threads} thread{'s' if threads > 1 else ''} ...", file=sys.stderr, flush=True)
    options = ["--threads", threads, "--repeats", repeats, "--shapes", json.dumps(shapes)]
    options += ["--extras"] if threads == 1 and regime == "warm" else []
    options += ["--toy"] if toy else []
    return {"regime": regime, **work(options, WARM if regime == "warm" else {})}


def measure_memory(shapes: list[tuple[int, int]]) -> dict[str, float]:
    """Bytes per pixel beyond input and output; with every array mapped for itself, so that none hides in the heap."""
    apart = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
    return work(["--threads", 1, "--repeats", 1, "--shapes", json.dumps(shapes), "--memory"], apart)


def work(options: list, environment: dict[str, str]) -> dict:
    command = [sys.executable, str(HERE / "operator_worker.py"), *map(str, options)]
    result = subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout)


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put a text between two marks of a page."""
    before, after = page.read_text().split(begin)[0], page.read_text().split(end)[1]
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as info:
            return next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# Additions of which each waits for the one before, one a cycle; prints nanoseconds for each.
CHAIN = """
#include <stdio.h>
#include <time.h>
#define ADD x += i; __asm__ volatile("" : "+r"(x));
int main(void) {
    unsigned long x = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned long i = 0; i < 50000000; ++i) { ADD ADD ADD ADD ADD ADD ADD ADD }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%g", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 4e8);
}
"""


def gigahertz() -> float:
    """The clock, measured: what the system names may be exceeded."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("benchmarks/run.py measures the clock by a C program: a compiler named cc must be installed")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "chain.c", Path(folder) / "chain"
        source.write_text(CHAIN)
        subprocess.run([compiler, "-O2", source, "-o", program], check=True)
        taken = [float(subprocess.run([program], capture_output=True, check=True).stdout) for _ in range(5)]
    return 1 / min(taken)


def commit() -> str:
    answer = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"


def table(results: dict) -> str:
    """The warm regime: milliseconds, and how many times faster than SIFT."""
    runs = {run["threads"]: run["times"] for run in results["runs"] if run["regime"] == "warm"}
    images = list(next(iter(runs.values())))
    head = [f"{image.replace('x', '×')}, {threads} thr." for image in images for threads in runs]
    names = list(dict.fromkeys(name for times in runs.values() for image in images for name in times[image]))
    lines = ["| ms (times faster than SIFT) | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for name in names:
        cells = []
        for image in images:
            for times in runs.values():
                ms = times[image].get(name, {}).get("min")
                sift = times[image]["cv2 SIFT"]["min"]
                cells.append(
                    "" if ms is None else f"{ms:.1f} ({sift / ms:.1f}×)" if name != "cv2 SIFT" else f"{ms:.1f}"
                )
        lines.append(
            f"| {'' if name.startswith(('cv2', 'skimage')) else 'torque: '}{name} | " + " | ".join(cells) + " |"
        )
    extras = next(run for run in results["runs"] if run["regime"] == "warm" and "linearity" in run)
    first = images[0]
    speed = runs[1][images[min(1, len(images) - 1)]]["maps, 45 sizes"]["min"]
    width, height = map(int, images[min(1, len(images) - 1)].split("x"))
    memory = ", ".join(
        f"{value:.1f} at {image.replace('x', '×')}" for image, value in results["memory_bytes_per_pixel"].items()
    )
    votes = extras["contribution"]
    lines += [
        "",
        f"Minimum of {results['repeats']} rounds, freed memory kept, {results['processor']}, "
        f"commit {results['commit']}. Value and scale maps: "
        f"{width * height * 45 / speed / 1e6:.2f} billion pixel·sizes per second on one thread; "
        f"largest error against the definition {extras['largest_error']:.1e}; "
        f"memory beyond input and output in bytes per pixel: {memory}. Disks cost "
        f"{runs[1][first]['maps, 45 sizes, disks']['min'] / runs[1][first]['maps, 45 sizes']['min']:.1f} times the "
        f"squares. The contributions to {votes['extrema']} extrema at 481×321 take {votes['contribution_ms']:.1f} ms, "
        f"the maps there {votes['maps_ms']:.1f} ms. {pattern_costs(extras['patterns'])}",
        "",
        "Cost is linear in pixels and in sizes (one thread):",
        "",
        "| pixels, 45 sizes | ms | ns per pixel and size | | sizes, 640×480 | ms |",
        "|---|---|---|---|---|---|",
    ]
    for pixels, sizes in zip(extras["linearity"]["pixels"], extras["linearity"]["sizes"], strict=False):
        lines.append(
            f"| {pixels['width']}×{pixels['height']} | {pixels['ms']:.1f} | {pixels['ns_per_pixel_and_size']:.2f} | | "
            f"{sizes['sizes']} | {sizes['ms']:.1f} |"
        )
    lines += ["", *strongest_table(extras["strongest"]), "", *cost_table(extras, results["gigahertz"])]
    return "\n".join(lines)


def strongest_table(rows: list[dict]) -> list[str]:
    lines = [
        "The 50 strongest extrema from given edges, 1920×1080, one thread. Bounds leave most patches out; on noise "
        "they help least, and most are computed:",
        "",
        "| image | sizes | patches computed | ms | maps, ms |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row["image"],
            row["sizes"],
            f"{row['share']:.0%}",
            f"{row['search_ms']:.1f}",
            f"{row['maps_ms']:.1f}",
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def cost_table(extras: dict, gigahertz: float) -> list[str]:
    """What the parts cost, and beside it what the machine allows."""
    costs, small = extras["costs"], extras["small"]
    bandwidth = costs["copy_gb_per_s"]
    # The maps read two floats a pixel and write two numbers; a size takes 8 loads of 8 numbers, two of them a cycle.
    limits = {"tables": 16 / bandwidth, "size": 8 / 8 / 2 / gigahertz, "survey": 8 / bandwidth, "edges": 9 / bandwidth}
    names = {
        "edges": "edges, for each pixel (reads 1 byte, writes 8)",
        "survey": "survey of the forces, for each pixel (reads 8 bytes)",
        "tables": "maps, for each pixel (reads 8 bytes, writes 8)",
        "size": "maps, for each pixel and size (8 look-ups)",
        "search": "50 strongest extrema, for each pixel and size",
        "votes": "contributions to 200 extrema, for each edge pixel",
    }
    lines = [
        f"What the parts cost on one thread, beside the machine's limit: two vector loads a cycle at {gigahertz:.1f} "
        f"GHz (by a chain of additions), {bandwidth:.1f} GB/s of a copy in memory:",
        "",
        "| part | ns | limit, ns | share of the limit reached |",
        "|---|---|---|---|",
    ]
    for key, name in names.items():
        limit = limits.get(key)
        reached = ["", ""] if limit is None else [f"{limit:.2f}", f"{limit / costs[key]:.0%}"]
        lines.append(f"| {name} | {costs[key]:.2f} | {reached[0]} | {reached[1]} |")
    cells = "; ".join(f"{re.sub(r'(?<=[0-9])x', '×', name)}: {us:.0f}" for name, us in small.items())
    large = "; ".join(f"{row['width']}×{row['height']}: {row['ns_per_pixel']:.1f}" for row in extras["large"])
    return [
        *lines,
        "",
        f"Small images, microseconds of processor time. {cells}.",
        "",
        f"Large images, nanoseconds per pixel of the maps with 45 sizes. {large}.",
    ]


def pattern_costs(rows: list[dict[str, float]]) -> str:
    """What other members of the family cost beside the torque of one size, over the sizes measured."""
    ratios = {name: [row[name] / row["torque_map"] for row in rows] for name in ("patch_moments", "star", "closure")}
    spans = {name: f"{min(found):.1f} to {max(found):.1f}" for name, found in ratios.items()}
    sizes = ", ".join(str(row["size"]) for row in rows)
    return (
        f"Beside the torque of one size ({sizes}, 1920×1080), all four moments take {spans['patch_moments']} times as "
        f"long, stars {spans['star']} times, closure {spans['closure']} times."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "operator.json")
    parser.add_argument(
        "--toy", action="store_true", help="small images, no table in the docs: shows that everything runs"
    )
    options = parser.parse_args()
    shapes = [(60, 80), (120, 160)] if options.toy else SHAPES
    runs = [measure(r, t, shapes, options.repeats, toy=options.toy) for r in ("default", "warm") for t in (1, 2)]
    results = {
        "command": "make bench",
        "commit": commit(),
        "processor": f"{processor()} ({os.cpu_count()} cores), {platform.system()}",
        "gigahertz": gigahertz(),
        "python": platform.python_version(),
        "repeats": options.repeats,
        "runs": runs,
        "memory_bytes_per_pixel": measure_memory(shapes),
    }
    text = table(results)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    if not options.toy and PAGE.exists() and BEGIN in PAGE.read_text():
        put_between(PAGE, BEGIN, END, text)
    print(text)


if __name__ == "__main__":
    main()
