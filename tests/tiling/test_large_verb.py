"""imtorque tile: from a file to a folder of results, in one command, also on a cluster."""

import json
import os
import shutil
import signal

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

from imtorque import datasets
from imtorque.cli import app
from imtorque.tiling import process_image
from large_images import ALL, compare

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
    result = run(path, "--out", out, "--sizes", "5,11", "--tile", 64, "--jobs", 1, "--extrema", "all")
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
        (["--extrema", "-1"], "least must be finite and not negative, got -1.0"),
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
    process_image(path, tmp_path / "out", SIZES, ALL, tile=40, client=client)
    compare(tmp_path / "out", tifffile.imread(path), SIZES)


def test_a_worker_that_is_killed_loses_nothing(path, tmp_path, client):
    left = [True]

    def kill(name, done, _):
        if left[0] and name.startswith("tiles") and done == 2:
            left[0] = False
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    process_image(path, tmp_path / "out", SIZES, ALL, tile=40, client=client, progress=kill)
    assert not left[0]
    compare(tmp_path / "out", tifffile.imread(path), SIZES)


@pytest.mark.parametrize("lost", ["extrema.csv", "blobs.csv", "maps.zarr"])
def test_done_means_that_the_results_are_there(path, tmp_path, lost):
    out = tmp_path / "out"
    arguments = (path, "--out", out, "--sizes", "5,11", "--tile", 64, "--jobs", 1, "--extrema", "all")
    assert run(*arguments).exit_code == 0
    if lost == "maps.zarr":
        shutil.rmtree(out / lost)
    else:
        (out / lost).unlink()
    (out / "notes.txt").write_text("mine")
    again = run(*arguments)
    assert again.exit_code == 0, again.output
    compare(out, tifffile.imread(path), SIZES)
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in ("extrema.csv", "maps.zarr") for how in ("gone", "cut short", "added to")),
        ("extrema.csv", "edited"),
    ],
)
def test_results_that_are_not_as_they_were_written_are_refused_and_kept(path, tmp_path, name, how):
    out = tmp_path / "out"
    arguments = (path, "--out", out, "--sizes", "5,11", "--tile", 64, "--jobs", 1, "--extrema", "all")
    assert run(*arguments).exit_code == 0
    file = (
        out / name if name == "extrema.csv" else next(p for p in (out / name / "value").rglob("c/*/*") if p.is_file())
    )
    if how == "gone" and name == "extrema.csv":
        file.rename(out / "mine.csv")  # which is made again
        assert run(*arguments).exit_code == 0
        return
    content = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        edits = {"cut short": content[:-1], "added to": content + b"mine", "edited": content[:-2] + b"0\n"}
        file.write_bytes(edits[how])
    again = run(*arguments)
    assert again.exit_code == 1
    told = f"{out / name}: must be as it was written, got it changed; remove it to have it made again"
    assert again.stderr == f"imtorque: {told}\n"
    assert how == "gone" or file.read_bytes() != content


def test_what_a_run_killed_at_its_end_left_is_removed_by_the_next(path, tmp_path):
    arguments = (path, "--out", tmp_path / "out", "--sizes", "5", "--outputs", "blobs", "--jobs", 1)
    run(*arguments)
    (tmp_path / "out" / "work").mkdir()
    run(*arguments)
    assert not (tmp_path / "out" / "work").exists()


@pytest.mark.parametrize("content", ["", "[1]", "mine"])
def test_settings_of_somebody_else_are_refused_in_one_line(path, tmp_path, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "settings.json").write_text(content)
    told = run(path, "--out", tmp_path / "out", "--sizes", "5", "--jobs", 1)
    assert told.exit_code == 1
    assert told.stderr.endswith(
        "settings.json: must be as imtorque tile wrote it, got another file; give another folder\n"
    )
