"""Folders of predictions, several at a time."""

from pathlib import Path

import pytest

from imtorque.core import threads
from imtorque.evaluation.folders import for_each
from parallel_work import kernel_threads


@pytest.fixture
def _four_threads(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    before = threads.get_num_threads()
    threads.set_num_threads(4)
    yield
    threads.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("_four_threads")
def test_images_scored_at_a_time_share_the_threads():
    items = [(name, Path(name), None) for name in "abc"]
    ticks = []
    assert for_each(items, kernel_threads, 2, lambda: ticks.append(1)) == [2, 2, 2]
    assert len(ticks) == 3
