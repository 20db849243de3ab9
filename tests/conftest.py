"""Hypothesis profiles, tiers of tests by what they ask for, and a number of threads that tests may change."""

import os

import pytest
from hypothesis import HealthCheck, settings

import imtorque
from imtorque import _native

# Tests are small: without this no kernel would use more than one thread in them.
_native.use_all_threads(True)

# On a CI machine the same examples every time, so that a red run is about the change; elsewhere new ones.
settings.register_profile(
    "default",
    max_examples=30,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
# For make test, which has three minutes; make test-rest tries the properties again, on all examples.
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=5)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
# By an emulated processor, each example takes twenty times as long.
settings.register_profile("emulated", parent=settings.get_profile("default"), max_examples=8)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


ASKED_FOR = {"browser": "browser", "tab": "browser", "bare": "cluster", "client": "cluster"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests that ask for a browser or a cluster, before tests are chosen by their marks."""
    for item in items:
        for name in ASKED_FOR.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(ASKED_FOR[name])


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = imtorque.get_num_threads()
    yield
    imtorque.set_num_threads(before)
