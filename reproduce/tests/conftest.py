"""Experiments are run at toy size in `make test-rest`: nothing of the library needs them."""

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark all tests of this folder as benchmarks, before tests are chosen by their marks."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("bench")
