"""One task over many images."""

import json
import os
import re
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from imtorque.cli.batch import parameters, process
from imtorque.files import write_image, write_text
from imtorque.jobs.subprocesses import in_subprocess


@dataclass(frozen=True)
class Copy:
    """Writes the number of bytes of a file, and notes that it was asked to."""

    verb: ClassVar[str] = "copy"
    notes: str
    factor: int = 1

    def inputs(self, source):
        return [source]

    def run(self, source, stem):
        with open(self.notes, "a") as notes:
            notes.write(f"{source.name}\n")
        if source.name.startswith("bad"):
            raise ValueError("must be good, got bad")
        size = source.stat().st_size * self.factor
        return [write_text(f"{stem}.txt", str(size))], {"bytes": size}


@pytest.fixture
def task(tmp_path):
    return Copy(str(tmp_path / "notes"))


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return [write_image(folder / f"p{k}.png", np.full((k + 1, 3), k, np.uint8)) for k in range(5)]


def asked(task):
    return sorted(Path(task.notes).read_text().split())


def statuses(task, sources, out, **options):
    return [outcome.status for outcome in process(task, sources, out, **options)]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_image_is_done_once_in_order(task, sources, tmp_path, jobs):
    outcomes = list(process(task, sources, tmp_path / "out", jobs=jobs))
    assert [outcome.input for outcome in outcomes] == [str(source) for source in sources]
    again = list(process(task, sources, tmp_path / "out", jobs=jobs))
    assert [outcome.status for outcome in again] == ["complete"] * 5
    assert [outcome.result for outcome in again] == [outcome.result for outcome in outcomes]
    assert asked(task) == [source.name for source in sources]
    assert [outcome.outputs for outcome in again] == [outcome.outputs for outcome in outcomes]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_bad_file_is_named_and_the_rest_is_done(task, sources, tmp_path, jobs):
    bad = tmp_path / "bad.png"
    bad.touch()
    outcomes = list(process(task, [sources[0], bad, Path("gone.png"), sources[1]], tmp_path / "out", jobs=jobs))
    assert [outcome.status for outcome in outcomes] == ["done", "failed", "failed", "done"]
    assert outcomes[1].error == f"{bad}: must be good, got bad"
    assert outcomes[2].error == "gone.png: no such file"


@pytest.mark.parametrize("change", ["content", "parameter", "output gone", "killed", "version"])
def test_what_changed_is_done_again_and_nothing_else(task, sources, tmp_path, change, monkeypatch):
    out = tmp_path / "out"
    statuses(task, sources[:2], out, jobs=1)
    if change == "content":
        write_image(sources[0], np.zeros((9, 9), np.uint8))
    elif change == "parameter":
        task = replace(task, factor=2)
    elif change == "output gone":
        (out / "p0.png.copy.txt").unlink()
    elif change == "killed":
        record = out / "p0.png.copy.json"
        record.write_text('{"verb": "copy", "outputs": [], "writing": ["p0.png.copy.txt"]}')
    else:
        monkeypatch.setattr("imtorque.cli.batch.__version__", "0.0.1")
    everything = change in ("parameter", "version")
    assert statuses(task, sources[:2], out, jobs=1) == ["done", "done" if everything else "complete"]
    assert statuses(task, sources[:2], out, jobs=1) == ["complete", "complete"]


def test_an_output_that_was_changed_by_hand_is_kept_unless_asked(task, sources, tmp_path):
    out = tmp_path / "out"
    statuses(task, sources[:2], out, jobs=1)
    mine = out / "p0.png.copy.txt"
    mine.write_text("corrected")
    failed, other = process(task, sources[:2], out, jobs=1)
    assert (failed.status, other.status, mine.read_text()) == ("failed", "complete", "corrected")
    assert failed.error.endswith("got another file; move it, give another --out, or --overwrite")
    assert statuses(task, sources[:2], out, jobs=1, overwrite=True) == ["done", "complete"]
    assert mine.read_text() != "corrected"


@pytest.mark.parametrize("name", ["p1.png.copy.txt", "p1.png.copy.json"])
def test_a_file_named_as_an_output_is_refused_before_any_work(task, sources, tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    with pytest.raises(FileExistsError, match=re.escape(f"{name}: must be as imtorque copy wrote it")):
        statuses(task, sources, out, jobs=1)
    assert not Path(task.notes).exists()
    assert [path.name for path in out.iterdir()] == [name]
    assert statuses(task, sources, out, jobs=1, overwrite=True) == ["done"] * 5


def test_a_file_beside_the_outputs_that_no_task_writes_is_left_alone(task, sources, tmp_path):
    out = tmp_path / "out"
    statuses(task, sources[:1], out, jobs=1)
    (out / "p0.png.copy.xlsx").write_text("mine")
    assert statuses(replace(task, factor=2), sources[:1], out, jobs=1) == ["done"]
    assert (out / "p0.png.copy.xlsx").read_text() == "mine"


def test_private_fields_are_no_parameters():
    @dataclass(frozen=True)
    class Learning:
        steps: int = 3
        _seen: list[int] = field(default_factory=list)

    @dataclass(frozen=True)
    class Holding(Copy):
        finder: Learning = field(default_factory=Learning)

    assert parameters(Holding("notes", finder=Learning(2, [7]))) == {
        "notes": "notes",
        "factor": 1,
        "finder": {"steps": 2},
    }


def test_a_record_says_how_its_outputs_came_about(task, sources, tmp_path):
    statuses(task, sources[:1], tmp_path / "out", jobs=1)
    record = json.loads((tmp_path / "out" / "p0.png.copy.json").read_text())
    assert record["parameters"] == {"notes": task.notes, "factor": 1}
    assert record["outputs"][0]["name"] == "p0.png.copy.txt"
    assert set(record) == {"input", "verb", "version", "parameters", "inputs", "outputs", "result"}


def test_what_a_dead_process_left_behind_is_removed(task, sources, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".p0.png.copy.txt.0123456789abcdef.part").touch()
    (out / ".mine.part").touch()
    statuses(task, sources[:1], out)
    assert sorted(path.name for path in out.glob(".*")) == [".mine.part"]


class Odd(Copy):
    """Meets some images with errors nobody thought of, and one with the end of its process."""

    def run(self, source, stem):
        if source.name == "p1.png":
            raise IndexError("list index out of range")
        if source.name == "p2.png":
            raise RecursionError
        if source.name == "p3.png" and in_subprocess():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(source, stem)


@pytest.mark.slow
def test_an_error_nobody_thought_of_or_a_killed_process_costs_one_image(task, sources, tmp_path):
    outcomes = list(process(Odd(task.notes), sources, tmp_path / "out", jobs=2))
    assert [outcome.status for outcome in outcomes] == ["done", "failed", "failed", "failed", "done"]
    assert outcomes[1].error == f"{sources[1]}: IndexError: list index out of range"
    assert outcomes[2].error == f"{sources[2]}: RecursionError"
    assert outcomes[3].error.startswith(f"{sources[3]}: a process was ended from outside, most likely for want of mem")


@pytest.mark.slow
def test_a_reader_that_stops_early_loses_nothing_that_was_begun(task, sources, tmp_path):
    outcomes = process(task, sources, tmp_path / "out", jobs=2)
    next(outcomes)
    outcomes.close()
    begun = asked(task)
    assert statuses(task, sources, tmp_path / "out", jobs=1).count("complete") == len(begun)
    assert asked(task) == [source.name for source in sources]
