"""Images larger than memory: read in windows, computed in tiles, equal to the bit to the whole."""

from imtorque.tiling.large import Summary, process_image
from imtorque.tiling.lazy import detect_edges, survey, torque_volume, value_and_scale_maps
from imtorque.tiling.sources import Source, World, open_image

__all__ = [
    "Source",
    "Summary",
    "World",
    "detect_edges",
    "open_image",
    "process_image",
    "survey",
    "torque_volume",
    "value_and_scale_maps",
]
