"""The page without a server, built once. Skipped where emscripten or esbuild is missing, unless CI requires them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def made(target):
    missing = [name for name in ("em++", "esbuild", "node", "make") if shutil.which(name) is None]
    if missing and not os.environ.get("IMTORQUE_REQUIRE_BROWSER"):
        pytest.skip(f"{missing[0]} is not installed")
    subprocess.run(["make", "--silent", target], cwd=ROOT, check=True, capture_output=True)
    return ROOT / target
