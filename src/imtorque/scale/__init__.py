"""Beyond one machine and beyond memory: work that is cut into tasks, on processes here or on a cluster of dask's."""

from imtorque.scale._engine import Failure, run_tasks
from imtorque.scale._files import process_files

__all__ = ["Failure", "process_files", "run_tasks"]
