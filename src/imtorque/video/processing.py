"""Process a whole video: detect in every frame on all cores, link in order, write as it goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from imtorque.core.types import Image
from imtorque.io.atomic import remove_leftovers
from imtorque.jobs.processes import default_jobs, each
from imtorque.video.cluster import Found, on_cluster
from imtorque.video.decoding import VideoFile
from imtorque.video.detection import Finder, FrameBlobs, FrameExtrema, as_places
from imtorque.video.linking import Linker, Linking
from imtorque.video.moving import Moving, background_of
from imtorque.video.overlay import Overlay, writing_overlay
from imtorque.video.sources import Frame, Images, Source, check_every, open_video
from imtorque.video.tables import Table, TableForm, parquet_libraries, writing_table
from imtorque.video.tracking import tracked

if TYPE_CHECKING:
    from distributed import Client

PARALLEL_FRAMES = 64  # bound: below, starting processes takes longer than they save
MAX_REUSED_BLOCK = 31 << 20  # bound: the largest block that the C library keeps; it never does from 32 MB on

FoundImage = tuple[Found, Image | None]  # what was found in a frame, and the frame in colour for an overlay
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class VideoSummary:
    """The result of `process_video`.

    Parameters
    ----------
    table, overlay
        The files written.
    frames
        How many frames were looked at.
    places
        How many rows the table has.
    tracks
        How many objects there were; 0 where places were not linked.
    full
        How many frames had as many places as the detector's count allows.
    warning
        What was wrong with the video, if anything: a recording that is cut off is followed up to there.
    """

    table: Path
    overlay: Path | None
    frames: int
    places: int
    tracks: int
    full: int = 0
    warning: str = ""


def process_video(
    source: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str],
    *,
    every: int = 1,
    find: Finder | Literal["extrema", "blobs"] = "extrema",
    linking: Linking | None = Linking(),  # noqa: B008 - frozen
    moving: bool = False,
    overlay: bool = False,
    table: TableForm = "csv",
    limit: int | None = None,
    jobs: int | None = None,
    client: Client | None = None,
    progress: Progress | None = None,
) -> VideoSummary:
    """Find objects in every frame of a video, follow them, and write a table of where they were.

    The table, NAME.video.csv in the folder `out`, has the columns frame, time, track, y, x, size and torque, and with
    `overlay` there is a video NAME.video.mp4 as well. Segments of the video, from key frame to key frame, are worked on
    at the same time by several processes; what is written is the same to the byte however many there are.

    Parameters
    ----------
    source
        As for `open_video`: a video, a folder of images or a stack.
    out
        Folder for the outputs; made where it is missing.
    every
        Look at every so many-th frame only.
    find
        What is looked for: "extrema", "blobs", `FrameExtrema(...)`, `FrameBlobs(...)`, or a function of a module, from
        an image to `Extrema`.
    linking
        How places become tracks; None for places without.
    moving
        Keep only what is not in the background, the median of frames from all over the video, taken by a camera that
        stands still.
    overlay
        Whether to write a video of the frames looked at with numbered tracks.
    table
        "csv" or "parquet", which needs pyarrow.
    limit
        How many frames to look at, at most.
    jobs
        How many processes to use; as many as cores by default.
    client
        Of a dask cluster whose workers see the video and the folder `out`: they take the place of processes
        (`imtorque[scale]`). Segments that are done are kept in NAME.video.segments until all are: the same call goes on
        where another one was stopped or killed.
    progress
        Called with the number of frames done and of all there are.

    Notes
    -----
    Ctrl-C ends the work with KeyboardInterrupt; table and overlay are then there up to the last frame done, which the
    exception's note says. After an error there is neither.
    """
    step = check_every(every)
    video = open_video(shared(source, client)) if isinstance(source, str | os.PathLike) else source
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    work = VideoWork(video, finder(find), linking, step, limit, moving)
    return work.write(str(folder / f"{Path(video.name).name}.video"), overlay, table, jobs, progress or _silent, client)


@dataclass(frozen=True)
class VideoWork:
    """A video and what is done to its frames."""

    video: Source
    find: Finder
    linking: Linking | None
    every: int = 1
    limit: int | None = None
    moving: bool = False

    def write(
        self,
        stem: str,
        overlay: bool,
        table: TableForm,
        jobs: int | None,
        progress: Progress,
        client: Client | None = None,
    ) -> VideoSummary:
        """Write the files whose names begin with `stem`."""
        if table == "parquet":
            parquet_libraries()
        elif table != "csv":
            raise ValueError(f'table must be "csv" or "parquet", got {table!r}')
        target, drawn = Path(f"{stem}.{table}"), Path(f"{stem}.mp4") if overlay else None
        tally = _Tally(target, self._total(), getattr(self.find, "limit", None), progress)
        try:
            with ExitStack() as files:
                rows = files.enter_context(writing_table(target, table))
                video = files.enter_context(writing_overlay(drawn, self.video.rate / self.every)) if drawn else None
                found = files.enter_context(closing(self._found(stem, jobs, client, colour=video is not None)))
                self._run(found, rows, video, tally)
        except KeyboardInterrupt as interrupt:
            if tally.frames:
                interrupt.add_note(f"{target} holds the first {tally.frames} frames looked at")
            raise
        warning = self.video.warning if isinstance(self.video, VideoFile) else ""
        return VideoSummary(target, drawn, tally.frames, tally.places, tally.tracks, tally.full, warning)

    def _run(self, found: Iterator[FoundImage], rows: Table, video: Overlay | None, tally: _Tally) -> None:
        linker = None if self.linking is None else Linker(self.linking)
        for (number, time, places), shown in islice(found, self.limit):
            frame = tracked(number, time, places, linker)
            rows.add(frame)
            if video is not None and shown is not None:
                video.add(shown, frame)
            tally.add(len(frame), int(frame.track.max(initial=0)))
        if not tally.frames:
            raise ValueError(f"{self.video.name}: must have frames that can be decoded, got none")

    def _files(self) -> list[str]:
        """Return what the video is read from."""
        return [str(path) for path in self.video.paths] if isinstance(self.video, Images) else [self.video.name]

    def _total(self) -> int:
        """Return how many frames are looked at."""
        looked = -(-self.video.count // self.every)
        return looked if self.limit is None else min(looked, self.limit)

    def _found(
        self, stem: str, jobs: int | None, client: Client | None, *, colour: bool
    ) -> Generator[FoundImage, None, None]:
        """Yield what is found in each frame, in order, and the frame in colour where that is asked for."""
        segments, total = self.video.segments(), self._total()
        find = Moving(self.find, background_of(self.video)) if self.moving else self.find
        count = min(len(segments), jobs or (1 if total < PARALLEL_FRAMES else default_jobs()))
        if count <= 1 and client is None:
            reuse_memory()
            for frame in self.video.frames(every=self.every, colour=colour):
                yield _found(find, frame), frame.colour
            return
        work = partial(segment_found, self.video, find, self.every)
        if client is None:
            parts = each(work, segments, count)
        else:
            parts = on_cluster(work, segments, client, self._files(), Path(f"{stem}.segments"))
        all_found = (found for part in parts for found in part)
        if not colour:
            for found in all_found:
                yield found, None
            return
        shown = self.video.frames(every=self.every, colour=True)
        for found, frame in zip(all_found, shown, strict=True):
            yield found, frame.colour


def shared(source: str | os.PathLike[str], client: Client | None) -> str | os.PathLike[str]:
    """Return the path of a video as workers find it: absolute."""
    if client is None or not Path(source).exists():
        return source
    return Path(source).absolute()


def finder(find: Finder | str) -> Finder:
    """Return what looks for objects in a frame, by name or as given."""
    if isinstance(find, str):
        if find not in ("extrema", "blobs"):
            raise ValueError(f'find must be "extrema", "blobs" or a function, got {find!r}')
        return FrameExtrema() if find == "extrema" else FrameBlobs()
    return find


class _Tally:
    """Counts of frames, places, tracks, and frames with as many places as may be, reported as they grow."""

    def __init__(self, table: Path, total: int, most: int | None, progress: Progress) -> None:
        self.table, self.total, self.most, self.progress = table, total, most, progress
        self.frames = self.places = self.tracks = self.full = 0

    def add(self, places: int, newest: int) -> None:
        self.frames += 1
        self.places += places
        self.full += self.most is not None and places >= self.most
        self.tracks = max(self.tracks, newest)
        self.progress(self.frames, self.total)


def segment_found(video: Source, find: Finder, every: int, segment: Any) -> list[Found]:
    """Return what is found in the frames of a segment."""
    reuse_memory()
    return [_found(find, frame) for frame in video.frames(segment, every=every)]


def reuse_memory() -> None:
    """Let this process reuse the memory of a frame for the next one.

    By itself the C library gives large blocks back to the system, which clears them anew for every frame: a fifth of
    the time. GNU's keeps blocks as large as the largest it was given back, so it is given one that nobody wrote to.
    """
    np.empty(MAX_REUSED_BLOCK, np.uint8)


def _found(find: Finder, frame: Frame) -> Found:
    """Return what is found in a frame."""
    return frame.number, frame.time, as_places(find(frame.pixels))


def _silent(_done: int, _total: int) -> None:
    """Ignore progress."""
