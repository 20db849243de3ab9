"""What goes wrong on the way is logged under the package's name, not printed."""

from functools import partial

import pytest

import scale_work
from imtorque.jobs import run_tasks


@pytest.mark.slow
def test_a_crashed_process_is_logged_with_its_task(tmp_path, caplog, capfd):
    task = partial(scale_work.act, str(tmp_path))
    failures = run_tasks(task, [("fine", 1), ("poison", "die")], records=tmp_path / "records", jobs=2)
    assert [failure.key for failure in failures] == ["poison"]
    crash = ("imtorque.jobs.engine", "poison: its process crashed; it is tried again in one of its own")
    assert crash in [(record.name, record.getMessage()) for record in caplog.records]
    assert capfd.readouterr() == ("", "")
