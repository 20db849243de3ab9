"""The verb `track`: objects in every frame of videos, followed over time, in a table and an overlay."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import InitVar, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from imtorque.cli.batch import Outcome, Task, Written, client_of, process
from imtorque.cli.options import DEFAULT_OUT, SIGNS, Jobs, Json, Out, Overwrite, Scheduler, Sign, number_of, refuse
from imtorque.cli.runner import as_before, head, one_line_errors, progress_bars, told
from imtorque.core.torque import default_sizes
from imtorque.files import find_images
from imtorque.video.detection import FrameBlobs, FrameExtrema
from imtorque.video.linking import Linking
from imtorque.video.processing import Progress, VideoWork, shared
from imtorque.video.sources import RATE, Source, open_video
from imtorque.video.tables import TableForm

Find = Literal["extrema", "blobs"]


@dataclass(frozen=True)
class TrackVideo(Task):
    """Places in every frame, linked or not: a table, and an overlay where it is asked for.

    Who works on it, and who is told, are not among the parameters: they change nothing.
    """

    verb: ClassVar[str] = "track"
    find: FrameExtrema | FrameBlobs
    every: int
    linking: Linking | None
    overlay: bool
    table: TableForm
    limit: int | None
    moving: bool
    rate: float
    jobs: InitVar[int | None] = None
    progress: InitVar[Progress | None] = None
    client: InitVar[Any] = None

    def __post_init__(self, jobs: int | None, progress: Progress | None, client: Any) -> None:
        """Keep what is not among the parameters."""
        object.__setattr__(self, "_running", (jobs, progress, client))

    def inputs(self, source: Path) -> list[Path]:
        """Return the video, or the images of a folder."""
        return find_images([source]) if source.is_dir() else [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write table and overlay of one video."""
        client = self._running[2]  # type: ignore[attr-defined]
        return self.write(open_video(shared(source, client), rate=self.rate), stem)

    def write(self, video: Source, stem: str) -> Written:
        """Write table and overlay of what frames come from."""
        jobs, progress, client = self._running  # type: ignore[attr-defined]
        work = VideoWork(video, self.find, self.linking, self.every, self.limit, self.moving)
        done = work.write(stem, self.overlay, self.table, jobs, progress or (lambda _done, _total: None), client)
        outputs = [done.table] if done.overlay is None else [done.table, done.overlay]
        return outputs, {name: getattr(done, name) for name in ("frames", "places", "tracks", "full", "warning")}


