"""The verbs over very many images: lists of paths, tables, addresses, a cluster."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from imtorque import synthetic
from imtorque.cli import app
from imtorque.files import write_image


@pytest.fixture
def images(tmp_path, monkeypatch):
    """Three drawings and a file that is none; the tests run in their folder."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for k in range(3):
        image = synthetic.paint(0.2, synthetic.disc((60, 60), (30, 22 + 5 * k), 9), 0.9)
        write_image(f"in/{k}.png", np.round(255 * image).astype(np.uint8))
    Path("in/none.png").write_bytes(b"no image")
    return [f"in/{k}.png" for k in range(3)]


def run(*arguments, status=0, text=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)
    assert result.exit_code == status, result.output
    return result


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


VERBS = [
    (("count",), ".count.csv"),
    (("count", "--sizes", "10-30"), ".count.csv"),
    (("maps", "--extrema", "2"), ".maps.extrema.csv"),
]


@pytest.mark.parametrize(("verb", "table"), VERBS)
def test_the_table_has_the_rows_that_each_images_own_table_has(images, verb, table):
    run(*verb, *images, "--out", "own", "--jobs", 1)
    run(*verb, *images, "--table", "all.csv", "--jobs", 1)
    own = [{"image": name, **row} for name in images for row in rows_of(f"own/{Path(name).name}{table}")]
    assert rows_of("all.csv") == own
    assert not Path("imtorque-out").exists()


def test_files_for_each_image_are_written_where_a_folder_is_given_too(images):
    run("count", *images, "--table", "all.csv", "--out", "own", "--jobs", 1)
    assert {path.name for path in Path("own").glob("*.labels.tiff")} == {f"{k}.png.count.labels.tiff" for k in range(3)}


def test_a_bad_image_is_named_and_the_next_run_does_nothing_again(images):
    first = run("count", "in", "--table", "all.parquet", "--jobs", 1, status=1)
    assert "imtorque: in/none.png: must be an image that can be read" in first.stderr
    assert "3 of 4 images written to all.parquet" in first.stderr
    assert set(parquet.read_table("all.parquet")["image"].to_pylist()) == set(images)
    again = json.loads(run("count", "in", "--table", "all.parquet", "--jobs", 1, "--json", status=1).stdout)
    assert [image["status"] for image in again["images"]] == ["complete"] * 3 + ["failed"]


@pytest.mark.parametrize("source", ["list.txt", "-"])
def test_paths_come_from_a_file_or_standard_input_each_once(images, source):
    lines = "\n".join([*images, "", images[0], f"file://{Path('in/1.png').absolute()}"]) + "\n"
    Path("list.txt").write_text(lines)
    found = run("maps", "--paths", source, "--table", "all.csv", "--jobs", 1, text=lines)
    assert [row["image"] for row in rows_of("all.csv")] == [*images, f"file://{Path('in/1.png').absolute()}"]
    assert len(found.stdout.splitlines()) == 4


def test_addresses_are_fetched_without_a_table_as_well(images):
    address = f"file://{Path(images[0]).absolute()}"
    found = run("count", address, "file:///no/such.png", "--jobs", 1, status=1)
    assert found.stdout.startswith(f"{address}: 1 object ")
    assert "imtorque: file:///no/such.png: no such file" in found.stderr
    assert json.loads(Path("imtorque-out/0.png.count.json").read_text())["input"] == address


def test_a_changed_mask_or_model_is_noticed(images):
    write_image("mask.png", np.full((60, 60), 255, np.uint8))
    run("count", *images, "--mask", "mask.png", "--table", "all.csv", "--jobs", 1)
    assert rows_of("all.csv")
    write_image("mask.png", np.pad(np.full((2, 2), 255, np.uint8), ((0, 58), (0, 58))))
    run("count", *images, "--mask", "mask.png", "--table", "all.csv", "--jobs", 1)
    assert not rows_of("all.csv")


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["count"], 2, "images must be given"),
        (["maps", "in", "--scheduler", "tcp://127.0.0.1:1"], 2, "must come with --table"),
        (["maps", "in", "--retry"], 2, "must come with --table"),
        (
            ["count", "in", "--table", "a.csv", "--scheduler", "x", "--jobs", "2"],
            2,
            "--jobs: must be left out with --scheduler",
        ),
        (["count", "in", "--table", "a.txt"], 1, "a.txt: a table must end in .parquet or .csv, got .txt"),
        (
            ["count", "in", "--table", "a.csv", "--scheduler", "here"],
            1,
            "--scheduler must be the address of one that answers, got here",
        ),
        (["count", "--paths", "no.txt"], 1, "no.txt: No such file or directory"),
        (["count", "--paths", "in/empty"], 1, "in/empty: must name an image a line, got none"),
    ],
)
def test_options_without_sense_are_refused_in_one_line(arguments, status, message):
    Path("in/empty").write_text("\n")
    assert message in re.sub(r"[│\s]+", " ", run(*arguments, status=status).stderr)


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("pyarrow", ["--table", "a.parquet"]),
        ("distributed", ["--table", "a.csv", "--scheduler", "tcp://127.0.0.1:8786"]),
    ],
)
def test_what_is_not_installed_is_named(images, monkeypatch, package, arguments):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert "which is not installed: pip install 'imtorque[scale]'" in run("maps", *images, *arguments, status=1).stderr
