"""imtorque tile: from a file to a folder of results, in one command, also on a cluster."""

import json
import os
import signal

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

from imtorque import datasets
from imtorque.cli import app
from imtorque.tiling import process_image
from large_images import compare

SIZES = [5, 11]


@pytest.fixture
def path(tmp_path):
    image = np.ascontiguousarray(datasets.sample("hopper")[150:240, 100:220])
    tifffile.imwrite(tmp_path / "image.tif", image, photometric="rgb", tile=(32, 32))
    return tmp_path / "image.tif"


def run(*arguments):
    return CliRunner().invoke(app, ["tile", *map(str, arguments)])


def test_an_image_becomes_a_folder_of_results(path, tmp_path):
    out = tmp_path / "out"
    result = run(path, "--out", out, "--sizes", "5,11", "--tile", 64, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("90 x 120 pixels in 4 tiles: ")
    compare(out, tifffile.imread(path), SIZES)


def test_json_is_one_object(path, tmp_path):
    arguments = (path, "-o", tmp_path / "out", "--sizes", "5", "--outputs", "blobs", "--jobs", 1, "--json")
    found = json.loads(run(*arguments).stdout)
    assert found["shape"] == [90, 120]
    assert json.loads(run(*arguments).stdout) == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outputs", "value,torque"], "outputs must be some of value, "),
        (["--channel", "7"], "channel must be one of the file's 3, counted from 0, got 7"),
        (["--source-level", "3"], "level must be from 0 to 0, got 3"),
        (["--force", "strength"], "strength_scale must be given"),
        (["--scheduler", "nonsense://x"], "--scheduler must be the address of one that answers, got nonsense://x"),
    ],
)
def test_errors_are_one_line(path, tmp_path, arguments, message):
    result = run(path, "--out", tmp_path / "out", "--jobs", 1, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_cluster_gives_the_same_bits(path, tmp_path, client):
    process_image(path, tmp_path / "out", SIZES, tile=40, client=client)
    compare(tmp_path / "out", tifffile.imread(path), SIZES)


def test_a_worker_that_is_killed_loses_nothing(path, tmp_path, client):
    left = [True]

    def kill(name, done, _):
        if left[0] and name.startswith("tiles") and done == 2:
            left[0] = False
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    process_image(path, tmp_path / "out", SIZES, tile=40, client=client, progress=kill)
    assert not left[0]
    compare(tmp_path / "out", tifffile.imread(path), SIZES)