def track(
    *,
    videos: Annotated[
        list[str],
        typer.Argument(
            metavar="VIDEO",
            show_default=False,
            help="Videos, folders of images, TIFF stacks.",
        ),
    ],
    out: Out = DEFAULT_OUT,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Look at every N-th frame.")] = 1,
    link: Annotated[bool, typer.Option(help="Link places over time, so that each object keeps its number.")] = True,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Write a video with boxes, and with numbers and tails where linked.")
    ] = False,
    moving: Annotated[
        bool, typer.Option("--moving", help="Follow only what is not in the background; the camera must stand still.")
    ] = False,
    find: Annotated[
        Find, typer.Option(help="extrema are fast; blobs are surer, and about twenty times slower.")
    ] = "extrema",
    sizes: Annotated[
        str | None, typer.Option(metavar="20-60", help="Smallest and largest size to look for, in pixels.")
    ] = None,
    sign: Annotated[Sign, typer.Option(help="Which objects to look for; auto may choose anew in each frame.")] = "both",
    count: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Most places in a frame: 50 for extrema without --sizes, else all."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, help="Least |torque| of extrema, by default by noise and contrast of each frame."),
    ] = None,
    memory: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many looked-at frames an object may be hidden.")
    ] = Linking.memory,
    search_range: Annotated[
        float, typer.Option(min=0.01, help="How far from where it is expected an object may be, in its sizes.")
    ] = Linking.search_range,
    table: Annotated[TableForm, typer.Option(help="Form of the table; parquet needs pyarrow.")] = "csv",
    frames: Annotated[int | None, typer.Option(min=1, metavar="N", help="Look at so many frames at most.")] = None,
    rate: Annotated[float, typer.Option(min=0.001, help="Frames a second, of folders and stacks.")] = RATE,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Find objects in every frame and follow them: a table frame,time,track,y,x,size,torque, and an overlay.

    Segments of a video are worked on side by side; the table is the same to the byte however many there are. Ctrl-C
    leaves the table and the overlay of the frames that were done. With --scheduler the same command goes on from the
    segments that were done.

    Example: [bold]imtorque track video.mp4 --every 5 --overlay[/bold]
    """
    finder = _finder(find, None if sizes is None else _range(sizes), sign, count, threshold)
    linking = Linking(memory, search_range) if link else None
    if scheduler is not None:
        refuse("must be left out with --scheduler", jobs=jobs)
    with ExitStack() as stack:
        with one_line_errors():
            client = None if scheduler is None else stack.enter_context(client_of(scheduler))
        progress = partial(stack.enter_context(progress_bars()), "frames")
        task = TrackVideo(finder, every, linking, overlay, table, frames, moving, rate, jobs, progress, client)
        _run(task, videos, out, as_json, overwrite)


def _run(task: TrackVideo, videos: list[str], out: Path, as_json: bool, overwrite: bool) -> None:
    """Do all videos one after the other, and end with the status that says whether all went well."""
    outcomes: list[Outcome] = []
    stopped = ""
    try:
        with one_line_errors():
            for outcome in process(task, [Path(video) for video in videos], out, jobs=1, overwrite=overwrite):
                _tell(outcome, quiet=as_json)
                outcomes.append(outcome)
    except KeyboardInterrupt as interrupt:
        stopped = "; ".join(getattr(interrupt, "__notes__", ())) or "nothing was done yet"
        typer.echo(f"stopped: {stopped}", err=True)
    if as_json:
        report = {**head(task, out), "videos": [told(outcome) for outcome in outcomes], "stopped": bool(stopped)}
        typer.echo(json.dumps(report))
    if stopped:
        raise typer.Exit(130)
    if any(outcome.status == "failed" for outcome in outcomes):
        raise typer.Exit(1)


def _tell(outcome: Outcome, *, quiet: bool) -> None:
    if outcome.error is not None:
        typer.echo(f"imtorque: {outcome.error}", err=True)
    elif not quiet:
        result = outcome.result
        places = f"{number_of(result['places'], 'place')} in {number_of(result['frames'], 'frame')}"
        objects = f", {number_of(result['tracks'], 'track')}" if result["tracks"] else ""
        typer.echo(f"{outcome.input}: {places}{objects}{as_before(outcome)}")
        typer.echo(f"  written: {', '.join(outcome.outputs)}")
        if warning := result.get("warning"):  # records of before have none
            typer.echo(f"  {warning}", err=True)
        if not result["places"]:
            typer.echo("  nothing was found: try --sizes, a lower --threshold, or --find blobs", err=True)
        elif full := result.get("full"):
            frames = "1 frame has" if full == 1 else f"{full} frames have"
            typer.echo(f"  {frames} as many places as --count allows, and maybe more objects: try --sizes", err=True)


def _finder(
    find: Find, sizes: tuple[float, float] | None, sign: Sign, count: int | None, threshold: float | None
) -> FrameExtrema | FrameBlobs:
    if find == "blobs":
        refuse("is of extrema: leave it out with --find blobs", threshold=threshold)
        return FrameBlobs(sizes, SIGNS[sign], count=count)
    listed = None
    if sizes is not None:
        smallest = 2 * int(sizes[0] // 2) + 1
        listed = tuple(default_sizes((1, 1), smallest=smallest, largest=max(smallest, int(sizes[1]))).tolist())
    return FrameExtrema(listed, SIGNS[sign] or None, threshold=threshold, count=count)


def _range(text: str) -> tuple[float, float]:
    """Return the smallest and the largest size of a text such as 20-60."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text.strip())
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not 3 <= low <= high:
        raise typer.BadParameter(f"must be like 20-60, from 3 on, got {text!r}", param_hint="--sizes")
    return low, high
