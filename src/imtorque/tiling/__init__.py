"""Images larger than memory: read in windows, computed in tiles, equal to the bit to the whole."""

from imtorque.tiling.counting import ObjectSummary, count_objects
from imtorque.tiling.large import Summary, process_image
from imtorque.tiling.sources import Affine, Source, open_image

__all__ = [
    "Affine",
    "ObjectSummary",
    "Source",
    "Summary",
    "count_objects",
    "open_image",
    "process_image",
]
