"""Many tasks, each done once and recorded, on the processes of this machine or on a dask cluster."""

from imtorque.jobs.engine import Failure, run_tasks
from imtorque.jobs.files import process_files

__all__ = ["Failure", "process_files", "run_tasks"]
