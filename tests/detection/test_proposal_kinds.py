"""The registry of proposal kinds: a further kind is one entry, and changes nothing of what saved finders compute."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import naive
from detection.test_finder import BOXES, IMAGES, KINDS, NEW
from imtorque.core.types import Edges
from imtorque.detection import PROPOSAL_KINDS, ObjectFinder, Outlines, Proposals
from imtorque.detection.feature_maps import COLOUR_PLANES, PLANES, ObjectSizes, feature_maps
from imtorque.detection.features import feature_names, measure_features
from imtorque.detection.proposal_kinds import ProposalKind, Variant, named_sources, propose, sources_of
from imtorque.detection.proposals import ANGLES
from imtorque.detection.ring_torque import plain_and_ring_torque, size_ladder

pytest.importorskip("sklearn")
SIZES = ObjectSizes(12, 18, 22)


@pytest.fixture(scope="module")
def finder():
    return ObjectFinder(KINDS).fit(IMAGES[:2], BOXES[:2])


def in_the_middle(maps, sides, source):
    """Propose one disc in the middle of the image."""
    middle = np.array([side / 2 for side in maps.shape])
    outline = Outlines.of_polar(middle[:1], middle[1:], np.full((1, ANGLES), sides[0] / 2))
    return Proposals.of(outline, sign=[float(source.sign)], strength=np.ones(1, np.float32))


@pytest.fixture
def further_kind(monkeypatch):
    """Register a kind whose name sorts before all others."""
    monkeypatch.setitem(PROPOSAL_KINDS, "a-middle", ProposalKind(90, {"a-disc": Variant(91, in_the_middle)}))


def test_codes_of_kinds_and_variants_stay_as_they_are():
    codes = {
        name: (kind.code, {v: how.code for v, how in kind.variants.items()}) for name, kind in PROPOSAL_KINDS.items()
    }
    expected = {
        "torque": (0, {"square": 10, "ring": 9, "disk": 2, "coarse": 0, "contours": 1}),
        "threshold": (1, {"extremal": 3, "split": 6}),
        "log": (2, {"log": 4}),
        "radial": (3, {"radial": 7}),
    }
    assert {name: codes[name] for name in expected} == expected
    assert len({code for _, variants in codes.values() for code in variants.values()}) == sum(
        len(variants) for _, variants in codes.values()
    )


def test_a_further_kind_changes_nothing_of_a_saved_finder(finder, tmp_path, monkeypatch):
    finder.save(tmp_path / "discs.finder")
    before = finder.predict(NEW)
    monkeypatch.setitem(PROPOSAL_KINDS, "a-middle", ProposalKind(90, {"a-disc": Variant(91, in_the_middle)}))
    after = ObjectFinder.load(tmp_path / "discs.finder").predict(NEW)
    assert_array_equal(after.outline, before.outline)
    assert_array_equal(after.score, before.score)


def test_a_further_variant_of_a_kind_changes_nothing_of_a_saved_finder(finder, tmp_path, monkeypatch):
    finder.save(tmp_path / "discs.finder")
    before = finder.predict(NEW)
    kind = PROPOSAL_KINDS["torque"]
    more = ProposalKind(kind.code, {"a-disc": Variant(91, in_the_middle), **kind.variants})
    monkeypatch.setitem(PROPOSAL_KINDS, "torque", more)
    assert_array_equal(ObjectFinder.load(tmp_path / "discs.finder").predict(NEW).score, before.score)


@pytest.mark.usefixtures("further_kind")
def test_a_further_kind_is_proposed_and_can_be_learned():
    finder = ObjectFinder([("a-middle", "threshold")]).fit(IMAGES[:2], BOXES[:2])
    assert {source.kind for source in finder._sources} == {"a-middle", "threshold"}
    maps = feature_maps(NEW, SIZES, coloured=False)
    assert len(propose(maps, SIZES, sources_of(["a-middle"], (1, -1)))) == 3  # grey for both signs, and pixel scores


@pytest.mark.parametrize("coloured", [False, True])
def test_every_feature_has_a_name_of_its_own(coloured):
    maps = feature_maps(np.stack([NEW, NEW, 0.5 * NEW], axis=-1) if coloured else NEW, SIZES, coloured)
    assert maps.names == (COLOUR_PLANES if coloured else PLANES)
    sources = sources_of(["torque"], (1, -1))
    table = measure_features(maps, SIZES, propose(maps, SIZES, sources), sources)
    assert len(set(table.names)) == len(table.names) == table.features.shape[1]


def rewritten(path, **changes):
    """Change what a saved finder says about itself."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays.pop("about"))) | changes
    with open(path, "wb") as out:
        np.savez_compressed(out, about=np.array(json.dumps(about)), **arrays)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 1}, r"one of version 0\.2: train it again"),
        (
            {"sources": ["torque/round/grey/+1"]},
            "proposals by torque/round/grey/\\+1, which this version does not have",
        ),
        ({"features": ["shape.size"]}, "train it again"),
    ],
)
def test_finders_that_this_version_would_read_otherwise_are_refused_by_name(finder, tmp_path, changes, message):
    finder.save(tmp_path / "discs.finder")
    with pytest.raises(ValueError, match=message):
        ObjectFinder.load(rewritten(tmp_path / "discs.finder", **changes))


def test_names_of_sources_lead_back_to_them():
    sources = sources_of(PROPOSAL_KINDS, (1, -1))
    assert named_sources([source.name for source in sources]) == sources


def test_features_without_torque_are_those_before_torque():
    whole, without = feature_names(PLANES, True), feature_names(PLANES, False)
    assert whole[: len(without)] == without
    assert all(name.startswith("torque.") for name in whole[len(without) :])


@pytest.mark.parametrize("patch", ["square", "disk"])
def test_ring_torque_is_the_torque_of_the_edges_in_the_ring_over_its_area(patch):
    rng = np.random.default_rng(0)
    fx, fy = rng.normal(size=(2, 41, 41)) * (rng.random((41, 41)) < 0.2)
    size, hole = 31, 19  # the nearest odd number to 0.6 of 31
    ring = plain_and_ring_torque(Edges(fx, fy), np.array([size]), 0.6, patch)[1][0, 20, 20]
    moment = naive.moment(fx, fy, 20, 20, size, patch) - naive.moment(fx, fy, 20, 20, hole, patch)
    assert_allclose(ring, moment / (2 * (naive.area(patch, size) - naive.area(patch, hole))), atol=1e-4)


def test_the_ladder_rises_in_equal_ratios_of_odd_sizes():
    ladder = size_ladder(10, 80, 6)
    assert np.all(ladder % 2 == 1)
    assert_allclose(np.diff(np.log(ladder)), np.log(8) / 6, atol=0.2)  # of odd numbers from 10 on
    assert len(size_ladder(10, 80, 6, beyond=1)) == len(ladder) + 2
