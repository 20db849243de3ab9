"""Beyond one machine and beyond memory: work that is cut into tasks, on processes here or on a cluster of dask's."""

from imtorque.scale._engine import Failure, run_tasks

__all__ = ["Failure", "run_tasks"]
