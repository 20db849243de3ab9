"""The overlay: a video of the frames looked at, with numbered tracks and their tails."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from imtorque.core.types import Image
from imtorque.io.atomic import replacing
from imtorque.render.tracks import track_image
from imtorque.video.decoding import video_library
from imtorque.video.tracking import TrackedFrame

TAIL = 24  # places of a track that are drawn behind it; convention
ENCODERS = ("libx264", "mpeg4")  # the first that this build of FFmpeg has
QUALITY = {"libx264": {"crf": "20", "preset": "veryfast"}, "mpeg4": {"q:v": "3"}}


class Overlay:
    """A video that is being written."""

    def __init__(self, container: Any, rate: float) -> None:
        """Begin; the first frame says how large it is."""
        self.container, self.rate = container, Fraction(rate).limit_denominator(1001)
        self.stream: Any = None
        self.tails: dict[int, deque[tuple[float, float]]] = {}

    def add(self, image: Image, frame: TrackedFrame) -> None:
        """Draw the tracks of a frame and write it."""
        gone = self.tails.keys() - set(frame.track.tolist())
        for number, y, x in zip(frame.track.tolist(), frame.y.tolist(), frame.x.tolist(), strict=True):
            self.tails.setdefault(number, deque(maxlen=TAIL)).append((y, x))
        self._write(track_image(image, frame.track, frame.y, frame.x, frame.size, self.tails))
        for number in gone:  # what is hidden keeps its tail a while, and one place less with each frame
            self.tails[number].popleft()
            if not self.tails[number]:
                del self.tails[number]

    def end(self) -> None:
        """Write what the encoder still holds."""
        if self.stream is not None:
            self.container.mux(self.stream.encode(None))

    def _write(self, image: Image) -> None:
        even = np.pad(image, ((0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)), mode="edge")
        av = video_library()
        if self.stream is None:
            name = next(name for name in ENCODERS if name in av.codecs_available)
            self.stream = self.container.add_stream(name, rate=self.rate, options=QUALITY[name])
            self.stream.height, self.stream.width = even.shape[:2]
            self.stream.pix_fmt = "yuv420p"
        shown = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
        self.container.mux(self.stream.encode(shown))


@contextmanager
def writing_overlay(path: Path, rate: float) -> Iterator[Overlay]:
    """Write a video that is there when the block ends, well or by Ctrl-C after a frame, and not where in an error."""
    stopped: KeyboardInterrupt | None = None
    with replacing(path) as partial, video_library().open(str(partial), "w", format="mp4") as container:
        overlay = Overlay(container, rate)
        try:
            yield overlay
        except KeyboardInterrupt as interrupt:
            if overlay.stream is None:
                raise
            stopped = interrupt
        overlay.end()
    if stopped is not None:
        raise stopped
