"""Hundreds of small spots that wander, as of colloids: imtorque track with --sizes alone beside trackpy.

    python benchmarks/spots.py [--toy]

Videos are drawn (imtorque.synthetic.spot_scene, 550 spots of 5 to 11 pixels), for the one that comes with trackpy's
examples is in no package. trackpy has the diameter, least mass and range with the best accuracy (MOTA) on another
video, and of links with known places the range that does best on them. Links take one thread; times are of the same
places, in turns. Writes benchmarks/results/spots.json and a table in docs/measured/video.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import tifffile
import trackpy
from run import commit, processor, put_between
from track_scores import TrackTable, track_scores

import imtorque
from imtorque import Extrema
from imtorque.synthetic import spot_scene
from imtorque.video import Linker

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "spots.json"
PAGE = HERE.parent / "docs" / "measured" / "video.md"
BEGIN, END = "<!-- figures: benchmarks/spots.py -->", "<!-- end of spots -->"
CHOSEN_ON, SEEDS = 600, (601, 602, 603)  # trackpy's settings on the first; nothing was chosen on the others
FRAMES, LONG = 150, 25  # of a video; of a track that counts
DIAMETERS, MASSES, RANGES, MEMORY = (7, 9, 11), (25, 50, 100, 150), (3, 5, 7), 3  # of which trackpy has the best
WANDERING, STEP = (60, 300), 4.0  # objects whose places are known, in 150 frames, and their steps
WANDERING_RANGES = range(8, 26, 2)
REACH = 0.5  # of a spot's diameter: how far from it a place may lie


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--toy", action="store_true", help="short videos and few choices: shows that everything runs")
    options = parser.parse_args()
    trackpy.quiet()
    frames = 30 if options.toy else FRAMES
    how = best_settings(1 if options.toy else None)
    with tempfile.TemporaryDirectory() as folder:
        videos = [followed(Path(folder), seed, frames, how) for seed in (SEEDS[:1] if options.toy else SEEDS)]
    report = {
        "benchmark": "spots",
        "version": imtorque.__version__,
        "commit": commit(),
        "processor": f"{processor()} ({os.cpu_count()} cores), {platform.system()}",
        "trackpy": {"version": trackpy.__version__, **how},
        "frames": frames,
        "videos": videos,
        "links": [links(count, frames) for count in WANDERING],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    text = tables(report)
    if options.out == RESULTS:
        put_between(PAGE, BEGIN, END, text)
    print(text)


def best_settings(most):
    """Return the settings with which trackpy follows the first 30 frames of a video best."""
    scene = spot_scene(CHOSEN_ON, frames=30)
    images = list(scene.frames())
    tried = {}
    for diameter in DIAMETERS[:most]:
        for mass in MASSES[:most]:
            places = trackpy.batch(images, diameter, minmass=mass, processes=1)
            for reach in RANGES[:most] if len(places) else ():
                tried[diameter, mass, reach] = scores(scene, linked(places, reach)).mota
    return dict(zip(("diameter", "minmass", "search_range"), max(tried, key=tried.get), strict=True))


def linked(places, reach):
    """Return trackpy's tracks of a table of places."""
    table = trackpy.link(places, reach, memory=MEMORY)
    columns = (table[name].to_numpy() for name in ("frame", "particle", "y", "x", "size"))
    return TrackTable(*columns)


def followed(folder, seed, frames, how):
    """Follow the spots of a video by both, and link the same places by both."""
    scene = spot_scene(seed, frames=frames)
    path = folder / f"spots{seed}.tif"
    images = np.stack(list(scene.frames()))
    tifffile.imwrite(path, images)
    command = [sys.executable, "-m", "imtorque", "track", str(path), "--sizes", "5-11", "--out", str(folder)]
    subprocess.run([*command, "--jobs", "1"], check=True, stdout=subprocess.DEVNULL)
    columns = np.loadtxt(folder / f"{path.name}.track.csv", delimiter=",", skiprows=1)
    ours = TrackTable(columns[:, 0].astype(int), columns[:, 2].astype(int), *columns[:, 3:6].T)
    theirs = linked(trackpy.batch(images, how["diameter"], minmass=how["minmass"], processes=1), how["search_range"])
    return {
        "seed": seed,
        "spots": scene.x.shape[1],
        "imtorque": told(scene, ours),
        "trackpy": told(scene, theirs),
        "linking_ms": linking_times(ours, columns[:, 6], frames, how["search_range"]),
    }


