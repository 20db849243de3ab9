"""Counting in volumes from the command line."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from imtorque import volumes
from imtorque.cli import app
from imtorque.files import read_image, write_image
from imtorque.synthetic import nuclei_volume


def run(*arguments, status=0):
    result = CliRunner().invoke(app, ["count", *(str(argument) for argument in arguments)])
    assert result.exit_code == status, result.output
    return result


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def stack(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = nuclei_volume(2, shape=(24, 60, 70), count=8).volume
    volume = np.clip(drawn * 9000, 0, 65535).astype(np.uint16)
    tifffile.imwrite(
        "a.tif", volume, imagej=True, resolution=(2, 2), metadata={"axes": "ZYX", "spacing": 0.5, "unit": "um"}
    )
    return volume


def test_a_stack_is_counted_as_the_library_does(stack):
    found = volumes.find_blobs(stack, spacing=(0.5, 0.5, 0.5))
    printed = run("a.tif", "--volume", "-o", "out").stdout
    assert f"a.tif: {len(found)} objects ({len(found)} bright, 0 dark)" in printed
    assert_array_equal(volumes.read_volume("out/a.tif.count.labels.tiff"), found.labels)
    table = rows_of("out/a.tif.count.csv")
    assert [float(row["volume"]) for row in table] == pytest.approx(found.volume)
    assert [float(row["volume_um3"]) for row in table] == pytest.approx(found.volume / 8, rel=1e-5)
    assert [float(row["z_um"]) for row in table] == pytest.approx(found.z / 2, rel=1e-5)
    assert read_image("out/a.tif.count.png").shape[:2] == (10 * 60, 10 * 70)
    (count,) = rows_of("out/counts.csv")
    assert (count["count"], count["depth"], count["pixel_size_um"]) == (str(len(found)), "24", "0.5")
    assert "as before" in run("a.tif", "--volume", "-o", "out").stdout


def test_a_preview_has_projections_of_volumes_beside_images(stack):
    write_image("flat.png", (stack[12] // 256).astype(np.uint8))
    run("flat.png", "-o", "out")
    run("a.tif", "--volume", "--preview", "-o", "out")
    page = Path("out/counts.html").read_text()
    assert page.count("<img") == 2
    assert re.search(r"<b>a.tif</b>: \d+ objects", page)
    assert "no objects" not in page


def test_volumes_and_images_share_the_tables_of_a_folder(stack):
    write_image("flat.png", (stack[12] // 256).astype(np.uint8))
    run("flat.png", "-o", "out")
    flat = rows_of("out/counts.csv")
    assert "depth" not in flat[0]
    run("a.tif", "--volume", "-o", "out")
    both = {row["image"]: row for row in rows_of("out/counts.csv")}
    assert both["flat.png"] == flat[0] | {"depth": "", **{k: "" for k in both["flat.png"] if k not in flat[0]}}
    objects = rows_of("out/objects.csv")
    assert {row["image"] for row in objects if row["volume"]} == {"a.tif"}
    assert len(objects) == sum(int(row["count"]) for row in both.values())


def test_sizes_in_micrometres_and_the_spacing_given(stack):
    tifffile.imwrite("plain.tif", stack)
    assert "need" in run("plain.tif", "--volume", "--sizes", "5-9um", status=1).stderr
    run("plain.tif", "--volume", "--sizes", "5-9um", "--spacing", "0.5,0.5,0.5", "-o", "out")
    sizes = [float(row["diameter_um"]) for row in rows_of("out/objects.csv")]
    assert sizes
    assert all(5 <= size <= 9 for size in sizes)


def test_a_folder_of_zarr_is_one_volume(stack):
    zarr = pytest.importorskip("zarr")
    zarr.open_array("a.zarr", mode="w", shape=stack.shape, dtype=stack.dtype)[:] = stack
    run("a.tif", "a.zarr", "--volume", "--no-overlay", "--no-labels", "-o", "out")
    one, two = rows_of("out/counts.csv")
    assert one["count"] == two["count"]
    run("a.tif", "--volume", "--table", "all.csv")
    assert len(rows_of("all.csv")) == int(one["count"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--volume", "--reduce", "2"], "--reduce"),
        (["--volume", "--depth"], "--depth"),
        (["--spacing", "1,1,1"], "--spacing"),
        (["--volume", "--spacing", "1,1"], "must be three numbers"),
        (["--volume", "--spacing", "1,0,1"], "must be three numbers"),
    ],
)
@pytest.mark.usefixtures("stack")
def test_what_goes_without_a_volume_is_refused(arguments, text):
    assert text in run("a.tif", *arguments, status=2).output
