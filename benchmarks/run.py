"""Measure the operator beside its peers and write benchmarks/results/operator.json and the table in README.md.

    make bench

Both sides run in one process on the same pictures, in two regimes of the allocator: "default", a plain process, and
"warm", where freed memory is kept instead of being given back and faulted in again. Claims are made on "warm".
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "speed.md"
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


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as info:
            return next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def commit() -> str:
    answer = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"


def table(results: dict) -> str:
    """The warm regime: milliseconds, and how many times faster than SIFT."""
    runs = {run["threads"]: run["times"] for run in results["runs"] if run["regime"] == "warm"}
    pictures = list(next(iter(runs.values())))
    head = [f"{picture.replace('x', '×')}, {threads} thr." for picture in pictures for threads in runs]
    names = list(dict.fromkeys(name for times in runs.values() for picture in pictures for name in times[picture]))
    lines = ["| ms (times faster than SIFT) | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    for name in names:
        cells = []
        for picture in pictures:
            for times in runs.values():
                ms = times[picture].get(name, {}).get("min")
                sift = times[picture]["cv2 SIFT"]["min"]
                cells.append(
                    "" if ms is None else f"{ms:.1f} ({sift / ms:.1f}×)" if name != "cv2 SIFT" else f"{ms:.1f}"
                )
        lines.append(
            f"| {'' if name.startswith(('cv2', 'skimage')) else 'torque: '}{name} | " + " | ".join(cells) + " |"
        )
    extras = next(run for run in results["runs"] if run["regime"] == "warm" and "linearity" in run)
    first = pictures[0]
    speed = runs[1][pictures[min(1, len(pictures) - 1)]]["maps, 45 sizes"]["min"]
    width, height = map(int, pictures[min(1, len(pictures) - 1)].split("x"))
    memory = ", ".join(
        f"{value:.1f} at {picture.replace('x', '×')}" for picture, value in results["memory_bytes_per_pixel"].items()
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
    return "\n".join(lines)


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
        "--toy", action="store_true", help="small pictures, no table in the docs: shows that everything runs"
    )
    options = parser.parse_args()
    shapes = [(60, 80), (120, 160)] if options.toy else SHAPES
    runs = [measure(r, t, shapes, options.repeats, toy=options.toy) for r in ("default", "warm") for t in (1, 2)]
    results = {
        "command": "make bench",
        "commit": commit(),
        "processor": f"{processor()} ({os.cpu_count()} cores), {platform.system()}",
        "python": platform.python_version(),
        "repeats": options.repeats,
        "runs": runs,
        "memory_bytes_per_pixel": measure_memory(shapes),
    }
    text = table(results)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    if not options.toy and PAGE.exists() and BEGIN in (page := PAGE.read_text()):
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    print(text)


if __name__ == "__main__":
    main()
