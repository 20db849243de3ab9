"""Files are replaced only where a record says that they were written."""

import json

import pytest

from imtorque.files import write_text
from imtorque.io.ledger import Ledger

REFUSED = "must be as imtorque draw wrote it to be replaced, got another file"


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "a.draw.json", "draw")


def write(ledger, name, text):
    with ledger.writing():
        path = write_text(ledger.folder / name, text)
    return path


def test_what_it_wrote_may_be_replaced_and_what_was_changed_may_not(ledger):
    ledger.end([write(ledger, "a.txt", "1")])
    ledger.end([write(ledger, "a.txt", "2")])
    (ledger.folder / "a.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=REFUSED):
        write(ledger, "a.txt", "3")
    assert (ledger.folder / "a.txt").read_text() == "mine"


def test_what_a_killed_run_wrote_may_be_replaced(ledger):
    write(ledger, "a.txt", "1")
    write(ledger, "a.txt", "2")
    assert json.loads(ledger.record.read_text())["writing"] == ["a.txt"]


def test_an_output_of_the_run_before_is_removed_unless_it_was_changed(ledger):
    ledger.end([write(ledger, name, "1") for name in ("a.txt", "b.txt", "c.txt")])
    (ledger.folder / "c.txt").write_text("mine")
    ledger.end([write(ledger, "a.txt", "2")])
    assert sorted(path.name for path in ledger.folder.iterdir()) == ["a.draw.json", "a.txt", "c.txt"]


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"verb": "other", "outputs": []}', '{"verb": "draw"}', "[" * 5000]
)
def test_a_record_of_somebody_else_is_no_permission(ledger, content):
    ledger.record.write_text(content)
    with pytest.raises(FileExistsError, match=REFUSED):
        write(ledger, "a.txt", "1")


@pytest.mark.parametrize("outputs", [[1], [{}], [{"name": "a.txt"}], [{"name": "../x"}], [{"sha256": "0"}]])
def test_a_record_without_sense_is_no_permission(ledger, outputs):
    ledger.record.write_text(json.dumps({"verb": "draw", "outputs": outputs}))
    (ledger.folder / "a.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=REFUSED):
        write(ledger, "a.txt", "1")


def test_files_elsewhere_are_not_judged(ledger, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("1")
    with ledger.writing():
        write_text(tmp_path / "sub" / "a.txt", "2")
    assert not ledger.record.exists()


def test_two_runs_at_a_time_may_write_the_same_files(ledger):
    other = Ledger(ledger.record, "draw")
    write(ledger, "a.txt", "1")
    path = write(other, "a.txt", "1")
    ledger.end([path])
    write(other, "b.txt", "1")
    other.end([path, ledger.folder / "b.txt"])
    ledger.end([write(ledger, "a.txt", "2")])
