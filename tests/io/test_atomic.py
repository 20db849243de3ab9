"""Files complete or not at all, whoever else writes and cleans up."""

import os
import subprocess
import sys
import threading

import pytest

from imtorque.io import atomic
from imtorque.io.atomic import open_regular, remove_leftovers, replacing, write_text


def test_what_is_being_written_is_no_leftover(tmp_path):
    with replacing(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        remove_leftovers(tmp_path)
        assert partial.exists()
    assert (tmp_path / "a.txt").read_text() == "half"


def test_what_a_writer_that_is_no_more_had_begun_is_removed(tmp_path):
    code = "import os, sys\nfrom imtorque.io.atomic import replacing\nwith replacing(sys.argv[1]): os._exit(9)"
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.txt"], check=False)
    (tmp_path / ".mine.part").touch()
    (tmp_path / ".a.txt.123.part").touch()
    assert len(list(tmp_path.iterdir())) == 3
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.txt.123.part", ".mine.part"]


def test_a_file_taken_for_a_leftover_before_it_was_locked_is_begun_again(tmp_path, monkeypatch):
    real, calls = os.stat, []

    def stat(path, **options):
        calls.append(path)
        if len(calls) == 1:
            os.unlink(path)
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert write_text(tmp_path / "a.txt", "whole").read_text() == "whole"
    assert len(calls) == 2


def test_an_interrupt_as_soon_as_a_file_is_made_leaves_none(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "_lock", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "whole")
    assert list(tmp_path.iterdir()) == []


def test_pipes_and_devices_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe where a file must be"):
        open_regular(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device where a file must be"):
        open_regular("/dev/zero")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_threads_may_write_one_file(tmp_path):
    target = tmp_path / "a.txt"
    texts = [str(k) * 200_000 for k in range(8)]
    errors = []

    def write(text):
        try:
            for _ in range(5):
                write_text(target, text)
        except Exception as error:
            errors.append(error)

    writing = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    assert errors == []
    assert target.read_text() in texts
    assert list(tmp_path.iterdir()) == [target]


def test_names_as_long_as_the_file_system_allows_are_written_and_longer_ones_named(tmp_path):
    assert write_text(tmp_path / ("x" * 255), "a").read_text() == "a"
    with pytest.raises(ValueError, match="a file's name must have at most 255 bytes, got 256"):
        write_text(tmp_path / ("x" * 256), "a")
