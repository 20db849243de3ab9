"""Films: extrema or blobs of every frame, linked over time. Films and cameras are read by PyAV (`imtorque[video]`)."""

from imtorque.films.detecting import FrameBlobs, FrameExtrema
from imtorque.films.linking import Linker, Linking
from imtorque.films.processing import FilmSummary, process_video
from imtorque.films.sources import Frame, open_film
from imtorque.films.tracking import TrackedFrame, track_extrema

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
