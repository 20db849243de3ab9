"""What the verb for videos does to one video."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import Any, ClassVar

from imtorque.files import find_images
from imtorque.video.detection import FrameBlobs, FrameExtrema
from imtorque.video.linking import Linking
from imtorque.video.processing import Progress, VideoWork, shared
from imtorque.video.sources import Source, open_video
from imtorque.video.tables import TableForm

Written = tuple[list[Path], dict[str, Any]]


@dataclass(frozen=True)
class TrackVideo:
    """Places in every frame, linked or not: a table, and an overlay where it is asked for.

    Who works on it, and who is told, are not among the parameters: they change nothing.
    """

    verb: ClassVar[str] = "video"
    find: FrameExtrema | FrameBlobs
    every: int
    linking: Linking | None
    overlay: bool
    table: TableForm
    limit: int | None
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
        work = VideoWork(video, self.find, self.linking, self.every, self.limit)
        done = work.write(stem, self.overlay, self.table, jobs, progress or (lambda _done, _total: None), client)
        outputs = [done.table] if done.overlay is None else [done.table, done.overlay]
        return outputs, {"frames": done.frames, "places": done.places, "tracks": done.tracks}
