"""Beyond one machine and beyond memory: work that is cut into tasks, on processes here or on a cluster of dask's."""

from imtorque.scale._engine import Failure, run_tasks
from imtorque.scale._files import process_files
from imtorque.scale.large import Summary, process_picture
from imtorque.scale.lazy import detect_edges, survey, torque_volume, value_and_scale_maps
from imtorque.scale.sources import Source, World, open_picture

__all__ = [
    "Failure",
    "Source",
    "Summary",
    "World",
    "detect_edges",
    "open_picture",
    "process_files",
    "process_picture",
    "run_tasks",
    "survey",
    "torque_volume",
    "value_and_scale_maps",
]
