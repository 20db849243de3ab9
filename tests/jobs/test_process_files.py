"""Very many files into one table: order, resume, failures by name, poison, addresses, both forms of tables."""

import csv
from functools import partial
from pathlib import Path

import fsspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from typer.testing import CliRunner

import scale_work
from imtorque.cli import app
from imtorque.files import read_image, write_image
from imtorque.io.urls import fetched, find_addresses
from imtorque.jobs import process_files
from imtorque.jobs.tables import merge_parts, write_part


@pytest.fixture
def images(tmp_path):
    return [write_image(tmp_path / f"{k}.png", np.full((4, 5), k, np.uint8)) for k in range(6)]


def read(table):
    if table.suffix == ".parquet":
        return parquet.read_table(table).to_pylist()
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def expected(images):
    return [{"image": str(p), "y": y, "mean": float(read_image(p).mean())} for p in images for y in range(2)]


def test_the_table_has_all_rows_in_the_order_of_the_files(tmp_path, images):
    out = tmp_path / "all.parquet"
    assert process_files(scale_work.measure, images, out, jobs=1) == []
    assert read(out) == expected(images)
    assert read(tmp_path / "all.files.csv") == [{"image": str(p), "rows": "2", "error": ""} for p in images]


def counting(notes, path):
    with open(notes, "a") as file:
        file.write(f"{path.name}\n")
    return scale_work.measure(path)


def test_only_what_is_new_or_changed_is_done(tmp_path, images):
    out, notes = tmp_path / "all.csv", tmp_path / "notes"
    for files in (images[:4], images[:4], images):
        assert process_files(partial(counting, str(notes)), files, out, jobs=1) == []
    assert notes.read_text().split() == [p.name for p in images]
    write_image(images[2], np.full((7, 7), 99, np.uint8))
    process_files(partial(counting, str(notes)), images, out, jobs=1)
    assert notes.read_text().split()[6:] == ["2.png"]
    assert [row["mean"] for row in read(out)[4:6]] == ["99.0", "99.0"]


def test_a_part_that_is_gone_is_made_again(tmp_path, images):
    out = tmp_path / "all.csv"
    process_files(scale_work.measure, images, out, jobs=1)
    before = out.read_text()
    next((tmp_path / "all.csv.parts").glob("*.csv")).unlink()
    assert process_files(scale_work.measure, images, out, jobs=1) == []
    assert out.read_text() == before


def spoil(images):
    """Among the files one that kills, one that is cut, one that is gone."""
    poison = images[0].with_name("poison.png")
    poison.touch()
    images[1].write_bytes(images[1].read_bytes()[:45])
    return [*images[:3], poison, images[0].with_name("gone.png"), *images[3:]], images[1], poison


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", pytest.param("cluster", marks=pytest.mark.cluster)])
def test_files_that_fail_or_kill_are_named_and_all_others_done(tmp_path, images, where, request, monkeypatch):
    monkeypatch.setattr("imtorque.jobs.files.MIN_CHUNKS", 2)  # so that the others are in the chunks of the bad ones
    place = {"jobs": 2} if where == "here" else {"client": request.getfixturevalue("client"), "heartbeat_timeout": 20}
    files, cut, poison = spoil(images)
    out = tmp_path / "all.csv"
    failures = {failure.key: failure.message for failure in process_files(scale_work.measure, files, out, **place)}
    assert set(failures) == {str(cut), str(poison), str(tmp_path / "gone.png")}
    assert failures[str(poison)] == f"{poison}: the process that worked on it ended by itself"
    assert failures[str(cut)].startswith(f"{cut}: must be an image that can be read")
    assert failures[str(tmp_path / "gone.png")] == f"{tmp_path / 'gone.png'}: no such file"
    good = [p for p in images if p != cut]
    assert [row["image"] for row in read(out)] == [str(p) for p in good for _ in range(2)]
    listed = {row["image"]: row["error"] for row in read(tmp_path / "all.files.csv")}
    assert {name: error for name, error in listed.items() if error} == failures
    # They are told of again, and not tried again.
    again = process_files(scale_work.measure, files, out, jobs=1)
    assert {failure.key: failure.message for failure in again} == failures


