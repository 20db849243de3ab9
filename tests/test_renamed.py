"""What 0.1's users typed goes on working, with a warning."""

import importlib
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import imtorque as it
from imtorque import _renamed

EDGES = it.detect_edges(np.pad(np.ones((9, 9)), 8))
EXTREMA = it.find_extrema(EDGES, sizes=[9, 11, 13])


@pytest.mark.parametrize("name", _renamed.MODULES)
def test_old_modules_are_found(name, monkeypatch):
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{name} is now called {_renamed.MODULES[name]}"):
        old = importlib.import_module(name)
    assert old is importlib.import_module(_renamed.MODULES[name])


def test_old_arguments_are_taken_with_a_warning():
    with pytest.warns(DeprecationWarning, match="the argument sign of contribution_map is now called votes") as warned:
        old = it.contribution_map(EDGES, EXTREMA, sign="absolute")
    assert warned[0].filename == __file__
    assert_array_equal(old, it.contribution_map(EDGES, EXTREMA, votes="absolute"))
    with pytest.warns(DeprecationWarning, match="share"):
        old = it.strengthen_edges([[0.5]], [[1.0]], method="blend", alpha=0.25)
    assert_array_equal(old, [[0.625]])
    with pytest.warns(DeprecationWarning, match="iou"):
        assert len(it.propose_objects(np.eye(20), 3, overlap=0.2)) > 0


def test_an_argument_is_not_given_by_both_names():
    with pytest.raises(TypeError, match="votes must be given once, got also its old name sign"):
        it.contribution_map(EDGES, EXTREMA, sign="absolute", votes="absolute")


def test_a_function_that_moved_is_found_where_it_was():
    with pytest.warns(DeprecationWarning, match="imtorque.resizing.shrink_image") as warned:
        old = it.files.shrink_image
    assert old is it.resizing.shrink_image
    assert warned[0].filename == __file__
