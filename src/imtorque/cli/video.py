"""The verb for videos: options in, segments on all cores, a table and an overlay out."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from imtorque import __version__
from imtorque.cli.batch import Outcome, parameters, process
from imtorque.cli.many import client_of
from imtorque.cli.running import DEFAULT_OUT, Json, Out, one_line_errors
from imtorque.cli.torque import SIGNS, Sign
from imtorque.cli.video_tasks import TrackVideo
from imtorque.core.torque import default_sizes
from imtorque.io.atomic import remove_leftovers
from imtorque.io.errors import describe_error
from imtorque.video.detection import FrameBlobs, FrameExtrema
from imtorque.video.linking import Linking
from imtorque.video.processing import Progress
from imtorque.video.sources import RATE, open_video


class Find(StrEnum):
    """What is looked for in frames."""

    extrema = "extrema"
    blobs = "blobs"


class TableKind(StrEnum):
    """Forms of the table."""

    csv = "csv"
    parquet = "parquet"


def video(
    videos: Annotated[
        list[str],
        typer.Argument(
            metavar="FILM",
            show_default=False,
            help="Videos, folders of images, TIFF stacks; or a camera: its number, or a device such as /dev/video0.",
        ),
    ],
    out: Out = DEFAULT_OUT,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Look at every N-th frame.")] = 1,
    track: Annotated[
        bool, typer.Option("--track", help="Link places over time: each object keeps its number.")
    ] = False,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Write a video with boxes, and with numbers and tails where linked.")
    ] = False,
    find: Annotated[Find, typer.Option(help="extrema are fast; blobs are surer, and about twenty times slower.")] = (
        Find.extrema
    ),
    sizes: Annotated[
        str | None, typer.Option(metavar="20-60", help="Smallest and largest size to look for, in pixels.")
    ] = None,
    sign: Annotated[
        Sign, typer.Option(help="Which objects to look for; auto may choose anew in each frame.")
    ] = Sign.both,
    count: Annotated[int, typer.Option(min=1, metavar="N", help="Most places in a frame.")] = 50,
    memory: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many looked-at frames an object may be hidden.")
    ] = Linking.memory,
    reach: Annotated[
        float, typer.Option(min=0.01, help="How far from where it is expected an object may be, in its sizes.")
    ] = Linking.search_range,
    table: Annotated[TableKind, typer.Option(help="Form of the table; parquet needs pyarrow.")] = TableKind.csv,
    frames: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Look at so many frames at most; a camera stops then.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.001, help="Frames a second, of folders and stacks.")] = RATE,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes; as many as cores by default.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:8786", help="Work on a cluster of dask's instead of here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find objects in every frame and follow them: a table frame,time,track,y,x,size,torque, and an overlay.

    Segments of a video are worked on side by side; the table is the same to the byte however many there are. Ctrl-C
    leaves the table and the overlay of the frames that were done; a camera is ended that way. With --scheduler the
    same command goes on from the segments that were done.

    Example: [bold]imtorque video video.mp4 --every 5 --track --overlay[/bold]

    Of a camera, a minute long: [bold]imtorque video 0 --track --overlay --frames 1500[/bold]
    """
    chosen = _range(sizes) if sizes is not None else None
    finder = _finder(find, chosen, sign, count)
    linking = Linking(memory, reach) if track else None
    if scheduler is not None and jobs is not None:
        raise typer.BadParameter("must be left out with --scheduler", param_hint="--jobs")
    with ExitStack() as stack:
        with one_line_errors():
            client = None if scheduler is None else stack.enter_context(client_of(scheduler))
        progress = stack.enter_context(_progress())
        task = TrackVideo(finder, every, linking, overlay, table.value, frames, rate, jobs, progress, client)
        _run(task, videos, out, as_json)


def _run(task: TrackVideo, videos: list[str], out: Path, as_json: bool) -> None:
    """Do all videos one after the other, and end with the status that says whether all went well."""
    outcomes: list[Outcome] = []
    stopped = ""
    try:
        with one_line_errors():
            out.mkdir(parents=True, exist_ok=True)
            remove_leftovers(out)
            paths = [Path(video) for video in videos if not _is_camera(video)]
            cameras = (_from_camera(task, video, out) for video in videos if _is_camera(video))
            for outcome in chain(process(task, paths, out, jobs=1), cameras):
                _tell(outcome, quiet=as_json)
                outcomes.append(outcome)
    except KeyboardInterrupt as interrupt:
        stopped = "; ".join(getattr(interrupt, "__notes__", ())) or "nothing was done yet"
        typer.echo(f"stopped: {stopped}", err=True)
    if as_json:
        shown = [{key: value for key, value in asdict(outcome).items() if value is not None} for outcome in outcomes]
        head: dict[str, Any] = {
            "verb": task.verb,
            "version": __version__,
            "parameters": parameters(task),
            "out": str(out),
        }
        typer.echo(json.dumps(head | {"videos": shown, "stopped": bool(stopped)}))
    if stopped:
        raise typer.Exit(130)
    if any(outcome.status == "failed" for outcome in outcomes):
        raise typer.Exit(1)


def _is_camera(video: str) -> bool:
    return video.isdecimal() or video.startswith("/dev/")


def _from_camera(task: TrackVideo, video: str, out: Path) -> Outcome:
    """Look at a camera until it or the user ends it. There is no record: it shows something else the next time."""
    try:
        camera = open_video(video)
        outputs, result = task.write(camera, str(out / f"{Path(camera.name).name}.video"))
        return Outcome(video, "done", [str(path) for path in outputs], result)
    except Exception as error:  # whatever is wrong with one camera, the others are looked at
        text = describe_error(error)
        return Outcome(video, "failed", error=text if video in text else f"{video}: {text}")


def _tell(outcome: Outcome, *, quiet: bool) -> None:
    if outcome.error is not None:
        typer.echo(f"imtorque: {outcome.error}", err=True)
    elif not quiet:
        result = outcome.result
        objects = f", {result['tracks']} tracks" if result["tracks"] else ""
        before = " (as before)" if outcome.status == "complete" else ""
        typer.echo(f"{outcome.input}: {result['places']} places in {result['frames']} frames{objects}{before}")
        typer.echo(f"  written: {', '.join(outcome.outputs)}")


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Give a function that shows a bar with the time left, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("video"), BarColumn(), MofNCompleteColumn(), TextColumn("frames"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty()) as bar:
        shown = bar.add_task("video", total=None)
        yield lambda done, total: bar.update(shown, completed=done, total=total)


def _finder(find: Find, chosen: tuple[float, float] | None, sign: Sign, count: int) -> FrameExtrema | FrameBlobs:
    if find is Find.blobs:
        return FrameBlobs(chosen, SIGNS[sign], count=count)
    listed = None
    if chosen is not None:
        smallest = 2 * int(chosen[0] // 2) + 1
        listed = tuple(default_sizes((1, 1), smallest=smallest, largest=max(smallest, int(chosen[1]))).tolist())
    return FrameExtrema(listed, SIGNS[sign] or None, count=count)


def _range(text: str) -> tuple[float, float]:
    """Return the smallest and the largest size of a text such as 20-60."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text.strip())
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not 3 <= low <= high:
        raise typer.BadParameter(f"must be like 20-60, from 3 on, got {text!r}", param_hint="--sizes")
    return low, high