def test_failures_are_tried_again_where_that_is_asked_for(tmp_path, images):
    flag = tmp_path / "flag"
    task = partial(needs, str(flag))
    assert len(process_files(task, images, tmp_path / "a.csv", jobs=1)) == 6
    flag.touch()
    assert len(process_files(task, images, tmp_path / "a.csv", jobs=1)) == 6
    assert process_files(task, images, tmp_path / "a.csv", jobs=1, retry=True) == []


def needs(flag, path):
    if not Path(flag).exists():
        raise ValueError("must have a flag, got none")
    return scale_work.columns(path)


def test_columns_are_taken_as_rows_and_files_without_rows_have_none(tmp_path, images):
    process_files(scale_work.columns, images, tmp_path / "a.csv", jobs=1)
    assert [row["image"] for row in read(tmp_path / "a.csv")] == [str(p) for p in images if p.stem != "3"]


NUMBERS = st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
PARTS = st.lists(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), NUMBERS), max_size=3), min_size=1, max_size=4)


@given(PARTS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_parts_of_different_columns_make_one_table(tmp_path_factory, suffix, parts):
    folder = tmp_path_factory.mktemp("parts")
    parts = [[{"image": "é,\"'\n", **row} for row in rows] for rows in parts]
    paths = [folder / f"{k}{suffix}" for k in range(len(parts))]
    for path, rows in zip(paths, parts, strict=True):
        write_part(path, "image", rows)
    merge_parts(paths, folder / f"all{suffix}")
    found = [{k: v for k, v in row.items() if v not in ("", None)} for row in read(folder / f"all{suffix}")]
    as_read = (lambda v: v) if suffix == ".parquet" else (lambda v: v if isinstance(v, str) else str(v))
    assert found == [{k: as_read(v) for k, v in row.items()} for rows in parts for row in rows]


def test_files_at_addresses_are_fetched_and_named_by_them(tmp_path, images):
    memory = fsspec.filesystem("memory")
    memory.pipe("/folder/a.png", images[3].read_bytes())
    with fetched("memory://folder/a.png") as path:
        assert path.name == "a.png"
        assert read_image(path)[0, 0] == 3
    assert not path.exists()
    assert find_addresses("memory://folder/*.png") == ["memory:///folder/a.png"]
    names = ["memory://folder/a.png", "memory://folder/gone.png", "nosuch://a/b.png"]
    failures = process_files(scale_work.measure, names, tmp_path / "a.csv", jobs=1)
    assert [failure.message for failure in failures] == [
        "memory://folder/gone.png: no such file",
        "nosuch://a/b.png: must be something that can be fetched, got: Protocol not known: nosuch",
    ]
    assert [row["image"] for row in read(tmp_path / "a.csv")] == 2 * ["memory://folder/a.png"]


@pytest.mark.parametrize(
    ("paths", "out", "message"),
    [
        ([], "a.csv", "there must be files to work on, got none"),
        (["a.png"], "a.xlsx", r"a.xlsx: a table must end in .parquet or .csv, got .xlsx"),
    ],
)
def test_bad_input_is_refused_in_one_line(tmp_path, paths, out, message):
    with pytest.raises(ValueError, match=message):
        process_files(scale_work.measure, paths, tmp_path / out)


def test_the_command_on_a_cluster_gives_the_same_table_as_here(tmp_path, images, client, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [image.name for image in images]
    common = ["maps", *names, "--sizes", "3-5"]
    for arguments in (["--jobs", "1"], ["--scheduler", client.scheduler.address]):
        table = f"{arguments[0][2:]}.csv"
        result = CliRunner().invoke(app, [*common, *arguments, "--table", table])
        assert result.exit_code == 0, result.output
    assert Path("scheduler.csv").read_text() == Path("jobs.csv").read_text()
    assert read(Path("jobs.files.csv"))[5] == {"image": "5.png", "rows": "1", "error": ""}
