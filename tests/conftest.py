"""Hypothesis profiles, and a number of threads that tests may change."""

import os

import pytest
from hypothesis import HealthCheck, settings

import imtorque

settings.register_profile("default", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = imtorque.get_num_threads()
    yield
    imtorque.set_num_threads(before)
