"""Extrema or blobs of every frame of a video, linked over time. PyAV (`imtorque[video]`) reads videos."""

from imtorque.video.detection import FrameBlobs, FrameExtrema
from imtorque.video.linking import Linker, Linking
from imtorque.video.processing import VideoSummary, process_video
from imtorque.video.sources import Frame, open_video
from imtorque.video.tracking import TrackedFrame, track_extrema
from imtorque.video.trajectories import Trajectories

__all__ = [
    "Frame",
    "FrameBlobs",
    "FrameExtrema",
    "Linker",
    "Linking",
    "TrackedFrame",
    "Trajectories",
    "VideoSummary",
    "open_video",
    "process_video",
    "track_extrema",
]
