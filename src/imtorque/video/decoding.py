"""Video files by PyAV: where a video can be cut, and its frames from any cut on.

A segment begins at a key frame and ends before the next segment's, in the order in which frames are shown. Its reader
goes to the key frame, drops what is shown before it, and reads on until a frame of the next segment comes: frames that
are stored after that key frame and shown before it (open groups of images) still belong here, and all they are
predicted from has been read. So the pixels are those of one pass over the whole video.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from imtorque.core.types import Image
from imtorque.io.atomic import open_regular
from imtorque.video.matroska import is_cut_off
from imtorque.video.sources import RATE, Frame

UNCUT_CODECS = ("gif", "apng", "webp")  # whose frames are drawn over earlier ones, key frame or not
SEGMENT_FRAMES = 24  # convention: at least; shorter segments take longer to open than to decode
# convention: a video that ends earlier than it says by more than so many seconds, and this share, was cut off.
MISSING_SECONDS, MISSING_SHARE = 0.5, 0.02


@dataclass(frozen=True)
class Segment:
    """A part of a video: the number of its first frame, when each is shown, and when its key frame is.

    Times are in the stream's own units.
    """

    first: int
    shown: tuple[int, ...]  # rising
    key: int
    decoded: int  # when the key frame is: no later


@dataclass(frozen=True)
class VideoFile:
    """A video in a file, and where it can be cut.

    Parameters
    ----------
    name
        Its path.
    rate
        Frames a second, on the mean.
    parts
        Its segments; none where frames do not say when they are shown, and it must be read from its beginning.
    count
        How many frames it has.
    warning
        That it is cut off, if it is: its frames up to there are all there are.
    """

    name: str
    rate: float
    parts: tuple[Segment, ...]
    count: int
    warning: str = ""

    def segments(self) -> Sequence[Segment | None]:
        """Return the parts that can be read by themselves, in order."""
        return self.parts or (None,)

    def frames(self, segment: Segment | None = None, *, every: int = 1, colour: bool = False) -> Iterator[Frame]:
        """Yield every so many-th frame of a segment, or of all."""
        with _video(self.name) as (container, stream):
            if not self.parts:
                yield from self._counted(container, stream, every, colour)
            else:
                wanted = self._whole() if segment is None else segment
                yield from self._shown(container, stream, wanted, every, colour)

    def _whole(self) -> Segment:
        """Return all segments as one."""
        return Segment(0, tuple(time for part in self.parts for time in part.shown), 0, 0)

    def _shown(self, container: Any, stream: Any, part: Segment, every: int, colour: bool) -> Iterator[Frame]:
        zero, unit = self.parts[0].shown[0], stream.time_base
        for frame in _decoded(self.name, stream, self._whole_packets(_packets(container, stream, part))):
            if frame.pts is None or frame.pts < part.shown[0]:
                continue
            if frame.pts > part.shown[-1]:
                return
            number = part.first + bisect_left(part.shown, frame.pts)
            if number % every == 0:
                self._check(stream, frame, number)
                yield as_frame(number, float((frame.pts - zero) * unit), frame, colour)

    def _counted(self, container: Any, stream: Any, every: int, colour: bool) -> Iterator[Frame]:
        for number, frame in enumerate(_decoded(self.name, stream, self._whole_packets(container.demux(stream)))):
            if number % every == 0:
                self._check(stream, frame, number)
                yield as_frame(number, number / self.rate, frame, colour)

    def _whole_packets(self, packets: Iterator[Any]) -> Iterator[Any]:
        """Yield the packets, of a video that is cut off those before the end, and then none, which ends decoding."""
        return _before_end(packets) if self.warning else packets

    def _check(self, stream: Any, frame: Any, number: int) -> None:
        if frame.is_corrupt:
            raise ValueError(f"{self.name}: must be a whole video, got frame {number} damaged")
        if (frame.width, frame.height) != (stream.width, stream.height):
            raise ValueError(
                f"{self.name}: frames must be of one size, {stream.width} x {stream.height}, "
                f"got frame {number} of {frame.width} x {frame.height}"
            )


def open_video_file(path: Path) -> VideoFile:
    """Look through a video once, without decoding it, for where it can be cut."""
    with _video(path) as (container, stream):
        packets, end = [], 0.0
        for packet in _before_end(container.demux()):
            if packet.size and packet.pts is not None:
                end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if packet.size and packet.stream_index == stream.index and not packet.is_discard:
                packets.append((packet.pts, packet.dts, packet.is_keyframe))
        known = stream.codec_context.name not in UNCUT_CODECS
        rate = float(stream.average_rate or stream.guessed_rate or RATE)
        promised = (container.duration or 0) / 1e6 + (container.start_time or 0) / 1e6
        missing = promised - end > max(MISSING_SECONDS, MISSING_SHARE * promised)
        # Frames that repeat the one before may be stored as none: times go on, packets do not.
        missing |= len(packets) < stream.frames and _frames_of_time(packets, stream, rate) < stream.frames
        missing |= "matroska" in container.format.name and is_cut_off(path)
    if not packets:
        raise ValueError(f"{path}: must have frames, got none")
    warning = f"the video is cut off: it has {len(packets)} whole frames" if missing else ""
    return VideoFile(str(path), rate, _cut(packets) if known else (), len(packets), warning)


def _frames_of_time(packets: list[tuple[int | None, int | None, bool]], stream: Any, rate: float) -> int:
    """Return how many frames there are from the first to the last one, by their times."""
    shown = [pts for pts, _, _ in packets if pts is not None]
    return round((max(shown) - min(shown)) * float(stream.time_base) * rate) + 1 if shown else 0


def _cut(packets: list[tuple[int | None, int | None, bool]]) -> tuple[Segment, ...]:
    """Return segments from key frame to key frame, none too short; none at all where frames do not say their time."""
    shown = sorted(pts for pts, _, _ in packets if pts is not None)
    keys = sorted((pts, pts if dts is None else min(pts, dts)) for pts, dts, key in packets if key and pts is not None)
    if len(set(shown)) < len(packets) or not keys or packets[0][0] != keys[0][0]:
        return ()
    starts = [(0, *keys[0])]  # what is shown before the first key frame, if anything, belongs to it
    for pts, dts in keys[1:]:
        place = bisect_left(shown, pts)
        if place - starts[-1][0] >= SEGMENT_FRAMES:
            starts.append((place, pts, dts))
    ends = [*(place for place, _, _ in starts[1:]), len(shown)]
    return tuple(
        Segment(place, tuple(shown[place:end]), pts, dts) for (place, pts, dts), end in zip(starts, ends, strict=True)
    )


def _packets(container: Any, stream: Any, part: Segment) -> Iterator[Any]:
    """Yield the packets of a video from the key frame of a segment on."""
    # Some files are searched by when a frame is shown, others by when it is decoded, which is earlier.
    for target in (part.key, part.decoded, part.decoded - 1) if part.first else ():
        container.seek(target, stream=stream)
        packets = container.demux(stream)
        first = next(packets, None)
        if first is not None and first.is_keyframe and first.pts is not None and first.pts <= part.key:
            yield first
            yield from packets
            return
    if part.first:
        container.seek(0)
    yield from container.demux(stream)


def _decoded(name: str, stream: Any, packets: Iterator[Any]) -> Iterator[Any]:
    """Yield the frames of packets, in the order in which they are shown."""
    with _errors(name):
        for packet in packets:
            if packet.size:
                yield from stream.codec_context.decode(packet)
        yield from stream.codec_context.decode(None)


def _before_end(packets: Iterator[Any]) -> Iterator[Any]:
    """Yield packets up to the first that is damaged, as where a recording was cut off."""
    try:
        for packet in packets:
            if packet.is_corrupt:
                return
            yield packet
    except video_library().error.InvalidDataError:
        return


def as_frame(number: int, time: float, frame: Any, colour: bool) -> Frame:
    """Return a decoded frame, upright, with its brightness, and in colour where that is asked for."""
    turns = round((getattr(frame, "rotation", 0) or 0) / 90) % 4
    pixels, shown = brightness(frame), frame.to_ndarray(format="rgb24") if colour else None
    if turns:
        pixels, shown = np.rot90(pixels, turns), None if shown is None else np.rot90(shown, turns)
    return Frame(number, time, pixels, shown)


def brightness(frame: Any) -> Image:
    """Return the brightness of a frame as it is stored, shape (H, W), or its colours where none is.

    It is copied, not computed, so that it is the same on every machine.
    """
    form = frame.format
    bits = form.components[0].bits
    packed = len(frame.planes) == 1 < len(form.components)
    if form.is_rgb or form.has_palette or packed or bits not in (8, 9, 10, 12, 14, 16):
        return np.asarray(frame.to_ndarray(format="rgb24"))
    plane = frame.planes[0]
    kind = np.dtype(np.uint8) if bits == 8 else np.dtype(">u2" if form.is_big_endian else "<u2")
    rows = np.frombuffer(plane, kind).reshape(-1, plane.line_size // kind.itemsize)
    return rows[: frame.height, : frame.width].copy()


@contextmanager
def _video(path: str | os.PathLike[str]) -> Iterator[tuple[Any, Any]]:
    """Open a video that is a regular file, one thread to decode it: others are busy with other segments."""
    try:
        open_regular(path).close()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    with _container(os.fspath(path)) as container:
        stream = _video_stream(os.fspath(path), container)
        stream.codec_context.thread_count = 1
        yield container, stream


@contextmanager
def _container(name: str) -> Iterator[Any]:
    with _errors(name):
        container = video_library().open(name, metadata_errors="replace")
    with container:
        yield container


def _video_stream(name: str, container: Any) -> Any:
    if not container.streams.video:
        raise ValueError(f"{name}: must have a video stream, got none")
    stream = container.streams.video[0]
    if stream.codec_context is None:
        raise ValueError(f"{name}: must have a video stream of a known codec, got another")
    return stream


@contextmanager
def _errors(name: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of FFmpeg into one line with the name of the video."""
    try:
        yield
    except video_library().error.FFmpegError as error:
        if error.errno == errno.ENOENT:
            raise FileNotFoundError(f"{name}: no such file") from None
        reason = error.strerror or type(error).__name__
        raise ValueError(f"{name}: must be a video that can be read, got: {reason}") from None


def video_library() -> Any:
    """Return PyAV, or say how to get it."""
    try:
        return import_module("av")
    except ImportError:
        raise ImportError("videos need PyAV: pip install 'imtorque[video]'") from None
