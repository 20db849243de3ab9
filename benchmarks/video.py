"""Videos with known truth: places found, identities kept, and frames a second beside single images.

    python benchmarks/video.py [--toy] [--only extrema blobs speed]

Quality: drawn videos (imtorque.synthetic.video_scene) are encoded by x264, read back, looked at and followed. A place
counts where three quarters of the object are seen; it is found where a place of the table lies within a quarter of its
size. Speed: processor time of a video of photographs from file to table, all in one process on one thread, beside that
of the same steps as the table of single images has them (detect_edges and the 50 strongest extrema of the same frames,
held in memory, freed memory kept), and of the video's own finder on these frames. Rounds take turns. Writes
benchmarks/results/video.json and the tables in docs/measured/video.md; with --only, the other parts stay as they were,
each with the commit it was measured at.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

import av
import numpy as np
from operator_worker import SIZES_10, SIZES_45, mosaic
from run import commit, processor, put_between
from track_scores import TrackScores, TrackTable, track_scores

import imtorque
from imtorque import video as videos
from imtorque.synthetic import video_scene
from imtorque.video.processing import reuse_memory

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "video.json"
PAGE = HERE.parent / "docs" / "measured" / "video.md"
BEGIN, END = "<!-- figures: benchmarks/video.py -->", "<!-- end of figures -->"
SEEN = 0.75  # share of an object that must be seen
# Seeds of none of the videos that anything was chosen on, or looked at before; blobs take a second a frame.
VIDEOS = {"extrema": range(500, 510), "blobs": range(512, 515)}
THEN = {
    (480, 10): 147,
    (480, 45): 88,
    (1080, 10): 18.7,
    (1080, 45): 12.5,
}  # single images a second, as first published


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, nargs=2, default=(500, 100), help="timed of 640 x 480 and of 1920 x 1080")
    parser.add_argument("--toy", action="store_true", help="small and short videos: shows that everything runs")
    parser.add_argument("--only", nargs="+", choices=[*VIDEOS, "speed"], default=[*VIDEOS, "speed"])
    options = parser.parse_args()
    report = json.loads(options.out.read_text()) if options.out.exists() else {}
    report = {name: report.get(name) for name in (*VIDEOS, "speed")}
    shape, frames, most = ((180, 320), 12, 1) if options.toy else ((1080, 1920), 150, None)
    with tempfile.TemporaryDirectory() as folder:
        for find in options.only:
            if find == "speed":
                images = (
                    {(120, 160): 6}
                    if options.toy
                    else dict(zip(((480, 640), (1080, 1920)), options.frames, strict=True))
                )
                found = [
                    timed(Path(folder), image, sizes, count, 1 if options.toy else options.rounds)
                    for image, count in images.items()
                    for sizes in (SIZES_10, SIZES_45)
                ]
            else:
                found = followed(Path(folder), shape, frames, VIDEOS[find][:most], find)
            report[find] = {**measured_with(find, options), "found": found}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    text = tables(report)
    if options.out == RESULTS:
        put_between(PAGE, BEGIN, END, text)
    print(text)


def measured_with(part, options):
    """Return by what a part of the report was measured."""
    frames = f" --rounds {options.rounds} --frames {options.frames[0]} {options.frames[1]}" if part == "speed" else ""
    return {
        "command": f"python benchmarks/video.py --only {part}" + (" --toy" if options.toy else frames),
        "version": imtorque.__version__,
        "commit": commit(),
        "processor": f"{processor()} ({os.cpu_count()} cores), {platform.system()}",
        "pyav": av.__version__,
    }


def followed(folder, shape, frames, seeds, find):
    """Write videos, follow the objects in them, and judge all together."""
    scores = []
    for seed in seeds:
        scene = video_scene(seed, shape=shape, frames=frames)
        video = folder / f"drawn{seed}.mp4"
        if not video.exists():
            write_video(video, scene.frames(), gop=48)
        table = videos.process_video(video, folder / find, find=find).table
        scores.append(judged(scene, table))
    total = TrackScores(*(sum(getattr(score, name) for score in scores) for name in vars(scores[0])))
    return {
        "shape": shape,
        "videos": len(scores),
        "frames": frames,
        "true_places": total.truth,
        "found": round(total.recall, 4),
        "switches": total.switches,
        "switches_in_1500": round(1500 * total.switches / total.truth, 2),
        "false_places": total.false,
        "mota": round(total.mota, 4),
        "each": [{**vars(score), "found_share": round(score.recall, 4)} for score in scores],
    }


def judged(scene, table):
    """Return the scores of a table against the truth of a drawn video."""
    share = scene.visible()
    columns = np.loadtxt(table, delimiter=",", skiprows=1, ndmin=2)
    found = TrackTable(columns[:, 0].astype(int), columns[:, 2].astype(int), *columns[:, 3:6].T)
    return track_scores(truth(scene, share >= SEEN), found, ignored=truth(scene, (share < SEEN) & (share > 0)))


def truth(scene, chosen):
    frame, item = np.nonzero(chosen)
    return TrackTable(frame, item, scene.y[frame, item], scene.x[frame, item], scene.size[item])


def timed(folder, shape, sizes, count, rounds):
    """Return frames a second of a video from file to table, and of the same frames as single images."""
    imtorque.set_num_threads(1)
    reuse_memory()  # as the table of single images does: else pages given back and cleared anew count for them alone
    video = folder / f"{shape[1]}x{shape[0]}.mp4"
    large = mosaic(shape[0] + 2 * count, shape[1] + 2 * count)
    if not video.exists():
        write_video(video, (large[2 * k :, 2 * k :][: shape[0], : shape[1]] for k in range(count)), gop=24)
    frames = [frame.pixels for frame in videos.open_video(video).frames()]
    find = videos.FrameExtrema(sizes=tuple(sizes), count=50)

    def single():
        for frame in frames:
            imtorque.find_extrema(imtorque.detect_edges(frame), sizes=sizes, count=50)

    calls = {
        "single images": single,
        "same finder, frames in memory": lambda: [find(frame) for frame in frames],
        "video": lambda: videos.process_video(video, folder / "timed", find=find, jobs=1),
        "decoding alone": lambda: [frame.number for frame in videos.open_video(video).frames()],
    }
    videos.process_video(video, folder / "timed", find=find, jobs=1, limit=20)  # loads what is loaded once
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    rates = {name: round(count / min(seconds), 2) for name, seconds in times.items()}
    return {
        "shape": shape,
        "frames": count,
        "sizes": len(sizes),
        "frames_a_second": rates,
        "share_of_single_images": round(rates["video"] / rates["single images"], 3),
        "share_of_same_finder": round(rates["video"] / rates["same finder, frames in memory"], 3),
        "rounds": rounds,
    }


def tables(report):
    """Return the report as text and two tables in Markdown."""
    drawn = [(find, report[find]) for find in VIDEOS if report[find]]
    lines = []
    if drawn:
        first = drawn[0][1]["found"]
        lines += [
            f"Drawn videos of {first['shape'][1]} × {first['shape'][0]}, {first['frames']} frames each:",
            "",
            "| looked for | videos | true places | found | switches | in 1,500 places | false places | MOTA | at |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
    for find, part in drawn:
        row = part["found"]
        lines.append(
            f"| {find} | {row['videos']} | {row['true_places']:,} | {100 * row['found']:.1f} % | "
            f"{row['switches']} | {row['switches_in_1500']} | {row['false_places']} | {row['mota']:.3f} | "
            f"{part['version']}, commit {part['commit']} |"
        )
    if not report["speed"]:
        return "\n".join(lines)
    speed = report["speed"]
    lines += [
        "",
        f"Photographs ({speed['processor']}, version {speed['version']}, commit {speed['commit']}; "
        f"`{speed['command']}`):",
        "",
        "| photographs | sizes | frames a second, file to table | single images a second | share | "
        "share of those first published | the same finder on frames in memory | share | decoding |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in speed["found"]:
        rates = row["frames_a_second"]
        decoding = rates["video"] / rates["decoding alone"]
        then = THEN.get((row["shape"][0], row["sizes"]))
        then_share = f"{100 * rates['video'] / then:.0f} %" if then else "–"
        lines.append(
            f"| {row['shape'][1]} × {row['shape'][0]} | {row['sizes']} | {rates['video']:.1f} | "
            f"{rates['single images']:.1f} | {100 * row['share_of_single_images']:.0f} % | "
            f"{then_share} | "
            f"{rates['same finder, frames in memory']:.1f} | {100 * row['share_of_same_finder']:.0f} % | "
            f"{100 * decoding:.0f} % |"
        )
    return "\n".join(lines)


def write_video(path, frames, gop):
    """Encode grey frames by x264 at its usual quality, with closed groups of so many frames."""
    with av.open(str(path), "w") as container:
        options = {"x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0"}
        stream = container.add_stream("libx264", rate=25, options=options)
        stream.pix_fmt = "yuv420p"
        for k, frame in enumerate(frames):
            if k == 0:
                stream.height, stream.width = frame.shape
            shown = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="gray")
            container.mux(stream.encode(shown.reformat(format="yuv420p")))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main()
