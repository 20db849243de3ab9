"""The objects experiment on tiny drawn data: its form and rows, the peers' boxes, the rules that are learned."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from figure_data import check_form, run, write_data
from imtorque_reproduce.figure_ground import weights as figure_weights
from imtorque_reproduce.objects import controls as object_peers
from imtorque_reproduce.objects import experiment as objects
from imtorque_reproduce.objects import rows as proposal_rows
from imtorque_reproduce.objects import weights as object_weights


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr("imtorque.datasets.pasted.PASTED_SIDE", 150)
    return write_data(tmp_path)


@pytest.mark.slow
def test_objects_sets_masks_and_boxes_beside_those_of_peers(data, monkeypatch):
    monkeypatch.setattr(objects, "MASK_COUNTS", (1, 3))
    run("reproduce", "objects", "--data", data, "--limit", 1, "--out", data / "out", "--jobs", 1)
    found, methods = check_form(data / "out", "objects", "best_3_caltech")
    assert {"objects", "objects-apart", "control:no-torque", "edge-boxes+grabcut"} <= set(methods)
    assert found["settings"]["images"] == {"caltech": 1, "horses": 1, "small": 1, "berkeley": 1}
    assert methods["objects"]["best_3_horses"] > 0.8
    assert methods["objects"]["best_1_small"] <= methods["objects"]["best_3_small"]
    assert "box_3_small" in methods["selective-search+grabcut"]


@pytest.mark.parametrize("peer", [object_peers.selective_search, object_peers.edge_boxes])
def test_boxes_of_peers_find_a_plain_object_and_overlap_little(peer):
    image = np.full((120, 160, 3), 40, np.uint8)
    image[30:80, 40:110] = (200, 60, 60)
    boxes = peer(image, 20)
    assert_array_equal(boxes, peer(image, 20))
    overlap = proposal_rows.overlaps(boxes, boxes)
    assert proposal_rows.overlaps(boxes, np.array([[30, 40, 80, 110]])).max() > 0.7
    assert np.triu(overlap, 1).max(initial=0) <= proposal_rows.OVERLAP


def test_the_rules_of_objects_are_learned_and_written(data, monkeypatch):
    for name, count in (("TRAINING_PER_CATEGORY", 1), ("TRAINING_SMALL", 1), ("DRAWN_SHAPES", 2)):
        monkeypatch.setattr(figure_weights, name, count)
    monkeypatch.setattr(object_weights, "EXAMPLE_STEP", 2)
    object_weights.main(data, data / "weights.json")
    stored = json.loads((data / "weights.json").read_text())["models"]
    for which, columns in (("first", 3), ("second", 4)):
        assert len(stored["torque"][which]["features"]["torque"]) == columns
        assert not {"torque", "click_offset"} & set(stored["no-torque"][which]["features"])
