"""Films: extrema or blobs of every frame, linked over time. Films and cameras are read by PyAV (`imtorque[video]`)."""

from imtorque.video.detection import FrameBlobs, FrameExtrema
from imtorque.video.linking import Linker, Linking
from imtorque.video.processing import FilmSummary, process_video
from imtorque.video.sources import Frame, open_film
from imtorque.video.tracking import TrackedFrame, track_extrema

__all__ = [
    "FilmSummary",
    "Frame",
    "FrameBlobs",
    "FrameExtrema",
    "Linker",
    "Linking",
    "TrackedFrame",
    "open_film",
    "process_video",
    "track_extrema",
]
