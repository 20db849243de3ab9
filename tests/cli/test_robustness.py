"""Nothing of the user's is lost: hand-made files, odd names, full disks, closed streams."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from imtorque import synthetic
from imtorque.cli import app
from imtorque.files import read_image, write_image

ODD = os.fsdecode(b"caf\xe9.png")  # Latin 1, which is no UTF-8


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Every command runs in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shapes():
    return np.round(synthetic.scene("shapes", (41, 61)) * 255).astype(np.uint8)


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def program(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "imtorque", *arguments], capture_output=True, text=True, check=False, **options
    )


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["objects.csv", "counts.csv", "a.png.count.csv", "a.png.count.png"])
def test_hand_made_files_are_not_counted_over(shapes, name):
    write_image("a.png", shapes)
    Path(name).write_text("mine")
    before = sorted(os.listdir())
    told = run("count", "a.png", "-o", ".", status=1).output
    assert told == (
        f"imtorque: {name}: must be as imtorque count wrote it to be replaced, got another file; move it, give "
        "another --out, or --overwrite\n"
    )
    assert sorted(os.listdir()) == before
    assert Path(name).read_text() == "mine"
    run("count", "a.png", "-o", ".", "--overwrite")
    assert Path(name).read_bytes() != b"mine"


def test_an_input_named_as_an_output_is_not_written_over(shapes):
    write_image("a.png", shapes)
    write_image("a.png.count.png", shapes // 2)
    run("count", "a.png", "a.png.count.png", "-o", ".", status=1)
    np.testing.assert_array_equal(read_image("a.png.count.png"), shapes // 2)


def test_the_same_command_replaces_its_own_tables_until_they_are_changed(shapes):
    write_image("a.png", shapes)
    run("count", "a.png")
    run("count", "a.png", "--count", 1)
    assert len(rows_of("imtorque-out/objects.csv")) == 1
    with open("imtorque-out/objects.csv", "a") as table:
        table.write("checked by hand\n")
    assert "objects.csv" in run("count", "a.png", status=1).output
    assert "checked by hand" in Path("imtorque-out/objects.csv").read_text()


@pytest.mark.parametrize("name", ["all.csv", "all.files.csv"])
def test_a_table_that_no_verb_wrote_is_kept(shapes, name):
    write_image("a.png", shapes)
    Path(name).write_text("mine")
    assert f"imtorque: {name}: must be" in run("count", "a.png", "--table", "all.csv", status=1).output
    assert Path(name).read_text() == "mine"
    run("count", "a.png", "--table", "all.csv", "--overwrite")
    run("count", "a.png", "--count", 1, "--table", "all.csv")
    assert len(rows_of("all.csv")) == 1


def test_a_model_replaces_a_model_only(shapes):
    write_image("a.png", shapes)
    Path("annotations.csv").write_text("image,y,x\na.png,20,20\n")
    arguments = ["train-detector", "a.png", "--annotations", "annotations.csv", "-o", "annotations.csv"]
    assert "must be such a model to be replaced" in run(*arguments, status=1).output
    Path("classes").mkdir()
    Path("notes.txt").write_text("mine")
    assert (
        "must be such a model to be replaced" in run("train-classifier", "classes", "-o", "notes.txt", status=1).output
    )
    assert Path("notes.txt").read_text() == "mine"


def test_a_sample_does_not_replace_an_image_of_its_name(shapes):
    Path("imtorque-out").mkdir()
    write_image("imtorque-out/shapes.png", shapes)
    run("edges", "sample:shapes", status=1)
    np.testing.assert_array_equal(read_image("imtorque-out/shapes.png"), shapes)


@pytest.mark.parametrize(("verb", "name"), [("demo", "shapes.demo.csv"), ("evaluate", "results.json")])
def test_verbs_without_images_keep_hand_made_files_too(shapes, verb, name):
    for folder in ("out", "predictions", "truth"):
        Path(folder).mkdir()
    for folder in ("predictions", "truth"):
        write_image(f"{folder}/a.png", np.where(shapes > 99, 255, 0).astype(np.uint8))
    Path("out", name).write_text("mine")
    masks = ["masks", "--predictions", "predictions", "--truth", "truth"] if verb == "evaluate" else []
    told = run(verb, *masks, "--out", "out", status=1).output
    assert f"{name}: must be as imtorque {verb} wrote it" in told
    assert os.listdir("out") == [name]
    if verb == "evaluate":
        run(verb, *masks, "--out", "out", "--overwrite")
        run(verb, *masks, "--out", "out")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_name_that_is_no_utf8_costs_no_table(shapes):
    write_image("a.png", shapes)
    write_image(ODD, shapes)
    done = program("count", ".", "-o", "out")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert [row["image"] for row in rows_of("out/counts.csv")] == ["a.png", r"caf\udce9.png"]
    assert {row["image"] for row in rows_of("out/objects.csv")} == {"a.png", r"caf\udce9.png"}
    report = json.loads(program("count", ".", "-o", "out", "--json").stdout)
    assert [image["status"] for image in report["images"]] == ["complete", "complete"]
    for table in ("all.csv", "rows.parquet"):
        if table == "rows.parquet":
            pytest.importorskip("pyarrow")
        done = program("count", ".", "--table", table)
        assert done.returncode == 0, done.stderr
    assert [row["image"] for row in rows_of("all.files.csv")] == ["a.png", r"caf\udce9.png"]


@pytest.mark.parametrize("verb", ["count", "maps", "edges"])
def test_a_full_disk_is_one_line(shapes, verb):
    """A quota of files of 100 bytes stands for the disk."""
    resource = pytest.importorskip("resource")
    write_image("a.png", shapes)
    Path("out").mkdir()
    limit = (100, 100)
    done = program(verb, "a.png", "-o", "out", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert not list(Path("out").glob(".*.part"))
    run(verb, "a.png", "-o", "out")


def test_a_run_in_which_all_images_fail_leaves_no_counts_of_another(shapes):
    write_image("a.png", shapes)
    run("count", "a.png")
    Path("a.png").write_text("no image")
    run("count", "a.png", status=1)
    assert rows_of("imtorque-out/counts.csv") == rows_of("imtorque-out/objects.csv") == []


CLOSED = [("0", "<&-"), ("1", ">&-"), ("2", "2>&-"), ("1 and 2", ">&- 2>&-"), ("all", "<&- >&- 2>&-")]


@pytest.mark.parametrize("closing", [how for _, how in CLOSED], ids=[name for name, _ in CLOSED])
@pytest.mark.parametrize("command", ["count . -o out", "edges a.png b.png -o out", "count --paths - --table t.csv"])
def test_closed_streams_cost_nothing(shapes, closing, command):
    for name in ("a.png", "b.png"):
        write_image(name, shapes)
    reads = "--paths -" in command
    given = f"printf 'a.png\\nb.png\\n' | {sys.executable} -m imtorque {command}" if reads else ""
    line = f"exec {sys.executable} -m imtorque {command} {closing}" if not reads else f"{given} {closing}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    if reads and "<&-" in closing:
        assert done.returncode == 1
        return
    assert done.returncode == 0, done.stderr
    assert len(rows_of("t.files.csv" if reads else "out/counts.csv")) == 2 if "edges" not in command else True
    assert reads or len(list(Path("out").glob("*.png.*.json"))) == 2


def test_a_list_of_paths_may_begin_with_a_byte_order_mark(shapes):
    for name in ("a.png", "b.png", "caf\xe9.png"):
        write_image(name, shapes)
    Path("list.txt").write_bytes(b"\xef\xbb\xbfa.png\r\nb.png\r\ncaf\xc3\xa9.png")
    run("count", "--paths", "list.txt")
    assert [row["image"] for row in rows_of("imtorque-out/counts.csv")] == ["a.png", "b.png", "caf\xe9.png"]
    given = Path("list.txt").read_bytes()
    assert CliRunner().invoke(app, ["count", "--paths", "-", "-o", "out"], input=given).exit_code == 0
    assert len(rows_of("out/counts.csv")) == 3


def test_a_list_of_paths_names_each_file_once(shapes):
    write_image("a.png", shapes)
    Path("link.png").symlink_to("a.png")
    Path("in").mkdir()
    Path("list.txt").write_text("in/../a.png\nlink.png\n./a.png\n")
    run("count", "a.png", "--paths", "list.txt")
    assert [row["image"] for row in rows_of("imtorque-out/counts.csv")] == ["a.png"]


def test_without_scikit_learn_it_is_said_what_to_install(shapes, monkeypatch):
    write_image("a.png", shapes)
    Path("a.csv").write_text("image,y,x\na.png,20,20\na.png,12,45\n")
    for name in ("sklearn", "sklearn.tree"):
        monkeypatch.setitem(sys.modules, name, None)
    told = run("train-detector", "a.png", "--annotations", "a.csv", "-o", "a.finder", status=1)
    assert told.stderr.splitlines()[-1] == "imtorque: learning needs scikit-learn: pip install 'imtorque[learn]'"


def test_without_a_home_it_is_said_what_to_set(monkeypatch):
    def none():
        raise RuntimeError("Could not determine home directory.")

    for name in ("IMTORQUE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", none)
    told = run("edges", "sample:shapes", "--detector", "sketch-tokens", status=1).output
    assert "IMTORQUE_CACHE must name a folder where there is no home" in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("report", [(), ("--json",)], ids=["lines", "json"])
def test_a_standard_stream_that_is_full_costs_no_image_and_no_table(shapes, stream, report):
    Path("0.png").write_text("no image")
    for name in ("a.png", "b.png"):
        write_image(name, shapes)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "imtorque", "count", ".", "-o", "out", "--jobs", "1", *report],
            **{**streams, stream: full},
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert [row["image"] for row in rows_of("out/counts.csv")] == ["a.png", "b.png"]
    if stream == "stdout":
        assert "Traceback" not in done.stderr
        assert done.stderr.endswith("imtorque: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_cannot_be_told_is_one_line():
    with open("/dev/full", "w") as full:
        for arguments in (["--help"], ["count", "--help"], ["data"], ["--version"]):
            command = [sys.executable, "-m", "imtorque", *arguments]
            done = subprocess.run(command, stdout=full, stderr=-1, text=True, check=False)
            assert (done.returncode, done.stderr) == (1, "imtorque: No space left on device\n"), arguments