def told(scene, tracks):
    """Return what tracks are worth."""
    found = scores(scene, tracks)
    long = int(np.count_nonzero(np.unique(tracks.track, return_counts=True)[1] >= LONG))
    return {
        "long_tracks": long,
        "found": round(found.recall, 4),
        "false_places": found.false,
        "switches": found.switches,
        "mota": round(found.mota, 4),
    }


def scores(scene, tracks):
    frame, item = np.indices(scene.x.shape)
    truth = (frame.ravel(), item.ravel(), scene.y.ravel(), scene.x.ravel(), np.tile(scene.size, len(scene)))
    return track_scores(TrackTable(*truth), tracks, reach=REACH)


def linking_times(table, torque, frames, reach):
    """Return milliseconds a frame to link the same places, and how many there are; the fastest of three turns."""
    rows = [table.frame == number for number in range(frames)]
    extrema = [Extrema(table.y[here], table.x[here], table.size[here], torque[here]) for here in rows]
    places = pd.DataFrame({"y": table.y, "x": table.x, "frame": table.frame, "size": table.size})

    def ours():
        linker = Linker()
        for here in extrema:
            linker.link(here)

    times = {"imtorque": [], "trackpy": []}
    for _ in range(3):
        for name, call in (("imtorque", ours), ("trackpy", lambda: trackpy.link(places, reach, memory=MEMORY))):
            start = time.process_time()
            call()
            times[name].append(1e3 * (time.process_time() - start) / frames)
    return {"places": round(len(table.y) / frames), **{name: round(min(taken), 2) for name, taken in times.items()}}


def links(count, frames):
    """Return how often objects whose places are known change their number, of how many times they may."""
    scene = spot_scene(0, shape=(480, 640), frames=frames, count=count, size=(9.0, 9.0), step=STEP)
    torque, linker = np.linspace(0.6, 0.5, count), Linker()  # places come by strength, as those of a frame do
    ours = np.stack(
        [linker.link(Extrema(y, x, np.full(count, 9.0), torque)) for y, x in zip(scene.y, scene.x, strict=True)]
    )
    places = {"y": scene.y.ravel(), "x": scene.x.ravel(), "frame": np.repeat(np.arange(frames), count)}
    theirs = {}
    for reach in WANDERING_RANGES:
        try:
            table = trackpy.link(pd.DataFrame(places), reach, memory=0)
        except trackpy.SubnetOversizeException:
            continue
        theirs[reach] = switches(table["particle"].to_numpy().reshape(frames, count))
    best = min(theirs, key=theirs.get)
    return {
        "objects": count,
        "links": (frames - 1) * count,
        "imtorque": switches(ours),
        "trackpy": theirs[best],
        "range": best,
    }


def switches(numbers):
    return int(np.count_nonzero(numbers[1:] != numbers[:-1]))


def tables(report):
    """Return the report as two tables in Markdown."""
    how = report["trackpy"]
    lines = [
        f"{report['videos'][0]['spots']} spots in {report['frames']} frames ({report['processor']}, version "
        f"{report['version']}, commit {report['commit']}; `python benchmarks/spots.py`). trackpy {how['version']} with "
        f"diameter {how['diameter']}, minmass {how['minmass']}, search_range {how['search_range']}, the best on "
        f"another video; imtorque with `--sizes 5-11` alone:",
        "",
        "| video | by | tracks of 25 frames and more | places found | false places | switches | MOTA | "
        "linking, ms a frame |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for video in report["videos"]:
        for name in ("imtorque", "trackpy"):
            row = video[name]
            lines.append(
                f"| {video['seed']} | {name} | {row['long_tracks']} | {100 * row['found']:.1f} % | "
                f"{row['false_places']:,} | {row['switches']:,} | {row['mota']:.3f} | {video['linking_ms'][name]} |"
            )
    lines += [
        "",
        f"Objects that wander in steps of {STEP:g} pixels along either axis, whose places are known:",
        "",
        "| objects | links | switches, imtorque | switches, trackpy with its best range | range |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['objects']} | {row['links']:,} | {row['imtorque']:,} | {row['trackpy']:,} | {row['range']} |"
        for row in report["links"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
