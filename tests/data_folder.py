"""Where the real data sets are, for the tests that need them; they skip where there are none."""

import os
from pathlib import Path

import pytest


def data_folder(name):
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    for root in (os.environ.get("IMTORQUE_DATA"), shared):
        if root is not None and (Path(root) / name).is_dir():
            return Path(root) / name
    pytest.skip(f"no {name} in IMTORQUE_DATA or ../shared/data")
