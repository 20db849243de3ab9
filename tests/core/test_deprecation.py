"""Names of version 0.2 go on working, with a warning; removed ones say what to use."""

import numpy as np
import pytest

import imtorque
from imtorque import tiling, video
from imtorque.core.deprecation import ATTRIBUTES, KEYWORDS


def test_an_old_keyword_warns_and_counts():
    with pytest.warns(DeprecationWarning, match=r"Linking\(reach=\) is now search_range"):
        linking = video.Linking(reach=2.0)
    assert linking == video.Linking(search_range=2.0)


def test_every_old_keyword_of_a_class_has_its_old_attribute_too():
    old = {
        f"{owner}.{name}": new
        for owner, table in KEYWORDS.items()
        if owner.isidentifier() and owner[0].isupper()
        for name, new in table.items()
    }
    assert old.items() <= ATTRIBUTES.items()


def test_an_old_attribute_warns_and_gives_the_new_one():
    edges = imtorque.Edges(np.eye(3), np.eye(3))
    with pytest.warns(DeprecationWarning, match=r"Edges\.survey is now statistics"):
        assert edges.survey == edges.statistics
    with pytest.raises(AttributeError, match="'Edges' object has no attribute 'nothing'"):
        edges.nothing  # noqa: B018


def test_an_old_attribute_of_a_base_class_works_on_those_derived_from_it():
    source = tiling.sources.as_source(np.zeros((3, 4)))
    with pytest.warns(DeprecationWarning, match=r"Source\.world is now affine"):
        assert source.world is None


def test_a_removed_name_says_what_to_use():
    import imtorque.scale as scale

    with pytest.raises(AttributeError, match=r"imtorque\.scale\.torque_volume was removed in version 0\.3: use"):
        scale.torque_volume  # noqa: B018
