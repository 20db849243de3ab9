"""Images larger than memory: read in windows, computed in tiles, equal to the bit to the whole."""

from imtorque.tiling.large import Summary, process_image
from imtorque.tiling.sources import Affine, Source, open_image

__all__ = [
    "Affine",
    "Source",
    "Summary",
    "open_image",
    "process_image",
]
