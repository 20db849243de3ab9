"""36 megapixels in tiles, beside the same in memory; IMTORQUE_SLOW_SIDE=20000: 400 megapixels, in 10 GB."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SIDE = int(os.environ.get("IMTORQUE_SLOW_SIDE", "6000"))


def part(folder, *arguments, **environment):
    command = [sys.executable, str(BENCHMARKS / "scale_worker.py"), str(folder), *arguments]
    paths = {"PYTHONPATH": os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **paths, **environment}
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "automatic"])
def test_no_value_of_an_image_of_many_megapixels_differs(tmp_path, kind):
    part(tmp_path, "draw", str(SIDE))
    part(tmp_path, "in_memory", json.dumps(kind), KEEP="1")
    part(tmp_path, "processes", json.dumps(kind), "2048", "0", "2")
    found = part(tmp_path, "different", json.dumps(f"processes-0-{kind}"))
    assert (found["different"], found["values"]) == (0, 2 * SIDE**2)
